"""Positions of the joints that the independent check knows, of a motion."""

from __future__ import annotations

import motionloom as ml
from studies.trust.independent import Array, Body

ROLES = (
    "pelvis", "neck", "left_shoulder", "right_shoulder",
    "left_hip", "left_knee", "left_ankle", "left_toe",
    "right_hip", "right_knee", "right_ankle", "right_toe",
)  # fmt: skip


def points_of(motion: ml.Motion) -> dict[str, Array]:
    """Positions of every role that the skeleton has. (F, 3) each"""
    body = ml.BodyMap.guess(motion.skeleton, motion=motion)
    positions = motion.world_positions()
    joints = {role: getattr(body, role, None) for role in ROLES}
    return {role: positions[:, int(j)] for role, j in joints.items() if j is not None}


def body_of(motion: ml.Motion) -> Body:
    """A motion as the independent check sees it."""
    return Body(points_of(motion), motion.fps)
