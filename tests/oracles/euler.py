"""Euler angles."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.rotation import quat
from motionloom.rotation.euler import axes_of
from tests.oracles.quat import multiply


def euler_to_quat(angles: FloatArray, order: str) -> FloatArray:
    """The plain form of :func:`euler_to_quat`."""
    q = np.broadcast_to(quat.IDENTITY, (*angles.shape[:-1], 4))
    for column, axis in enumerate(axes_of(order)):
        turn = quat.from_axis_angle(np.eye(3)[axis], angles[..., column])
        q = multiply(q, turn)
    return q
