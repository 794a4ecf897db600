"""Angles of hinges that turn one after the other, from the rotation they make together."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.rotation import quat

STEPS = 24
DAMPING = 1e-6
"""Keeps steps short where two axes point the same way."""
CLOSE = 1e-10


def twist_angles(quats: FloatArray, axis: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Angles (F,) about an axis, and the angle (F,) of the rest of each rotation (F, 4).

    The angle is the one whose rotation about the axis is nearest to the whole rotation.
    """
    along = quats[:, 1:] @ axis
    angles = 2.0 * np.arctan2(along, quats[:, 0])
    angles = np.arctan2(np.sin(angles), np.cos(angles))
    left = quat.angle_between(quat.from_axis_angle(axis, angles), quats)
    return angles, left


def chain_angles(quats: FloatArray, axes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Angles (F, K) about axes (K, 3) whose rotations, in order, come nearest to ``quats`` (F, 4).

    Returns
    -------
    angles : (F, K)
        Radians, not unwrapped.
    left : (F,)
        Angle between the rotation of the hinges and the wanted one.
    """
    if len(axes) == 1:
        angles, left = twist_angles(quats, axes[0])
        return angles[:, None], left
    best, least = np.zeros((len(quats), len(axes))), np.full(len(quats), np.inf)
    for start in _starts(quats, axes):
        angles, left = _solved(quats, axes, start)
        better = left < least - CLOSE
        best[better], least[better] = angles[better], left[better]
    return best, least


def _starts(quats: FloatArray, axes: FloatArray) -> list[FloatArray]:
    """At zero, and each hinge in turn taking what it can of the rotation."""
    greedy = np.zeros((len(quats), len(axes)))
    rest = quats
    for k, axis in enumerate(axes):
        greedy[:, k] = twist_angles(rest, axis)[0]
        rest = quat.multiply(quat.from_axis_angle(axis, -greedy[:, k]), rest)
    return [np.zeros_like(greedy), greedy]


def _solved(
    quats: FloatArray, axes: FloatArray, start: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gauss-Newton steps on the rotation that is left, from a start."""
    angles = np.array(start)
    for _ in range(STEPS):
        total = np.tile(quat.IDENTITY, (len(quats), 1))
        columns = []
        for k, axis in enumerate(axes):
            columns.append(quat.rotate(total, axis))  # how the whole turns as this hinge does
            total = quat.multiply(total, quat.from_axis_angle(axis, angles[:, k]))
        left = quat.log(quat.multiply(quats, quat.conjugate(total)))
        jacobian = np.stack(columns, axis=-1)  # (F, 3, K)
        square = np.einsum("fik,fil->fkl", jacobian, jacobian) + DAMPING * np.eye(len(axes))
        pull = np.einsum("fik,fi->fk", jacobian, left)
        step = np.linalg.solve(square, pull[..., None])[..., 0]
        size = np.abs(step).max(axis=1, keepdims=True)
        step *= np.minimum(1.0, 0.8 / np.maximum(size, 1e-12))
        angles += step
        if np.abs(step).max(initial=0.0) < CLOSE:
            break
    total = np.tile(quat.IDENTITY, (len(quats), 1))
    for k, axis in enumerate(axes):
        total = quat.multiply(total, quat.from_axis_angle(axis, angles[:, k]))
    return np.arctan2(np.sin(angles), np.cos(angles)), quat.angle_between(total, quats)


def unwrapped(angles: FloatArray, limits: tuple[float, float] | None) -> FloatArray:
    """Angles (F,) without jumps of a whole turn, in the turn where the limits are."""
    smooth = np.unwrap(angles)
    middle = 0.0 if limits is None else 0.5 * (limits[0] + limits[1])
    whole = np.round((np.median(smooth) - middle) / (2.0 * np.pi))
    return np.asarray(smooth - 2.0 * np.pi * whole)
