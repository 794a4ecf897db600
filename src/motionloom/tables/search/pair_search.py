"""All blends of one pair of windows, judged with shared sums."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import IntArray
from motionloom._core import Record, kernel, record
from motionloom.tables.collection.frames import FloatArray32
from motionloom.tables.score.blend_kernel import judge_of, scratch_of
from motionloom.tables.score.columns import Ranking
from motionloom.tables.score.terms import Terms
from motionloom.tables.search.spread_bound import Spreads, spreads_record

__all__ = ["Kept", "Middles", "PairSearch", "middles_of"]

RecipeArray = npt.NDArray[np.uint16]
Middles = tuple[RecipeArray, RecipeArray, RecipeArray]
"""Intermediaries to try in blends of two, three and four windows, ``NONE`` where there are fewer;
those with the same first one follow each other. (M, 2) each"""
NONE = 0xFFFF

_search = kernel("ml_pair_search")


class Kept(NamedTuple):
    """The best blends so far, best first."""

    costs: FloatArray32
    """Infinite where there is none yet. (keep,)"""
    recipes: RecipeArray
    """(keep, 4)"""


def middles_of(between: IntArray, ways: tuple[int, ...]) -> Middles:
    """All intermediaries, and all pairs of them, of the numbers of windows in ``ways``."""
    k = len(between)
    tried = [np.full((n, 2), NONE, dtype=np.uint16) for n in (1, k, k * k)]
    tried[1][:, 0] = between
    tried[2][:, 0], tried[2][:, 1] = np.repeat(between, k), np.tile(between, k)
    two, three, four = (each if n in ways else each[:0] for n, each in enumerate(tried, start=2))
    return two, three, four


def _sums_of(terms: Terms, between: IntArray, most: int) -> Record:
    """Memory for the sums that up to ``most`` blends of a pair share."""
    places = np.full(terms.n_windows, -1, dtype=np.int32)
    places[between] = np.arange(len(between))
    rows, posture = terms.arrays.rows.shape[1:], terms.arrays.posture.shape[1:]
    return record(
        "ml_pair_sums",
        n_windows=terms.n_windows,
        n_padded=rows[1],
        most=most,
        pair_rows=np.zeros(rows, dtype=np.float32),
        pair_posture=np.zeros(posture, dtype=np.float32),
        third_rows=np.zeros(rows, dtype=np.float32),
        third_posture=np.zeros(posture, dtype=np.float32),
        bounds=np.zeros(most, dtype=np.float32),
        least=np.zeros(most, dtype=np.float32),
        groups=np.zeros(most + 1, dtype=np.int32),
        order=np.zeros(most, dtype=np.int32),
        places=places,
    )


class PairSearch:
    """What searches of pairs share; each thread needs its own.

    Parameters
    ----------
    terms
        Of all windows.
    between : (K,)
        Intermediaries, as places in the terms.
    ranking
        What is best.
    spreads
        Of the sources, targets and intermediaries, where they bound the cost.
    most
        Blends of two, of three or of four windows that are tried of one pair, at most.
    """

    def __init__(
        self, terms: Terms, between: IntArray, ranking: Ranking, spreads: Spreads, most: int
    ) -> None:
        self._judge, self._scratch = judge_of(terms), scratch_of(terms)
        self._sums, self._spreads = _sums_of(terms, between, most), spreads_record(spreads)
        self._ranking = ranking.linear, ranking.log, ranking.prunes

    def search(
        self, pair: tuple[int, int], place: tuple[int, int], middles: Middles, kept: Kept
    ) -> None:
        """Judge every blend from ``pair[0]`` to ``pair[1]`` and keep the best in ``kept``.

        Those are windows; ``place`` says where they are among the sources and targets of the
        spreads. Where spread bounds the cost, likely blends come first.
        """
        two, three, four = middles
        _search(
            self._judge, self._scratch, self._sums, self._spreads, *self._ranking, *pair, *place,
            len(two), two, len(three), three, len(four), four, len(kept.costs), *kept,
        )  # fmt: skip
