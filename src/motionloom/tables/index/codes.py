"""Codes: contexts of rows in a byte a component, whatever rows come with them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._core import kernel
from motionloom.tables.collection.frames import FloatArray32

__all__ = ["encoded"]

_encode = kernel("ml_code_encode")


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
        *moments.shape,
        len(axes),
        np.ascontiguousarray(moments, dtype=np.float32),
        np.ascontiguousarray(mean, dtype=np.float32),
        np.ascontiguousarray(axes.T, dtype=np.float32),
        np.ascontiguousarray(steps, dtype=np.float32),
        codes,
    )
    return codes
