"""Codes: contexts of rows in a byte a component, whatever rows come with them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom.transitions.collecting.frames import FloatArray32

__all__ = ["encoded"]

LARGEST = 127


def encoded(
    moments: FloatArray32, mean: FloatArray32, axes: FloatArray32, steps: FloatArray32
) -> npt.NDArray[np.int8]:
    """Codes of contexts, ``axes @ (context - mean) / steps`` to the nearest whole number.

    Summed in a fixed order: how a matrix product rounds depends on the number of rows, so that a
    row's code would not be the same alone and among others.

    Parameters
    ----------
    moments : (N, D)
        Contexts.
    mean : (D,)
        What is taken from them.
    axes : (C, D)
        Directions, one for each component.
    steps : (C,)
        What one step of a component's code stands for.

    Returns
    -------
    (N, C)
    """
    codes = np.zeros((len(moments), len(axes)), dtype=np.int8)
    _encode(
        np.ascontiguousarray(moments),
        np.asarray(mean),
        np.ascontiguousarray(axes.T),
        np.asarray(steps),
        codes,
    )
    return codes


@njit(cache=True, nogil=True)
def _encode(moments, mean, across, steps, codes):  # type: ignore[no-untyped-def]
    n_columns, n_codes = across.shape
    sums = np.zeros(n_codes, dtype=np.float32)
    for n in range(len(moments)):
        sums[:] = 0.0
        for d in range(n_columns):
            away = moments[n, d] - mean[d]
            for c in range(n_codes):
                sums[c] += away * across[d, c]
        for c in range(n_codes):
            codes[n, c] = np.int8(min(max(np.rint(sums[c] / steps[c]), -LARGEST), LARGEST))
