"""The kernel: what a blend of windows is worth, from sums of their terms."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from motionloom._core import Record, kernel, record
from motionloom.errors import ArrayError
from motionloom.features.support import ROLL_S
from motionloom.tables.collection.frames import FloatArray32
from motionloom.tables.score.columns import COLUMNS
from motionloom.tables.score.terms import MOST_WAYS, Terms
from motionloom.tables.score.window_terms import N_ROWS, N_SEGMENTS, IntArray32

__all__ = ["judge_of", "score_into", "score_recipes", "scratch_of"]

N_PATHS = 35
"""Series over the padded frames that judging a blend leaves behind."""

_score = kernel("ml_recipe_score")
_judges: WeakKeyDictionary[Terms, Record] = WeakKeyDictionary()


def judge_of(terms: Terms) -> Record:
    """Terms and all else that judging needs, as the core reads them; made once."""
    known = _judges.get(terms)
    if known is not None:
        return known
    arrays = terms.arrays
    made = record(
        "ml_terms",
        n_windows=terms.n_windows,
        n_padded=arrays.rows.shape[2],
        n_plants=arrays.spans.shape[2],
        n_taps=terms.taps.shape[1],
        length=terms.length,
        pad=terms.pad,
        roll=round(ROLL_S * terms.fps),
        fps=terms.fps,
        low=terms.low,
        **arrays._asdict(),
        taps=terms.taps,
        weights=terms.weights,
        sole=terms.sole,
        masses=terms.masses,
    )
    _judges[terms] = made
    return made


def scratch_of(terms: Terms) -> Record:
    """Memory for judging one blend at a time; each thread needs its own."""
    padded, plants = terms.arrays.rows.shape[2], terms.arrays.spans.shape[2]
    most = MOST_WAYS * plants
    return record(
        "ml_scratch",
        n_padded=padded,
        n_plants=plants,
        length=terms.length,
        rows=np.zeros((N_ROWS, padded), dtype=np.float32),
        posture=np.zeros((padded, 3 * N_SEGMENTS), dtype=np.float32),
        path=np.zeros((N_PATHS, padded), dtype=np.float32),
        plants=np.zeros((most, 5), dtype=np.float32),
        spans=np.zeros((most, 3), dtype=np.int32),
        order=np.zeros(most, dtype=np.int32),
        chosen=np.zeros((2, most, 4), dtype=np.float32),
        labels=np.zeros((2, terms.length), dtype=np.int16),
    )


def score_recipes(terms: Terms, ids: npt.ArrayLike) -> FloatArray32:
    """What is measured of blends of windows. Shape (n, C), columns as in :data:`COLUMNS`.

    Parameters
    ----------
    terms
        Of all windows that occur.
    ids : (n, N)
        Windows of each blend as places in ``terms``: source first, target last, then -1 where a
        blend has fewer than N ways. N is at most 4; one way is a captured window as it is.
    """
    given = np.asarray(ids, dtype=np.int32)
    if given.ndim != 2 or given.shape[1] > MOST_WAYS:
        raise ArrayError(
            f"`ids` must have one row of at most {MOST_WAYS} windows for each blend, got an array "
            f"of shape {given.shape}."
        )
    recipes = np.full((len(given), MOST_WAYS), -1, dtype=np.int32)
    recipes[:, : given.shape[1]] = given
    out = np.zeros((len(recipes), len(COLUMNS)), dtype=np.float32)
    score_into(judge_of(terms), scratch_of(terms), recipes, out)
    return out


def score_into(judge: Record, scratch: Record, recipes: IntArray32, out: FloatArray32) -> None:
    """Measure every recipe (n, 4) of a batch into a row of ``out`` (n, C)."""
    _score(judge, scratch, len(recipes), recipes, out)
