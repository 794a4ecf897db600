"""Lookup: which cluster's medoid the window that starts at a row is nearest to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom._arrays import IntArray
from motionloom._records import record
from motionloom.errors import TableError
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.kmeans import nearest
from motionloom.tables.index.windows import (
    stream_features,
    window_features,
    window_shape,
    windows_of,
)

NOWHERE = 0xFFFF
"""Id of a row whose clip is shorter than a window."""

Ids = npt.NDArray[np.uint16]
Halves = npt.NDArray[np.float16]


@dataclass(frozen=True, slots=True, eq=False)
@record
class Lookup:
    """The nearest medoid of every row's window, of a coarse set and of a fine one: 8 bytes a row.

    A row near its clip's end starts no window and has the ids of the clip's last one. The window
    that *ends* at row ``t`` is looked up where it starts, at ``t - length + 1``. The nearest medoid
    is not always the one of the window's own cluster, and it is the better one to take: its recipes
    fit better.
    """

    coarse: Ids
    """Number of the nearest medoid of the coarse set, whose recipes the table holds. (R,)"""
    fine: Ids
    """The same in the fine set. (R,)"""
    coarse_distance: Halves
    """How far that medoid is, root mean square over joints, metres. (R,)"""
    fine_distance: Halves

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by name, for a file."""
        return {
            "coarse": self.coarse,
            "fine": self.fine,
            "coarse_distance": self.coarse_distance,
            "fine_distance": self.fine_distance,
        }


def find_lookup(
    frames: Frames,
    coarse: IntArray,
    fine: IntArray,
    *,
    length: int,
    before: tuple[Lookup, IntArray] | None = None,
) -> Lookup:
    """The nearest medoids of every row's window; time grows with the rows, memory hardly.

    Parameters
    ----------
    frames
        The collection.
    coarse, fine
        First rows of the two sets' medoids.
    length
        Frames in a window.
    before
        A lookup of the same medoids and, for every row, its row there or -1: only clips of rows
        that are not there are looked up.
    """
    for name, medoids in (("coarse", coarse), ("fine", fine)):
        if not 1 <= len(medoids) < NOWHERE:
            raise TableError(f"`{name}` must hold 1 to {NOWHERE - 1} medoids, got {len(medoids)}.")
    ids = np.full((2, frames.n_rows), NOWHERE, dtype=np.uint16)
    apart = np.full((2, frames.n_rows), np.inf, dtype=np.float16)
    rows, is_new = windows_of(frames, length), np.ones(frames.n_clips, dtype=bool)
    if before is not None:
        old, was = before
        is_old = was >= 0
        ids[:, is_old] = old.coarse[was[is_old]], old.fine[was[is_old]]
        apart[:, is_old] = old.coarse_distance[was[is_old]], old.fine_distance[was[is_old]]
        rows, is_new = rows[~is_old[rows]], ~is_old[frames.starts[:-1]]
    shape = window_shape(frames, length)
    representatives = [
        window_features(frames, np.asarray(medoids, dtype=np.int64), shape)
        for medoids in (coarse, fine)
    ]
    for part, features in stream_features(frames, rows, shape):
        for k, some in enumerate(representatives):
            ids[k, rows[part]], least = nearest(features, some)
            apart[k, rows[part]] = np.minimum(least, np.finfo(np.float16).max)
    for clip in np.flatnonzero(is_new):
        first, last = frames.starts[clip : clip + 2]
        if last - first >= length:
            tail = slice(last - length + 1, last)
            ids[:, tail] = ids[:, last - length, None]
            apart[:, tail] = apart[:, last - length, None]
    return Lookup(ids[0], ids[1], apart[0], apart[1])
