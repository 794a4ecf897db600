"""Quaternions."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """Hamilton product ``a * b``. Shapes (..., 4)."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def rotate(q: FloatArray, v: FloatArray) -> FloatArray:
    """Vectors ``v`` turned by ``q``."""
    w, xyz = q[..., :1], q[..., 1:]
    t = 2.0 * np.cross(xyz, v)
    return v + w * t + np.cross(xyz, t)
