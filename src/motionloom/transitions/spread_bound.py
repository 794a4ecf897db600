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

__all__ = ["middle_spreads", "spread_bounds"]

SLACK_M2 = 1e-6
"""Ten times what single precision can make of a squared spread: a bound must not be too high."""


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract", "reassoc"})
def _apart(
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
            out[i, j] = _apart(a, b, w[1], w[2], judge.pad, judge.length)
    return out


@njit(cache=True, error_model="numpy", boundscheck=False)
def spread_bounds(
    posture: FloatArray32,
    judge: Judge,
    source: int,
    target: int,
    between: IntArray,
    middle: FloatArray32,
    linear: FloatArray32,
    log: FloatArray32,
    out: FloatArray32,
) -> None:
    """Costs (K, K) that the four-way blends of a pair have for their spread alone."""
    w, pad, length = judge.weights[3], judge.pad, judge.length
    s, t = posture[source], posture[target]
    ends = _apart(s, t, w[0], w[3], pad, length)
    k = len(between)
    second = np.zeros(k, dtype=np.float32)
    for j in range(k):
        b = posture[between[j]]
        second[j] = _apart(s, b, w[0], w[2], pad, length) + _apart(b, t, w[2], w[3], pad, length)
    for i in range(k):
        b = posture[between[i]]
        first = _apart(s, b, w[0], w[1], pad, length) + _apart(b, t, w[1], w[3], pad, length)
        for j in range(k):
            square = ends + first + second[j] + middle[i, j] - np.float32(SLACK_M2)
            spread = np.sqrt(max(np.float32(0.0), square))
            out[i, j] = linear[POSTURE_BEGIN] * spread + log[POSTURE_BEGIN] * np.log1p(spread)
