"""Bounds by spread: blends that cannot be among the best, known without blending them.

How much the postures of a blend's windows differ is a sum over pairs of windows,
``spread^2 = mean_t sum_{a<b} W_a W_b |B_a - B_b|^2``. Each pair occurs in many blends, so a bound
of a blend's cost takes four additions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from motionloom._arrays import IntArray
from motionloom.transitions.columns import POSTURE_BEGIN
from motionloom.transitions.frames import FloatArray32

if TYPE_CHECKING:
    from motionloom.transitions.kernel import Judge

__all__ = ["SLACK_M2", "apart", "middle_spreads", "side_spreads", "spread_cost"]

SLACK_M2 = 1e-6
"""Ten times what single precision can make of a squared spread: a bound must not be too high."""


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract", "reassoc"})
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


@njit(cache=True, error_model="numpy", boundscheck=False, nogil=True)
def middle_spreads(posture: FloatArray32, judge: Judge, between: IntArray) -> FloatArray32:
    """Squared spread that two intermediaries of a four-way blend make, (K, K): first, second."""
    out = np.zeros((len(between), len(between)), dtype=np.float32)
    w = judge.weights[3]
    for i in range(len(between)):
        for j in range(len(between)):
            a, b = posture[between[i]], posture[between[j]]
            out[i, j] = apart(a, b, w[1], w[2], judge.pad, judge.length)
    return out


@njit(cache=True, error_model="numpy", boundscheck=False)
def side_spreads(
    posture: FloatArray32,
    judge: Judge,
    n: int,
    source: int,
    target: int,
    between: IntArray,
    out: FloatArray32,
) -> np.float32:
    """Squared spread of both ends of an ``n``-way blend.

    What every intermediary makes with them goes to ``out``: place between them, intermediary.
    """
    w, pad, length = judge.weights[n - 1], judge.pad, judge.length
    s, t = posture[source], posture[target]
    for place in range(1, n - 1):
        for i in range(len(between)):
            b = posture[between[i]]
            before = apart(s, b, w[0], w[place], pad, length)
            out[place - 1, i] = before + apart(b, t, w[place], w[n - 1], pad, length)
    return np.float32(apart(s, t, w[0], w[n - 1], pad, length))


@njit(cache=True, error_model="numpy", boundscheck=False)
def spread_cost(square: np.float32, linear: FloatArray32, log: FloatArray32) -> np.float32:
    """Cost that a blend of this squared spread has for it at least."""
    spread = np.sqrt(max(np.float32(0.0), square - np.float32(SLACK_M2)))
    return np.float32(linear[POSTURE_BEGIN] * spread + log[POSTURE_BEGIN] * np.log1p(spread))
