"""Warming: the kernels of room 3 compiled by another process while the demo does something else.

Both processes keep what they compile in the same place, so that what one has made the other loads.
The work is cut into jobs; whoever is free takes the next one, the demo from the other end.
"""

from __future__ import annotations

import atexit
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from motionloom.transitions.collecting.frames import Frames

__all__ = ["Warming", "compile_kernels"]

LENGTH = 60
CLUSTERS = 4
N_FRAMES = 150


class Warming:
    """A process that compiles what transitions need; none where that is done, or of no use."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if _is_needed():
            self._claims = tempfile.TemporaryDirectory(
                prefix="motionloom-", ignore_cleanup_errors=True
            )
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, self._claims.name],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            atexit.register(self._process.kill)

    def finish(self) -> None:
        """Do what is left, and wait for the rest: to compile it once more would take longer.

        If something fails, nothing is lost: what is not compiled is when it is called.
        """
        if self._process is None:
            return
        with suppress(Exception):  # told where it is called in earnest
            compile_kernels(Path(self._claims.name), reversed(JOBS))
        self._process.wait()
        atexit.unregister(self._process.kill)
        self._claims.cleanup()


def _is_needed() -> bool:
    """Whether there is a second processor, and the largest kernel was not kept since it changed."""
    from motionloom.transitions.engines.local import processors
    from motionloom.transitions.making import synthesis

    folder = synthesis._make.stats.cache_path
    if folder is None or processors() < 2:
        return False
    kept = Path(folder).glob("synthesis._make-*.nbi")
    changed = Path(synthesis.__file__).stat().st_mtime
    return not any(path.stat().st_mtime > changed for path in kept)


def compile_kernels(claims: Path, jobs: Iterable[Callable[[Frames], None]] | None = None) -> None:
    """Do every job that nobody has claimed, by a file in ``claims``, one after the other.

    Between them they call once what the demo's chapter on room 3 calls.
    """
    frames = _frames()
    for job in JOBS if jobs is None else jobs:
        try:
            (claims / job.__name__).open("x").close()
        except FileExistsError:
            continue
        job(frames)


def _frames() -> Frames:
    """Two clips of a body whose joints all swing: of no use but to be calculated with.

    Embedded clips would need kernels that the demo itself compiles at the same time.
    """
    from motionloom.motion.contacts import Footplants
    from motionloom.motion.motion import Motion
    from motionloom.synthetic.rig import skeleton
    from motionloom.transitions.collecting.frames import frames_of

    body, time = skeleton(), np.linspace(0.0, 10.0, N_FRAMES)
    half = 0.1 * np.sin(time[:, None] + np.arange(body.n_joints))
    quats = np.zeros((N_FRAMES, body.n_joints, 4))
    quats[..., 0], quats[..., 1] = np.cos(half), np.sin(half)
    path = np.stack([np.zeros(N_FRAMES), np.full(N_FRAMES, 0.9), 0.3 * time], axis=1)
    stands = np.sin(time[:, None] + np.array([0.0, 0.5, 3.0, 3.5])) > 0.0
    clips = [Motion(body, path * k, quats, 60.0, name=str(k)) for k in (1, 2)]
    return frames_of(clips, footplants=[Footplants(stands)] * 2)


def make(frames: Frames) -> None:
    """Frames of a recipe, feet and all."""
    from motionloom.transitions.making.recipe import Recipe
    from motionloom.transitions.making.synthesis import synthesize

    synthesize(frames, Recipe((0, N_FRAMES + 20), LENGTH))


def search(frames: Frames) -> None:
    """Clusters, and all recipes between them."""
    from motionloom.transitions.likeness.clusters import find_clusters
    from motionloom.transitions.scoring.natural import NATURAL
    from motionloom.transitions.scoring.terms import terms_of
    from motionloom.transitions.searching.search import SearchJob, search_chunk

    medoids = np.asarray(find_clusters(frames, length=LENGTH, clusters=CLUSTERS).medoids)
    places = np.arange(len(medoids))
    terms = terms_of(frames, medoids, LENGTH)
    search_chunk(SearchJob(terms, places, places, places, (2, 3, 4), 4, NATURAL), 0)


def choose(frames: Frames) -> None:
    """The best of a few recipes, and all of them judged."""
    from motionloom.transitions.scoring.natural import NATURAL
    from motionloom.transitions.tables.met_windows import MetWindows

    rows = np.array([0, 40])
    met = MetWindows(frames, rows, LENGTH, ranking=NATURAL, family="eased", most=8)
    recipes = np.full((2, 2, 2, 2), 255, dtype=np.uint8)
    none = np.zeros(0, dtype=np.int64)
    met.best(recipes, 10, np.array([N_FRAMES]), np.array([0, 1]), none, 1)
    met.judge([(10, N_FRAMES)])


def find(frames: Frames) -> None:
    """An index of windows, asked once."""
    from motionloom.transitions.likeness.captured import CapturedBetween
    from motionloom.transitions.likeness.neighbours import build_index

    index = build_index(frames, length=LENGTH)
    CapturedBetween(frames, index).nearest(10, N_FRAMES, count=2, apart=15)


JOBS = (search, choose, make, find)
"""The longest first, but what another one needs before it."""


if __name__ == "__main__":
    compile_kernels(Path(sys.argv[1]))
