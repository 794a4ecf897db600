"""Bounds by spread: blends that cannot be among the best, known without blending them.

How much the postures of a blend's windows differ is a sum over pairs of windows,
``spread^2 = mean_t sum_{a<b} W_a W_b |B_a - B_b|^2``. Each pair occurs in many blends, so a bound
of a blend's cost takes four additions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from motionloom._arrays import IntArray
from motionloom.transitions.collecting.frames import FloatArray32
from motionloom.transitions.compiled import inner
from motionloom.transitions.scoring.columns import POSTURE_BEGIN

if TYPE_CHECKING:
    from motionloom.transitions.scoring.kernel import Judge

__all__ = ["SLACK_M2", "Spreads", "apart", "no_spreads", "spread_cost", "spreads_of"]

SLACK_M2 = 1e-6
"""Ten times what single precision can make of a squared spread: a bound must not be too high."""


@inner(error_model="numpy", boundscheck=False, fastmath={"contract", "reassoc"})
def apart(
    a: FloatArray32, b: FloatArray32, u: FloatArray32, v: FloatArray32, pad: int, length: int
) -> np.float32:
    """Mean over a blend's frames of ``u v |a - b|^2``, square metres."""
    total = np.float32(0.0)
    for t in range(pad, pad + length):
        now, other = a[t], b[t]
        square = np.float32(0.0)
        for g in range(len(now)):
            way = now[g] - other[g]
            square += way * way
        total += u[t] * v[t] * square
    return np.float32(total / np.float32(length))


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


def spreads_of(
    posture: FloatArray32, judge: Judge, sources: IntArray, targets: IntArray, between: IntArray
) -> Spreads:
    """The spreads of all pairs of windows that blends are made of, each once for many blends."""
    w = judge.weights
    places = ((2, 1), (3, 1), (3, 2))
    return Spreads(
        np.stack([_spreads(posture, judge, sources, targets, w[n, 0], w[n, n]) for n in (2, 3)]),
        np.stack([_spreads(posture, judge, sources, between, w[n, 0], w[n, i]) for n, i in places]),
        np.stack([_spreads(posture, judge, targets, between, w[n, n], w[n, i]) for n, i in places]),
        _spreads(posture, judge, between, between, w[3, 1], w[3, 2]),
    )


@njit(cache=True, error_model="numpy", boundscheck=False, nogil=True)
def _spreads(
    posture: FloatArray32,
    judge: Judge,
    some: IntArray,
    others: IntArray,
    u: FloatArray32,
    v: FloatArray32,
) -> FloatArray32:
    out = np.zeros((len(some), len(others)), dtype=np.float32)
    for i in range(len(some)):
        for j in range(len(others)):
            a, b = posture[some[i]], posture[others[j]]
            out[i, j] = apart(a, b, u, v, judge.pad, judge.length)
    return out


@inner(error_model="numpy", boundscheck=False)
def spread_cost(square: np.float32, linear: FloatArray32, log: FloatArray32) -> np.float32:
    """Cost that a blend of this squared spread has for it at least."""
    spread = np.sqrt(max(np.float32(0.0), square - np.float32(SLACK_M2)))
    return np.float32(linear[POSTURE_BEGIN] * spread + log[POSTURE_BEGIN] * np.log1p(spread))
