"""Bounds by spread: blends that cannot be among the best, known without blending them.

How much the postures of a blend's windows differ is a sum over pairs of windows,
``spread^2 = mean_t sum_{a<b} W_a W_b |B_a - B_b|^2``. Each pair occurs in many blends, so a bound
of a blend's cost takes four additions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import IntArray
from motionloom._core import Record, kernel, record
from motionloom.tables.collection.frames import FloatArray32

__all__ = ["Spreads", "no_spreads", "spreads_of", "spreads_record"]

_between = kernel("ml_spread_between")


class Spreads(NamedTuple):
    """Squared spreads, square metres, that two windows of a blend make in their places.

    Of S sources, T targets and K intermediaries; nothing where spread bounds no cost.
    """

    ends: FloatArray32
    """Source and target of three-way and of four-way blends. (2, S, T)"""
    sources: FloatArray32
    """Source and intermediary: of three ways, the first of four, the second of four. (3, S, K)"""
    targets: FloatArray32
    """Target and intermediary likewise. (3, T, K)"""
    middle: FloatArray32
    """First and second intermediary of four-way blends. (K, K)"""


def no_spreads() -> Spreads:
    """Where spread bounds no cost."""
    none = np.zeros((0, 0, 0), dtype=np.float32)
    return Spreads(none, none, none, none.reshape(0, 0))


def spreads_record(spreads: Spreads) -> Record:
    """Spreads as the core reads them."""
    n_sources, n_targets = spreads.ends.shape[1:]
    return record(
        "ml_spreads",
        n_sources=n_sources,
        n_targets=n_targets,
        n_between=len(spreads.middle),
        **spreads._asdict(),
    )


def spreads_of(judge: Record, sources: IntArray, targets: IntArray, between: IntArray) -> Spreads:
    """The spreads of all pairs of windows that blends are made of, each once for many blends."""
    w = judge.weights
    places = ((2, 1), (3, 1), (3, 2))
    return Spreads(
        np.stack([_spreads(judge, sources, targets, w[n, 0], w[n, n]) for n in (2, 3)]),
        np.stack([_spreads(judge, sources, between, w[n, 0], w[n, i]) for n, i in places]),
        np.stack([_spreads(judge, targets, between, w[n, n], w[n, i]) for n, i in places]),
        _spreads(judge, between, between, w[3, 1], w[3, 2]),
    )


def _spreads(
    judge: Record, some: IntArray, others: IntArray, u: FloatArray32, v: FloatArray32
) -> FloatArray32:
    out = np.zeros((len(some), len(others)), dtype=np.float32)
    _between(judge, len(some), some, len(others), others, u, v, out)
    return out
