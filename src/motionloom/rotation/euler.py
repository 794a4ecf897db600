"""Euler angles in any order, both ways, for whole clips at once.

Orders are read as motion files mean them: ``"ZXY"`` is ``R = Rz Rx Ry``, intrinsic, the first
letter nearest to the parent. Any three letters in which neighbours differ are allowed; so are the
shorter orders ``"Y"`` and ``"ZX"`` that files with locked axes have.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.rotation.quat import wrap_angle

_AXES = {"X": 0, "Y": 1, "Z": 2}

_from_euler = kernel("ml_quaternion_from_euler")


def axes_of(order: str) -> tuple[int, ...]:
    """Axis numbers (0, 1, 2 for X, Y, Z) of an order such as ``"ZXY"``."""
    axes = tuple(_AXES.get(letter, -1) for letter in order.upper())
    neighbours_differ = all(a != b for a, b in pairwise(axes))
    if not 1 <= len(axes) <= 3 or -1 in axes or not neighbours_differ:
        raise ArrayError(
            f"`order` must be one to three of X, Y, Z with no letter twice in a row, got {order!r}."
        )
    return axes


def euler_to_quat(angles: FloatArray, order: str) -> FloatArray:
    """Unit quaternions of Euler angles.

    Parameters
    ----------
    angles : (..., len(order))
        Radians, in the order's own column order.
    order : str
        ``"ZXY"`` means ``Rz Rx Ry``.

    Returns
    -------
    (..., 4)
    """
    axes = np.array(axes_of(order), dtype=np.int64)
    angles = np.asarray(angles, dtype=np.float64)
    if angles.shape[-1:] != (len(axes),):
        raise ArrayError(f"`angles` must end in {len(axes)} columns ({order}), got {angles.shape}.")
    out = np.zeros((*angles.shape[:-1], 4))
    _from_euler(out.size // 4, len(axes), np.ascontiguousarray(angles), axes, out)
    return out


def quat_to_euler(q: FloatArray, order: str) -> FloatArray:
    """Euler angles (..., 3) in radians, of a three-letter order.

    The middle angle is in [-pi/2, pi/2] (or [0, pi] where the first and last axes are the same).
    In gimbal lock the third angle is set to zero, so that the rotation is still exact.
    """
    axes = axes_of(order)
    if len(axes) != 3:
        raise ArrayError(f"`order` must have three letters here, got {order!r}.")
    q = np.asarray(q, dtype=np.float64)
    # Bernardes & Viollet 2022, one formula for all twelve orders; it is written for fixed axes,
    # and turning about i, j, k in the moving frame is turning about k, j, i in the fixed one.
    k, j, i = axes
    proper = i == k
    if proper:
        k = 3 - i - j
    sign = float((i - j) * (j - k) * (k - i) / 2)  # Levi-Civita symbol of (i, j, k)
    w, vi, vj, vk = q[..., 0], q[..., 1 + i], q[..., 1 + j], sign * q[..., 1 + k]
    a, b, c, d = (w, vi, vj, vk) if proper else (w - vj, vi + vk, vj + w, vk - vi)
    middle = 2.0 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    low, high = np.abs(middle) < 1e-7, np.abs(middle - np.pi) < 1e-7
    first = np.where(low, 2.0 * half_sum, half_sum + half_difference)
    first = np.where(high, 2.0 * half_difference, first)
    third = np.where(low | high, 0.0, half_sum - half_difference)
    if not proper:
        first, middle = sign * first, middle - 0.5 * np.pi
    return np.stack([wrap_angle(first), middle, wrap_angle(third)], axis=-1)
