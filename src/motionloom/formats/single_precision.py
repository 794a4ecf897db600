"""Rotations in single precision that a reader may normalise without changing a bit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.rotation import quat

QUAT_STEPS = 2.0**24
"""Float32 holds every multiple of one part in so many up to 1."""


def single_quats(quats: FloatArray) -> npt.NDArray[np.float32]:
    """Float32 quaternions that normalising leaves as they are.

    Rounded to multiples of 2^-24, where lengths are off by up to 1e-7; normalising and rounding
    again settles in a few turns, so that a file read and written again is the same file. On
    float32's own finer grid near zero it would not: small parts would drift at every turn.
    """
    settled = np.round(quats * QUAT_STEPS)
    for _ in range(16):
        again = np.round(quat.normalize(settled) * QUAT_STEPS)
        if np.array_equal(again, settled):
            break
        settled = again
    return (settled / QUAT_STEPS).astype(np.float32)
