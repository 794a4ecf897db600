"""Warped terms: blends whose windows are matched in time, scored and searched by the core."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import IntArray
from motionloom._core import Record, kernel, record
from motionloom.errors import ArrayError
from motionloom.tables.collection.clip_frames import FloatArray32
from motionloom.tables.paper.time_alignment import LONGEST
from motionloom.tables.score.columns import COLUMNS, N_PATHS, Ranking, terms_record
from motionloom.tables.score.recipe import FAMILIES, MOST_WAYS
from motionloom.tables.score.terms import N_ROWS, N_SEGMENTS, Terms

_score = kernel("ml_warp_score")
_times = kernel("ml_warp_times")
_search = kernel("ml_warp_search")

FAMILY_NUMBERS = {name: number for number, name in enumerate(("bernstein", "eased", "hat"))}
"""Numbers of the families of weights, as in core/src/tables/warped.c."""
assert set(FAMILY_NUMBERS) == set(FAMILIES)


class Found(NamedTuple):
    """The best blends of a pair of windows, best first."""

    costs: FloatArray32
    """Infinite where there are fewer blends than asked. (keep,)"""
    recipes: npt.NDArray[np.uint16]
    """Windows as places in the terms, then 0xffff. (keep, 4)"""
    families: npt.NDArray[np.uint8]
    """(keep,)"""


class WarpedTerms:
    """Windows whose blends follow a time alignment; each thread needs its own.

    Parameters
    ----------
    terms
        Of all windows.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._record = terms_record(terms)
        self._warp, self._scratch = _memory(terms)

    def score(self, ids: npt.ArrayLike, times: IntArray, family: str) -> FloatArray32:
        """What is measured of one blend, as :data:`~motionloom.tables.score.columns.COLUMNS`.

        Parameters
        ----------
        ids : (N,)
            Windows as places in the terms, source first.
        times : (L, N)
            Frame of every window at every frame of the blend.
        family
            Of the weights.
        """
        windows = np.asarray(ids, dtype=np.int32)
        if times.ndim != 2 or times.shape[1] != len(windows):
            raise ArrayError(f"`times` must be (frames, {len(windows)}), got {times.shape}.")
        padded = np.full(MOST_WAYS, -1, dtype=np.int32)
        padded[: len(windows)] = windows
        at = np.zeros((len(times), MOST_WAYS), dtype=np.int32)
        at[:, : len(windows)] = times
        out = np.zeros(len(COLUMNS), dtype=np.float32)
        _score(
            self._record, self._scratch, self._warp, FAMILY_NUMBERS[family], padded, len(at), at,
            out,
        )  # fmt: skip
        return out

    def times(self, matches: Record, ids: npt.ArrayLike) -> IntArray:
        """Frames of windows (N,) that go together, by the matches of neighbours. (L, N)."""
        windows = np.asarray(ids, dtype=np.int32)
        padded = np.full(MOST_WAYS, -1, dtype=np.int32)
        padded[: len(windows)] = windows
        count = np.zeros(1, dtype=np.int64)
        _times(self._record, matches, self._warp, padded, count)
        return np.asarray(self._warp.times[: int(count[0]), : len(windows)], dtype=np.int64)

    def search(
        self,
        matches: Record,
        pair: tuple[int, int],
        middles: npt.NDArray[np.uint16],
        ranking: Ranking,
        families: tuple[str, ...],
        *,
        keep: int = 1,
    ) -> Found:
        """The best blends from one window to another.

        Parameters
        ----------
        matches
            Record of :class:`WindowMatches` of the same windows.
        pair
            Source and target as places in the terms.
        middles : (M, 2)
            Intermediaries to try, 0xffff where there are fewer.
        ranking
            What is best; no weight may be negative.
        families
            Weights to try each blend with; of equals the first stays.
        keep
            How many to return.
        """
        best = Found(
            np.full(keep, np.inf, dtype=np.float32),
            np.full((keep, MOST_WAYS), 0xFFFF, dtype=np.uint16),
            np.zeros(keep, dtype=np.uint8),
        )
        numbers = np.array([FAMILY_NUMBERS[name] for name in families], dtype=np.int64)
        _search(
            self._record, self._scratch, self._warp, matches, ranking.linear, ranking.log,
            len(numbers), numbers, *pair, len(middles), middles, keep, *best,
        )  # fmt: skip
        return best


def _memory(terms: Terms) -> tuple[Record, Record]:
    """Memory for the warped terms of one blend, and to judge it in."""
    most, plants = LONGEST * terms.length, terms.arrays.spans.shape[2]
    padded = most + 2 * terms.pad

    def zeros(*shape: int) -> FloatArray32:
        return np.zeros(shape, dtype=np.float32)

    def whole(*shape: int) -> npt.NDArray[np.int32]:
        return np.zeros(shape, dtype=np.int32)

    warp = record(
        "ml_warp",
        most=most,
        n_padded=padded,
        n_plants=plants,
        rows=zeros(MOST_WAYS, N_ROWS, padded),
        posture=zeros(MOST_WAYS, padded, 3 * N_SEGMENTS),
        anchors=zeros(MOST_WAYS, 4, padded),
        spans=whole(MOST_WAYS, 2, plants, 2),
        ahead=zeros(MOST_WAYS, 2, plants, 2),
        counts=whole(MOST_WAYS, 2),
        reach=whole(MOST_WAYS, 2),
        weights=zeros(MOST_WAYS, MOST_WAYS, padded),
        times=whole(most, MOST_WAYS),
        other=whole(most, MOST_WAYS),
    )
    n = MOST_WAYS * plants
    scratch = record(
        "ml_scratch",
        n_padded=padded,
        n_plants=plants,
        length=most,
        rows=zeros(N_ROWS, padded),
        posture=zeros(padded, 3 * N_SEGMENTS),
        path=zeros(N_PATHS, padded),
        plants=zeros(n, 5),
        spans=whole(n, 3),
        order=whole(n),
        chosen=zeros(2, n, 4),
        labels=np.zeros((2, most), dtype=np.int16),
    )
    return warp, scratch
