"""Sines, cosines and angles for files in degrees: compiled, quick, and as exact as float64 allows.

Reducing in degrees is exact, so that 90 and 180 give clean zeros and ones; the library's functions
want radians, which are rounded first, and cost two to four times as much.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.polynomial import Polynomial
from numpy.polynomial.chebyshev import Chebyshev

from motionloom._arrays import FloatArray

__all__ = ["angle_of", "half_cos_sin"]

_STEPS = 2048
"""Places on the circle that are looked up; what remains is below a tenth of a degree."""
_PER_DEGREE, _STEP = _STEPS / 720.0, 720.0 / _STEPS  # of a whole angle, whose half is looked up


def _circle() -> FloatArray:
    """Cosine and sine at every step, built from an eighth of the circle so that zeros are exact."""
    eighth = np.arange(_STEPS // 8 + 1) * (math.tau / _STEPS)
    cos, sin = np.cos(eighth), np.sin(eighth)
    quarter = np.stack(
        [np.concatenate([cos, sin[-2:0:-1]]), np.concatenate([sin, cos[-2:0:-1]])], axis=-1
    )
    turned = quarter[:, ::-1] * np.array([-1.0, 1.0])
    return np.concatenate([quarter, turned, -quarter, -turned])


_CIRCLE = _circle()
_0, _1 = np.uintp(0), np.uintp(1)

_TAN_22 = math.sqrt(2.0) - 1.0


def _arctangent_series() -> tuple[float, ...]:
    """Coefficients in ``t**2`` of ``atan(t) / t`` up to ``t = tan(22.5 degrees)``, to 2e-15."""

    def quotient(square: FloatArray) -> FloatArray:
        t = np.sqrt(np.maximum(square, 1e-20))
        return np.asarray(np.arctan(t) / t)

    fit = Chebyshev.interpolate(quotient, 9, domain=[0.0, _TAN_22**2])
    return tuple(float(c) for c in fit.convert(kind=Polynomial).coef)


_A0, _A1, _A2, _A3, _A4, _A5, _A6, _A7, _A8, _A9 = _arctangent_series()


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract"}, inline="always")
def half_cos_sin(degrees: float) -> tuple[float, float]:
    """Cosine and sine of half an angle of up to 1e12 degrees, to 3e-16."""
    step = np.floor(degrees * _PER_DEGREE + 0.5)
    rest = (degrees - step * _STEP) * (math.pi / 360.0)
    place = np.uintp(np.int64(step) & (_STEPS - 1))
    cos, sin = _CIRCLE[place, _0], _CIRCLE[place, _1]
    square = rest * rest
    small_sin = rest - rest * square * (1.0 / 6.0)
    cos_less_one = square * (square * (1.0 / 24.0) - 0.5)
    return cos + (cos * cos_less_one - sin * small_sin), sin + (
        sin * cos_less_one + cos * small_sin
    )


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract"}, inline="always")
def angle_of(y: float, x: float) -> float:
    """``atan2(y, x)`` in radians, to 3e-15."""
    across, along = abs(y), abs(x)
    longer, shorter = max(across, along), min(across, along)
    steep = shorter > _TAN_22 * longer
    below = shorter + longer if steep else longer
    t = (shorter - longer if steep else shorter) / (below if below > 0.0 else 1.0)
    z = t * t
    low = _A0 + z * (_A1 + z * (_A2 + z * (_A3 + z * _A4)))
    high = _A5 + z * (_A6 + z * (_A7 + z * (_A8 + z * _A9)))
    angle = t * (low + (z * z) * (z * z) * z * high)
    if steep:
        angle += 0.25 * math.pi
    if across > along:
        angle = 0.5 * math.pi - angle
    if x < 0.0:
        angle = math.pi - angle
    return -angle if y < 0.0 else angle
