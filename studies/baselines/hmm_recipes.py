"""Likelihood of blends without making them: what a model sees of a window is linear in it.

A blend of positions is a weighted sum, and so is what a model sees of it: windows are seen once,
and the sums of what was seen are judged, some microseconds a recipe. Bones that a blend shortens
are not restored first, as they are where a recipe is made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.score.recipe import weights_of
from studies.baselines.hmm import HmmEnsemble, PartModel
from studies.baselines.hmm_kernel import scratch_of
from studies.measures.window_batch import WindowBatch

__all__ = ["HmmTerms", "hmm_terms", "score_recipes"]

BLOCK = 1024
"""Windows that are seen at a time."""

_judge = kernel("ml_hmm_judge")


@dataclass(frozen=True, slots=True, eq=False)
class HmmTerms:
    """Windows as one part's model sees them."""

    model: PartModel
    seen: FloatArray32
    """Weights before, at and after each frame that is looked at. (W, T', 3 K)"""
    length: int
    """Frames of a window."""
    stride: int


def hmm_terms(
    ensemble: HmmEnsemble, frames: Frames, rows: npt.ArrayLike, length: int, *, part: str = "body"
) -> HmmTerms:
    """Windows (W,) of a collection, named by their first rows, as a part's model sees them."""
    model = ensemble.part(part)
    first = np.atleast_1d(np.asarray(rows, dtype=np.int64))
    blocks = [
        (
            ensemble.signals(WindowBatch.of_rows(frames, first[k : k + BLOCK], length), model)
            @ model.taps
        ).astype(np.float32)
        for k in range(0, len(first), BLOCK)
    ]
    return HmmTerms(model, np.concatenate(blocks), length, ensemble.stride)


def score_recipes(terms: HmmTerms, ids: npt.ArrayLike, *, family: str = "bernstein") -> FloatArray:
    """Scores of blends as :meth:`HmmEnsemble.part_scores` gives them; high is natural. (n,).

    Parameters
    ----------
    terms
        The windows.
    ids : (n, N)
        Which windows each recipe blends, source first.
    family
        Of the weights.
    """
    asked = _checked(terms, ids)
    model, chain = terms.model, terms.model.chain
    weights = weights_of(family, asked.shape[1], terms.length)[:, :: terms.stride]
    n_windows, n_frames, width = terms.seen.shape
    n_states, n_dims = chain.means.shape
    likelihood = np.zeros(len(asked))
    _judge(
        n_windows,
        n_frames,
        n_dims,
        terms.seen,
        len(asked),
        asked.shape[1],
        asked,
        np.ascontiguousarray(weights, dtype=np.float64),
        model.offset,
        n_states,
        *chain,
        np.zeros((n_frames, width)),
        np.zeros((n_frames - 2, n_dims)),
        scratch_of(n_frames, n_dims, n_states),
        likelihood,
    )
    return np.asarray((likelihood - model.usual) / model.spread)


def _checked(terms: HmmTerms, ids: npt.ArrayLike) -> IntArray:
    asked = np.asarray(ids, dtype=np.int64)
    if asked.ndim != 2 or (asked.size and not 0 <= asked.min() <= asked.max() < len(terms.seen)):
        raise ArrayError(
            f"`ids` must be rows (n, N) of windows 0 to {len(terms.seen) - 1}, got shape "
            f"{asked.shape}."
        )
    return np.ascontiguousarray(asked)
