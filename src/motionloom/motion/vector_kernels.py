"""Single vectors (3,) and quaternions (4,), wxyz, for kernels: results go to ``out``."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray

__all__ = ["arc", "cross", "dot", "times", "turn"]


@njit(cache=True, error_model="numpy")
def cross(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    """Cross product."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@njit(cache=True, error_model="numpy")
def dot(a: FloatArray, b: FloatArray) -> float:
    """Dot product."""
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


@njit(cache=True, error_model="numpy")
def turn(q: FloatArray, v: FloatArray, out: FloatArray) -> None:
    """Vector v turned by q."""
    tx = 2.0 * (q[2] * v[2] - q[3] * v[1])
    ty = 2.0 * (q[3] * v[0] - q[1] * v[2])
    tz = 2.0 * (q[1] * v[1] - q[2] * v[0])
    out[0] = v[0] + q[0] * tx + q[2] * tz - q[3] * ty
    out[1] = v[1] + q[0] * ty + q[3] * tx - q[1] * tz
    out[2] = v[2] + q[0] * tz + q[1] * ty - q[2] * tx


@njit(cache=True, error_model="numpy")
def times(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    """Product of two quaternions."""
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]


@njit(cache=True, error_model="numpy")
def arc(a: FloatArray, b: FloatArray, out: FloatArray) -> None:
    """Shortest rotation from direction a to direction b."""
    norm = np.sqrt(dot(a, a) * dot(b, b))
    if norm <= 1e-300:
        out[0], out[1], out[2], out[3] = 1.0, 0.0, 0.0, 0.0
        return
    cross(a, b, out[1:])
    out[0] = 1.0 + min(1.0, max(-1.0, dot(a, b) / norm))
    out[1], out[2], out[3] = out[1] / norm, out[2] / norm, out[3] / norm
    size = np.sqrt(out[0] ** 2 + out[1] ** 2 + out[2] ** 2 + out[3] ** 2)
    if size < 1e-7:  # opposite: half a turn about the axis least along a
        k = 0
        for c in range(1, 3):
            if abs(a[c]) < abs(a[k]):
                k = c
        unit = np.zeros(3)
        unit[k] = 1.0
        out[0] = 0.0
        cross(a, unit, out[1:])
        size = np.sqrt(out[1] ** 2 + out[2] ** 2 + out[3] ** 2)
    for c in range(4):
        out[c] /= size
