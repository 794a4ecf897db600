"""Spread: how far a collection's windows are from the nearest of some medoids."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import IntArray
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.index.windows import (
    distances,
    stream_features,
    window_features,
    window_shape,
    windows_of,
)


def measure_spread(
    frames: Frames, medoids: IntArray, *, length: int, rows: IntArray | None = None
) -> FloatArray32:
    """Distance of every window from the nearest medoid, root mean square over joints, metres.

    Parameters
    ----------
    frames
        The collection.
    medoids
        First rows of the representative windows. (K,)
    length
        Frames in a window.
    rows
        First rows of the windows that are measured; all by default. (N,)
    """
    rows = windows_of(frames, length) if rows is None else rows
    shape = window_shape(frames, length)
    spokesmen = window_features(frames, np.asarray(medoids, dtype=np.int64), shape)
    apart = np.zeros(len(rows), dtype=np.float32)
    for part, features in stream_features(frames, rows, shape):
        apart[part] = distances(features, spokesmen).min(axis=1)
    return apart
