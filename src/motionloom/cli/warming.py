"""Warming: the kernels of room 3 compiled by another process while the demo does something else.

Both processes keep what they compile in the same place, so that what one has made the other loads.
"""

from __future__ import annotations

import atexit
import subprocess
import sys
from pathlib import Path

__all__ = ["Warming", "compile_kernels"]

LENGTH = 60
CLUSTERS = 4


class Warming:
    """A process that compiles what transitions need; none where that is done, or of no use."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if _is_needed():
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            atexit.register(self._process.kill)

    def finish(self) -> None:
        """Wait until it is done: to compile the same once more would take longer.

        If it fails, nothing is lost: what it did not compile is compiled when it is called.
        """
        if self._process is not None:
            self._process.wait()
            atexit.unregister(self._process.kill)


def _is_needed() -> bool:
    """Whether there is a second processor, and the largest kernel was not kept since it changed."""
    from motionloom.transitions.engines.local import processors
    from motionloom.transitions.searching import pair_search

    folder = pair_search.search_into.stats.cache_path
    if folder is None or processors() < 2:
        return False
    kept = Path(folder).glob("pair_search.search_into-*.nbi")
    changed = Path(pair_search.__file__).stat().st_mtime
    return not any(path.stat().st_mtime > changed for path in kept)


def compile_kernels() -> None:
    """Call everything once that the demo's chapter on room 3 calls, on a small table in memory."""
    from motionloom import synthetic
    from motionloom.transitions.collecting.frames import frames_of
    from motionloom.transitions.collecting.labels import Label
    from motionloom.transitions.scoring.natural import NATURAL
    from motionloom.transitions.tables.memory_table import table_in_memory
    from motionloom.transitions.tables.runtime import transition
    from motionloom.transitions.tables.stream import stream

    clips = [synthetic.clip(kind).motion for kind in ("walk", "run")]
    frames = frames_of(clips)
    labels = [Label("run", "run", 0, clips[1].n_frames - 1)]
    table = table_in_memory(
        frames, length=LENGTH, clusters=CLUSTERS, ranking=NATURAL, labels=labels
    )
    made = transition(table, ("walk", 20), ("run", 100))
    assert made.score is not None  # which judges in full what was chosen
    transition(table, ("walk", 20), label="run")
    live = stream(table, ("walk", 0))
    live.step()
    live.go(label="run")
    live.step()


if __name__ == "__main__":
    compile_kernels()
