"""Sines, cosines and angles for files in degrees: compiled, quick, and as exact as float64 allows.

Reducing in degrees is exact, so that 90 and 180 give clean zeros and ones; the library's functions
want radians, which are rounded first, and cost two to three times as much.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.polynomial import Polynomial
from numpy.polynomial.chebyshev import Chebyshev

from motionloom._arrays import FloatArray

__all__ = ["angle_of", "half_cos_sin"]

_RADIANS = math.pi / 180.0
_LARGE = 1e9  # degrees, above which the reduction would no longer be exact

# Taylor series: on 45 degrees to either side the next terms are below 5e-17.
_S1, _S2, _S3, _S4, _S5, _S6, _S7 = ((-1) ** k / math.factorial(2 * k + 1) for k in range(1, 8))
_C1, _C2, _C3, _C4, _C5, _C6, _C7, _C8 = ((-1) ** k / math.factorial(2 * k) for k in range(1, 9))

_TAN_22 = math.sqrt(2.0) - 1.0


def _arctangent_series() -> tuple[float, ...]:
    """Coefficients in ``t**2`` of ``atan(t) / t`` up to ``t = tan(22.5 degrees)``, to 2e-15."""

    def quotient(square: FloatArray) -> FloatArray:
        t = np.sqrt(np.maximum(square, 1e-20))
        return np.asarray(np.arctan(t) / t)

    fit = Chebyshev.interpolate(quotient, 9, domain=[0.0, _TAN_22**2])
    return tuple(float(c) for c in fit.convert(kind=Polynomial).coef)


_A0, _A1, _A2, _A3, _A4, _A5, _A6, _A7, _A8, _A9 = _arctangent_series()


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract"})
def half_cos_sin(degrees: FloatArray, cos: FloatArray, sin: FloatArray) -> None:
    """Cosine and sine of half of every angle, into ``cos`` and ``sin``. Shapes (N,)."""
    # No branches and no calls, so that it compiles to vector instructions.
    for i in range(degrees.shape[0]):
        half = 0.5 * degrees[i]
        quarter = np.floor(half * (1.0 / 90.0) + 0.5)
        r = (half - 90.0 * quarter) * _RADIANS
        z = r * r
        zz = z * z  # both sums in pairs, so that their parts can be worked out side by side
        s = r + r * z * (
            (_S1 + z * _S2) + zz * ((_S3 + z * _S4) + zz * ((_S5 + z * _S6) + zz * _S7))
        )
        c = 1.0 + z * (
            (_C1 + z * _C2) + zz * ((_C3 + z * _C4) + zz * ((_C5 + z * _C6) + zz * (_C7 + z * _C8)))
        )
        pair = np.floor(0.5 * quarter)
        odd = quarter - 2.0 * pair
        even = 1.0 - odd
        sign = 1.0 - 2.0 * (pair - 2.0 * np.floor(0.5 * pair))
        cos[i] = sign * (even * c - odd * s)
        sin[i] = sign * (even * s + odd * c)
    for i in range(degrees.shape[0]):
        if abs(degrees[i]) > _LARGE:
            cos[i], sin[i] = (
                np.cos(0.5 * _RADIANS * degrees[i]),
                np.sin(0.5 * _RADIANS * degrees[i]),
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
