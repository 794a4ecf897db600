"""Nearest centres, and sums of groups."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.tables.collection.frames import FloatArray32


def nearest(
    points: FloatArray | FloatArray32, centres: FloatArray | FloatArray32
) -> tuple[IntArray, FloatArray]:
    """Number of the nearest centre of each point and the squared distance; equal ones: the first.

    The plain form of :func:`nearest`, and of a round of k-means from a guess that is not as near.
    """
    apart = points[:, None].astype(np.float64) - centres
    squared = np.square(apart).sum(axis=-1)
    return squared.argmin(axis=1), squared.min(axis=1)


def add_up(points: FloatArray | FloatArray32, labels: IntArray, sums: FloatArray) -> None:
    """The plain form of :func:`add_up`."""
    np.add.at(sums, labels, points)
