"""Spread: how far a collection's windows are from the nearest of some medoids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from motionloom._arrays import IntArray
from motionloom.errors import TableError
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.index.clusters import Method, find_clusters
from motionloom.tables.index.windows import (
    distances,
    stream_features,
    window_features,
    window_shape,
    windows_of,
)

__all__ = ["Choice", "measure_spread", "spread_by_count"]

Choice = Method | Literal["random"]
"""How medoids are chosen; ``"random"`` windows are what a clustering has to beat."""


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


def spread_by_count(
    frames: Frames,
    counts: Sequence[int],
    *,
    length: int,
    stride: int = 5,
    seed: int = 0,
    choice: Choice = "spectral",
) -> dict[int, FloatArray32]:
    """For each number of clusters, :func:`measure_spread` of the windows at ``stride``.

    Where the curve of their means stops falling fast is a fair number of clusters.
    """
    if choice not in (*get_args(Method), "random"):
        raise TableError(f"`choice` must be spectral, means or random, got {choice!r}.")
    rows = windows_of(frames, length, stride=stride, at_least=max(counts))
    spreads = {}
    for count in counts:
        if choice == "random":
            rng = np.random.Generator(np.random.PCG64([seed, count]))
            medoids = rng.choice(rows, count, replace=False)
        else:
            medoids = find_clusters(
                frames, length=length, clusters=count, rows=rows, seed=seed, method=choice
            ).medoids
        spreads[count] = measure_spread(frames, medoids, length=length, rows=rows)
    return spreads
