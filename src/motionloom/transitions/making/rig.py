"""Rig: what the compiled synthesis needs to know of a skeleton, in plain arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.motion.feet import SIDES
from motionloom.motion.kinematics import forward_kinematics
from motionloom.rotation import quat
from motionloom.transitions.collecting.frames import FloatArray32, Frames

__all__ = ["Rig", "Rows", "rig_of", "rows_of"]

SAMPLES = 400
"""Frames that tell which way knees bend."""


class Rows(NamedTuple):
    """The flat arrays of :class:`Frames`, as compiled functions take them."""

    heading: FloatArray
    ground: FloatArray
    quats: FloatArray32
    body: FloatArray32
    points: FloatArray32
    planted: BoolArray


class Rig(NamedTuple):
    """Joints, legs and feet of a collection's skeleton."""

    parents: IntArray
    """(J,)"""
    offsets: FloatArray
    """Each joint in its parent, metres. (J, 3)"""
    chain: IntArray
    """Joints from the root down to both ankles, parents first. (C,)"""
    legs: IntArray
    """Hip, knee and ankle of the left and the right leg. (2, 3)"""
    soles: FloatArray
    """Heel and ball of each foot in its ankle's frame, metres. (2, 2, 3)"""
    poles: FloatArray
    """Where each knee points, in its hip joint's frame, unit. (2, 3)"""


def rows_of(frames: Frames) -> Rows:
    """The arrays of frames, without their mapping to files: numba knows plain arrays only."""
    return Rows(*(np.asarray(getattr(frames, name)) for name in Rows._fields))


def rig_of(frames: Frames) -> Rig:
    """The rig of a collection, heels and the bend of knees read from its frames."""
    body, skeleton = frames.body_map, frames.skeleton
    roles = [f"{side}_{role}" for side in SIDES for role in ("hip", "knee", "ankle")]
    body.require(*roles, task="transitions")
    legs = np.array([getattr(body, role) for role in roles], dtype=np.int64).reshape(2, 3)
    chain = sorted({joint for leg in legs for joint in skeleton.chain(int(leg[2]))})
    at = np.unique(np.linspace(0, frames.n_rows - 1, SAMPLES).astype(np.int64))
    root = np.zeros((len(at), 3))
    root[:, 1] = frames.body[at, 0, 1]
    quats = quat.normalize(frames.quats[at].astype(np.float64))
    positions, world = forward_kinematics(skeleton, root, quats)
    soles, poles = np.zeros((2, 2, 3)), np.zeros((2, 3))
    for side, (hip, knee, ankle) in enumerate(legs):
        for point in range(2):
            way = frames.points[at, 2 * side + point] - positions[:, ankle]
            seen = quat.rotate(quat.conjugate(world[:, ankle]), way)
            soles[side, point] = np.median(seen, axis=0)
        poles[side] = _pole(positions[:, [hip, knee, ankle]], world[:, hip])
    return Rig(
        np.array(skeleton.parents),
        np.array(skeleton.offsets),
        np.array(chain, dtype=np.int64),
        legs,
        soles,
        poles,
    )


def _pole(leg: FloatArray, world_hip: FloatArray) -> FloatArray:
    """Mean way from the line hip to ankle out to the knee, seen from the hip joint. (3,)."""
    line = leg[:, 2] - leg[:, 0]
    line /= np.maximum(np.linalg.norm(line, axis=-1, keepdims=True), 1e-9)
    knee = leg[:, 1] - leg[:, 0]
    out = knee - np.sum(knee * line, axis=-1, keepdims=True) * line
    mean = quat.rotate(quat.conjugate(world_hip), out).sum(axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-9))
