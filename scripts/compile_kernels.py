"""Compile the kernels once, before several processes test them at the same time.

Uses every operation on embedded clips: what numba compiles for it is kept next to the sources.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import motionloom as ml


def main() -> None:
    """Make one of everything."""
    walk, jog, wave = (ml.synthetic.clip(name).motion for name in ("walk", "jog", "wave"))
    ml.transition(walk, jog)
    curve = ml.register([walk, jog])
    between = ml.blend(curve, [0.5, 0.5])
    ml.clean_footskate(between.motion, between.footplants)
    ml.control(curve).step([0.5, 0.5])
    ml.splice(upper=wave, lower=walk)
    ml.loop(walk)
    ml.retarget(walk, jog.skeleton)
    with tempfile.TemporaryDirectory() as folder:
        use_table(Path(folder), [walk, jog])


def use_table(folder: Path, clips: list[ml.Motion]) -> None:
    """Build a small table, and do with it what tables do."""
    (folder / "clips").mkdir()
    for number, clip in enumerate(clips):
        ml.save(clip, folder / "clips" / f"{number}.bvh")
    lib = ml.Collection.ingest(folder / "clips", fps=30)
    table = ml.build_table(lib, clusters=3, out=folder / "clips.mlt")
    first, last = lib.ids[0], lib.ids[-1]
    table.transition((first, 0), (last, table.length))
    stream = table.stream((first, 0))
    stream.go(frame=(last, table.length))
    stream.step()
    table.fill(ml.resample(clips[0], fps=lib.fps), 20, 40)


if __name__ == "__main__":
    main()
