"""Turn a folder of BVH clips into GLB files for an engine, 30 frames per second, in place.

    python examples/02_convert_a_folder.py [FOLDER OUTPUT]

On the command line the same is: motionloom convert FOLDER OUTPUT --to glb --fps 30 --root in-place
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import motionloom as ml


def without_travel(motion: ml.Motion) -> ml.Motion:
    """The motion with its root over the origin; heights stay."""
    root = motion.root_positions.copy()
    root[:, [0, 2]] = 0.0
    return motion.replace(root_positions=root)


def main(arguments: list[str]) -> None:
    if arguments:
        source, target = Path(arguments[0]), Path(arguments[1])
    else:
        source = Path(tempfile.mkdtemp(prefix="motionloom-example-"))
        target = source / "glb"
        for kind in ("walk", "run"):
            ml.save(ml.synthetic.clip(kind).motion, source / f"{kind}.bvh")

    target.mkdir(exist_ok=True)
    for path in sorted(source.glob("*.bvh")):
        try:
            clip = ml.load(path)
        except ml.FormatError as error:  # names the file, the place and the remedy
            print("skipped:", error)
            continue
        result = without_travel(ml.resample(clip, fps=30))
        ml.save(result, target / f"{path.stem}.glb")
        print(f"{path.name}: {clip.n_frames} frames at {clip.fps:g} -> {result.n_frames} at 30")


if __name__ == "__main__":
    main(sys.argv[1:])
