"""Nearest: which of some centres each point is nearest to, whatever points come with it."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom.tables.collection.frames import FloatArray32

__all__ = ["nearest"]

TILE = 1 << 20
"""Products held at a time."""
ROUNDING = 2.0 * float(np.finfo(np.float32).eps)
"""Largest error of a product of single precision, for each of its terms, with some to spare."""
FEW = 8
"""Roundings next to those of the sum: of differences, products and squares."""

_decide = kernel("ml_centre_decide")


def nearest(points: FloatArray32, centres: FloatArray32) -> tuple[IntArray, FloatArray]:
    """Number of the nearest centre of each point, and how far it is; equal ones: the first.

    A matrix product finds the centres that may be the nearest. How it rounds depends on the number
    of points, on the processor and on its threads, so that the product does not decide: centres
    which it cannot tell apart are compared in double precision, in a fixed order. A point therefore
    gets the same numbers alone and among others.

    Parameters
    ----------
    points : (N, D)
        Each is judged by itself.
    centres : (K, D)
        At least one.

    Returns
    -------
    number : (N,)
    distance : (N,)
    """
    # About their mean, products of single precision do not lose what is small.
    points = np.ascontiguousarray(points, dtype=np.float32)
    centres = np.ascontiguousarray(centres, dtype=np.float32)
    middle = centres.mean(axis=0, dtype=np.float64).astype(np.float32)
    around = centres - middle
    across = np.ascontiguousarray(around.T)
    sizes = np.square(around, dtype=np.float64).sum(axis=1)
    half = (0.5 * sizes).astype(np.float32)
    slack = (points.shape[1] + FEW) * ROUNDING
    number = np.zeros(len(points), dtype=np.int64)
    squared = np.zeros(len(points))
    step = max(1, TILE // len(centres))
    for first in range(0, len(points), step):
        part = slice(first, first + step)
        near = points[part] - middle
        product = near @ across
        product -= half
        widest = float(np.sqrt(sizes.max()))
        _decide(
            *near.shape,
            len(centres),
            points[part],
            near,
            centres,
            product,
            widest,
            slack,
            number[part],
            squared[part],
        )
    return number, np.sqrt(squared)
