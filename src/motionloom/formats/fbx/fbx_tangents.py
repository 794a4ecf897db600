"""Slopes and weights of cubic keys: stated, or computed as the tangent modes of FBX say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, IntArray

AUTO, TCB, USER = 0x100, 0x200, 0x400
CLAMP, TIME_INDEPENDENT, PROGRESSIVE = 0x1000, 0x2000, 0x4000
WEIGHTED_RIGHT, WEIGHTED_NEXT_LEFT = 0x01000000, 0x02000000
WEIGHT_STEPS = 9999.0
"""Parts of a segment that a stored weight counts."""
THIRD = 1.0 / 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Tangents:
    """How every segment leaves its first key and reaches its second."""

    right: FloatArray
    """Slopes after the first key, per second. Shape (N - 1,)."""
    left: FloatArray
    """Slopes before the second key. Shape (N - 1,)."""
    right_weights: FloatArray
    """Share of the segment that the first tangent reaches over. Shape (N - 1,)."""
    left_weights: FloatArray


def tangents_of(
    times: FloatArray, values: FloatArray, flags: IntArray, slopes: FloatArray, packed: IntArray
) -> Tangents | None:
    """The tangents of a curve of N keys; None for a single key.

    Parameters
    ----------
    times, values : (N,)
        The keys.
    flags : (N,)
        Modes of the keys.
    slopes : (N, 4)
        Stated slope after a key and before the next, or tension, continuity and bias.
    packed : (N,)
        Weight after a key (low 16 bits) and before the next one (high 16 bits).
    """
    if len(times) < 2:
        return None
    tcb = (flags & TCB) > 0
    right = slopes[:-1, 0].copy()
    left = np.where(tcb[:-1], 0.0, slopes[:-1, 1])
    steps, rises = np.diff(times), np.diff(values)
    rates = rises / steps
    auto = ((flags & AUTO) > 0) & ((flags & USER) == 0)
    if auto.any():
        own = _auto_slopes(values, steps, rates, flags)
        right = np.where(auto[:-1], own[:-1], right)
        left = np.where(auto[1:], own[1:], left)
    if tcb.any():
        before, after = _tcb_slopes(rates, slopes)
        right = np.where(tcb[:-1], after[:-1], right)
        left = np.where(tcb[1:], before[1:], left)
    first, second = (packed[:-1] & 0xFFFF) / WEIGHT_STEPS, (packed[:-1] >> 16) / WEIGHT_STEPS
    weighted_right = (flags[:-1] & WEIGHTED_RIGHT) > 0
    weighted_left = (flags[:-1] & WEIGHTED_NEXT_LEFT) > 0
    return Tangents(
        right,
        left,
        np.where(weighted_right, np.clip(first, 0.0, 1.0), THIRD),
        np.where(weighted_left, np.clip(second, 0.0, 1.0), THIRD),
    )


def _auto_slopes(
    values: FloatArray, steps: FloatArray, rates: FloatArray, flags: IntArray
) -> FloatArray:
    """Slope at every key (N,): that between its neighbours, flatter where a clamp asks for it."""
    n = len(values)
    slope = np.zeros(n)
    across = (values[2:] - values[:-2]) / (steps[1:] + steps[:-1])
    independent = (flags[1:-1] & TIME_INDEPENDENT) > 0
    slope[1:-1] = np.where(independent, across, 0.5 * (rates[1:] + rates[:-1]))
    slope[0], slope[-1] = rates[0], rates[-1]
    progressive = (flags & PROGRESSIVE) > 0
    before, after = np.zeros(n), np.zeros(n)
    before[1:], after[:-1] = rates, rates
    sign = np.where(slope >= 0.0, 1.0, -1.0)
    highest = 3.0 * np.minimum(np.maximum(sign * before, 0.0), np.maximum(sign * after, 0.0))
    slope = np.where(progressive, sign * np.minimum(sign * slope, highest), slope)
    flat = np.zeros(n, dtype=bool)
    flat[1:] |= rates == 0.0
    flat[:-1] |= rates == 0.0
    return np.asarray(np.where(((flags & CLAMP) > 0) & flat, 0.0, slope))


def _tcb_slopes(rates: FloatArray, shapes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Slopes (N,) before and after keys with tension, continuity and bias."""
    tension, continuity, bias = (shapes[:, column] for column in range(3))
    n = len(tension)
    before, after = np.zeros(n), np.zeros(n)
    before[1:], after[:-1] = rates, rates
    share = np.full(n, 0.5)
    share[[0, -1]] = 1.0  # at the ends there is one side only
    plain = share * (1.0 - tension)
    arriving = (1.0 - continuity) * (1.0 + bias) * before
    arriving += (1.0 + continuity) * (1.0 - bias) * after
    leaving = (1.0 + continuity) * (1.0 + bias) * before
    leaving += (1.0 - continuity) * (1.0 - bias) * after
    return np.asarray(plain * arriving), np.asarray(plain * leaving)
