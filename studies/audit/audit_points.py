"""A motion as points for the audit: joints, end sites, roles, and marks on root bones."""

from __future__ import annotations

import numpy as np

import motionloom as ml
from motionloom.rotation import quat
from studies.audit.audit_signals import Array, Points


def points_of(motion: ml.Motion, contacts: ml.Footplants | None = None) -> Points:
    """The joints and end sites of a motion as points, with the joints' roles."""
    body = ml.BodyMap.guess(motion.skeleton, motion=motion)
    roles = {
        name: int(joint)
        for name in body.__dataclass_fields__
        if name != "spine" and (joint := getattr(body, name)) is not None
    }
    positions, world = motion.world_pose()
    ends = motion.end_positions()
    return Points(
        np.concatenate([positions, ends], axis=1),
        np.concatenate([motion.skeleton.parents, motion.skeleton.end_parents]),
        motion.skeleton.names,
        motion.fps,
        roles,
        None if contacts is None else np.asarray(contacts.planted),
        _marks(motion, world, roles["pelvis"]),
    )


def _marks(motion: ml.Motion, world: Array, pelvis: int) -> Array:
    """For each joint above the pelvis the one of its axes that lies flattest. (F, A, 3)"""
    marks = []
    joint = int(motion.skeleton.parents[pelvis])
    while joint >= 0:
        axes = [quat.rotate(world[:, joint], axis) for axis in np.eye(3)]
        marks.append(min(axes, key=lambda axis: float(np.abs(axis[:, 1]).mean())))
        joint = int(motion.skeleton.parents[joint])
    return np.stack(marks, axis=1) if marks else np.zeros((motion.n_frames, 0, 3))
