"""A run-time file of a few short clips of a small body.

Run it with PYTHONPATH=. python core/tests/small_file.py PATH.

Small, so that opening and playing it takes little time even in a library with sanitizers; and the
same bytes on every machine, see ``tests/unit/core/test_digest.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.collection.labels import Label
from motionloom.tables.runtime_file import runtime_bytes
from studies.memory_table import MemoryTable, table_in_memory

JOINTS = (
    "Hips", "Spine", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg", "RightFoot",
)  # fmt: skip
CLIPS = {"walk": (0, 24), "run": (20, 44), "stand": (0, 16), "kick": (60, 66)}
"""Frames of each; the last clip is too short for a window."""
LENGTH = 8
LABELS = (Label("run", "running", 8, 20), Label("stand", "idle", 0, 15))


def small_table() -> MemoryTable:
    """The table of the file."""
    motions, plants = [], []
    for name, (first, end) in CLIPS.items():
        clip = ml.synthetic.clip(name)
        motions.append(_rounded(_without_arms(clip.motion[first:end])).replace(name=name))
        plants.append(ml.Footplants(clip.footplants.planted[first:end]))
    frames = frames_of(motions, footplants=plants)
    return table_in_memory(frames, length=LENGTH, clusters=3, keep=3, labels=LABELS)


def small_file() -> bytes:
    """Its bytes."""
    return runtime_bytes(small_table())


def _without_arms(motion: ml.Motion) -> ml.Motion:
    """The motion of some joints; those left out between them are stiff."""
    whole = motion.skeleton
    kept = [whole.names.index(name) for name in JOINTS]
    parents, offsets = [-1], [whole.offsets[0]]
    for joint in kept[1:]:
        above, offset = int(whole.parents[joint]), np.array(whole.offsets[joint])
        while above not in kept:
            offset, above = offset + whole.offsets[above], int(whole.parents[above])
        parents.append(kept.index(above))
        offsets.append(offset)
    ends = [k for k, joint in enumerate(whole.end_parents) if joint in kept]
    skeleton = ml.Skeleton(
        JOINTS,
        np.array(parents),
        np.array(offsets),
        end_parents=np.array([kept.index(whole.end_parents[k]) for k in ends], dtype=np.int64),
        end_offsets=np.array(whole.end_offsets[ends]).reshape(len(ends), 3),
    )
    return ml.Motion(skeleton, motion.root_positions, motion.local_quats[:, kept], motion.fps)


def _rounded(motion: ml.Motion) -> ml.Motion:
    """The motion in steps of 2^-16: sines that made it differ in their last bits by machine."""

    def steps(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.rint(values * 2.0**16) / 2.0**16

    quats = steps(motion.local_quats)
    skeleton = ml.Skeleton(
        motion.skeleton.names,
        motion.skeleton.parents,
        steps(motion.skeleton.offsets),
        end_parents=motion.skeleton.end_parents,
        end_offsets=steps(motion.skeleton.end_offsets),
    )
    unit = quats / np.linalg.norm(quats, axis=-1, keepdims=True)
    return ml.Motion(skeleton, steps(motion.root_positions), unit, motion.fps)


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(small_file())
