"""A stick person of known size, whose every number can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

# Name, parent, offset in metres: upright, arms held out to the sides, facing +Z, left is +X.
_JOINTS = (
    ("Hips", -1, (0.0, 0.0, 0.0)),
    ("Spine", 0, (0.0, 0.12, 0.0)),
    ("Chest", 1, (0.0, 0.20, 0.0)),
    ("Neck", 2, (0.0, 0.20, 0.0)),
    ("Head", 3, (0.0, 0.10, 0.0)),
    ("LeftArm", 2, (0.18, 0.15, 0.0)),
    ("LeftForeArm", 5, (0.28, 0.0, 0.0)),
    ("LeftHand", 6, (0.26, 0.0, 0.0)),
    ("RightArm", 2, (-0.18, 0.15, 0.0)),
    ("RightForeArm", 8, (-0.28, 0.0, 0.0)),
    ("RightHand", 9, (-0.26, 0.0, 0.0)),
    ("LeftUpLeg", 0, (0.09, -0.06, 0.0)),
    ("LeftLeg", 11, (0.0, -0.42, 0.0)),
    ("LeftFoot", 12, (0.0, -0.41, 0.0)),
    ("LeftToeBase", 13, (0.0, -0.035, 0.13)),
    ("RightUpLeg", 0, (-0.09, -0.06, 0.0)),
    ("RightLeg", 15, (0.0, -0.42, 0.0)),
    ("RightFoot", 16, (0.0, -0.41, 0.0)),
    ("RightToeBase", 17, (0.0, -0.035, 0.13)),
)
_ENDS = ((4, (0.0, 0.18, 0.0)), (7, (0.1, 0.0, 0.0)), (10, (-0.1, 0.0, 0.0)))
_FEET_ENDS = ((14, (0.0, 0.0, 0.06)), (18, (0.0, 0.0, 0.06)))

BALL_UNDER_HIPS_M = 0.06 + 0.42 + 0.41 + 0.035

PersonMaker = Callable[..., Motion]


def person_skeleton() -> Skeleton:
    ends = (*_ENDS, *_FEET_ENDS)
    return Skeleton(
        tuple(name for name, _, _ in _JOINTS),
        np.array([parent for _, parent, _ in _JOINTS]),
        np.array([offset for _, _, offset in _JOINTS]),
        end_parents=np.array([joint for joint, _ in ends]),
        end_offsets=np.array([offset for _, offset in ends]),
    )


@pytest.fixture
def person() -> PersonMaker:
    """Makes a person who stands with arms down and breathes; the root may be led anywhere."""

    def make(
        n_frames: int = 60, fps: float = 60.0, root: np.ndarray | None = None, arms: float = 1.2
    ) -> Motion:
        skeleton = person_skeleton()
        path = np.zeros((n_frames, 3)) if root is None else np.array(root, dtype=np.float64)
        if root is None:
            path[:, 1] = BALL_UNDER_HIPS_M + 0.03
        quats = np.tile(quat.IDENTITY, (len(path), skeleton.n_joints, 1))
        sway = 0.02 * np.sin(2 * np.pi * 0.4 * np.arange(len(path)) / fps)
        side = np.array([0.0, 0.0, 1.0])
        quats[:, skeleton.index("LeftArm")] = quat.from_axis_angle(side, sway - arms)
        quats[:, skeleton.index("RightArm")] = quat.from_axis_angle(side, arms - sway)
        quats[:, skeleton.index("Chest")] = quat.from_axis_angle(np.array([1.0, 0, 0]), sway)
        return Motion(skeleton, path, quats, fps, name="person")

    return make
