"""Are captured frames as they were captured? By what the result's provenance says of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom.rotation import quat
from studies.trust.independent import Array
from studies.trust.made import Made

ROOT_M, ROOT_RAD = 1e-6, 1e-6


class Copies(NamedTuple):
    """What became of the frames that a result says it took over unchanged."""

    frames: int
    unequal: int
    """Frames in which a local rotation below the root is not the clip's to the last bit."""
    root_m: float
    """Farthest that the root is from the clip's, moved by one rigid transform for each run."""
    root_rad: float

    @property
    def sound(self) -> bool:
        return not self.unequal and self.root_m < ROOT_M and self.root_rad < ROOT_RAD


def copies_of(made: Made) -> Copies | None:
    """None where the result does not say which frames are captured."""
    if made.provenance is None:
        return None
    frames = unequal = 0
    root_m = root_rad = 0.0
    for first, last, source, start in made.provenance.copies():
        clip = made.sources[made.indices[source]]
        ours = slice(first, last + 1)
        theirs = slice(start, start + last - first + 1)
        now, was = made.motion.local_quats[ours, 1:], clip.local_quats[theirs, 1:]
        same = (now == was).all(axis=2) | (now == -was).all(axis=2)  # q and -q are one rotation
        frames += last - first + 1
        unequal += int((~same.all(axis=1)).sum())
        moved, turned = _rigid(
            clip.root_positions[theirs], clip.local_quats[theirs, 0],
            made.motion.root_positions[ours], made.motion.local_quats[ours, 0],
        )  # fmt: skip
        root_m, root_rad = max(root_m, moved), max(root_rad, turned)
    return Copies(frames, unequal, root_m, root_rad)


def _rigid(place: Array, turn: Array, new_place: Array, new_turn: Array) -> tuple[float, float]:
    """How far the root is from the clip's after the turn and shift of the run's first frame."""
    spin = quat.multiply(new_turn[0], quat.conjugate(turn[0]))
    spin = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), quat.yaw(spin[None])[0])
    expected = quat.rotate(spin, place - place[0]) + new_place[0]
    far = float(np.linalg.norm(new_place - expected, axis=1).max())
    angles = quat.angle_between(quat.multiply(spin, turn), new_turn)
    return far, float(angles.max())
