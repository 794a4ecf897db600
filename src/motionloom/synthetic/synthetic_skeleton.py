"""The embedded clips' skeleton: 22 joints in published human proportions, T-pose at rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from motionloom._arrays import FloatArray, positive
from motionloom.body.anatomy import ball_height, foot_offsets
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError
from motionloom.motion.motion import Skeleton

HEIGHTS = (1.2, 2.2)
"""Statures that can be asked for, metres."""

REFERENCE_HEIGHT = 1.75
"""The stature that the gait table is written for, metres."""

_Row = tuple[str, str, tuple[float, float, float]]

# Each joint in its parent, as parts of stature. Segment lengths after Drillis & Contini 1966 (in
# Winter 2009), with joint centres in place of the outer landmarks where those lie outside.
_BODY: tuple[_Row, ...] = (
    ("Hips", "", (0.0, 0.0, 0.0)),
    ("Spine", "Hips", (0.0, 0.042, -0.006)),
    ("Spine1", "Spine", (0.0, 0.066, -0.002)),
    ("Spine2", "Spine1", (0.0, 0.068, -0.004)),
    ("Neck", "Spine2", (0.0, 0.112, -0.002)),
    ("Head", "Neck", (0.0, 0.050, 0.012)),
)
_ARM: tuple[_Row, ...] = (
    ("Shoulder", "Spine2", (0.018, 0.090, 0.004)),
    ("Arm", "Shoulder", (0.088, 0.004, -0.008)),
    ("ForeArm", "Arm", (0.165, 0.0, 0.0)),
    ("Hand", "ForeArm", (0.146, 0.0, 0.0)),
)
_LEG: tuple[_Row, ...] = (
    ("UpLeg", "Hips", (0.050, -0.015, 0.0)),
    ("Leg", "UpLeg", (0.0, -0.245, 0.0)),
    ("Foot", "Leg", (0.0, -0.246, 0.0)),
)
_BALL_FORWARD = 0.072
_TIP = (-0.010, 0.040)
_HEAD_TOP = (0.117, 0.004)
_HAND_LENGTH = 0.100
_BALL_UNDER_ANKLE = 0.019


@dataclass(frozen=True, slots=True, eq=False)
class Rig:
    """The skeleton with what the solvers read from it."""

    skeleton: Skeleton
    height: float
    """Stature, metres."""
    thigh: float
    shank: float
    heel: FloatArray
    """Heel point in the ankle's frame, metres. Shape (3,)."""
    ball: FloatArray
    """Ball of the foot (the toe joint) in the ankle's frame, metres. Shape (3,)."""
    ball_height: float
    """Heel point and ball over the ground while the foot stands flat, metres."""

    def at(self, name: str) -> int:
        """Index of a joint."""
        return self.skeleton.index(name)


@lru_cache(maxsize=16)
def rig(height: float = REFERENCE_HEIGHT) -> Rig:
    """The skeleton of a person ``height`` metres tall, with its foot points."""
    if not HEIGHTS[0] <= height <= HEIGHTS[1]:
        raise ArrayError(
            f"`height` must be {HEIGHTS[0]:g} to {HEIGHTS[1]:g} metres, got {height:g}."
        )
    built = _build(height)
    body = BodyMap.guess(built)
    # Both feet are alike in their ankles' frames, because the skeleton is symmetrical.
    foot = foot_offsets(built, body)[0]
    return Rig(
        built,
        height,
        thigh=float(np.linalg.norm(built.offsets[built.index("LeftLeg")])),
        shank=float(np.linalg.norm(built.offsets[built.index("LeftFoot")])),
        heel=foot.heel,
        ball=foot.ball,
        ball_height=ball_height(built, body),
    )


def skeleton(height: float = REFERENCE_HEIGHT) -> Skeleton:
    """The skeleton that every embedded clip of a person of this stature moves.

    Examples
    --------
    >>> skeleton().n_joints
    22
    """
    return rig(positive(height, "height")).skeleton


def _build(height: float) -> Skeleton:
    rows = list(_BODY)
    ends: list[tuple[str, tuple[float, float, float]]] = [("Head", (0.0, *_HEAD_TOP))]
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        toe = ("ToeBase", "Foot", (0.0, -_BALL_UNDER_ANKLE, _BALL_FORWARD))
        for name, parent, (x, y, z) in (*_ARM, *_LEG, toe):
            shared = parent in ("Spine2", "Hips")
            rows.append((side + name, parent if shared else side + parent, (sign * x, y, z)))
        ends.append((f"{side}Hand", (sign * _HAND_LENGTH, 0.0, 0.0)))
        ends.append((f"{side}ToeBase", (0.0, *_TIP)))
    rows = _depth_first(rows, "")
    names = [row[0] for row in rows]
    ends.sort(key=lambda end: names.index(end[0]))
    return Skeleton(
        tuple(names),
        np.array([names.index(row[1]) if row[1] else -1 for row in rows]),
        height * np.array([row[2] for row in rows]),
        end_parents=np.array([names.index(name) for name, _ in ends]),
        end_offsets=height * np.array([offset for _, offset in ends]),
    )


def _depth_first(rows: list[_Row], parent: str) -> list[_Row]:
    """Joints branch by branch, as files list them: writing and reading then keep their order."""
    ordered = []
    for row in rows:
        if row[1] == parent:
            ordered += [row, *_depth_first(rows, row[0])]
    return ordered
