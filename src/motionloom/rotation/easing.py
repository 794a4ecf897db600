"""Easing: the smooth steps with which weights, offsets and angles set in and run out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray


def smoothstep(u: FloatArray) -> FloatArray:
    """3u² - 2u³: from 0 to 1 over ``u`` in [0, 1], flat at both ends. The caller clips ``u``.

    Examples
    --------
    >>> smoothstep(np.array([0.0, 0.5, 1.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.asarray(u * u * (3.0 - 2.0 * u))


def smootherstep(u: FloatArray) -> FloatArray:
    """From 0 to 1 with no velocity and no acceleration at either end; constant outside [0, 1]."""
    u = np.clip(u, 0.0, 1.0)
    return np.asarray(u**3 * (10.0 + u * (6.0 * u - 15.0)))


def ease(t: npt.ArrayLike, *, nested: bool = False) -> FloatArray:
    """2t³ - 3t² + 1: from 1 at ``t <= 0`` down to 0 at ``t >= 1``, flat at both ends.

    ``nested`` multiplies in the order of the C core (Horner). Both orders differ in the last bit,
    and results must not depend on which module works them out.
    """
    t = np.clip(np.asarray(t, dtype=np.float64), 0.0, 1.0)
    return np.asarray((2.0 * t - 3.0) * t * t + 1.0 if nested else 2.0 * t**3 - 3.0 * t**2 + 1.0)
