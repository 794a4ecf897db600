"""Slopes and weights of cubic keys: stated, or computed as the tangent modes of FBX say.

Keys of many curves stand one after the other, and are computed together: files have thousands of
curves with a few keys each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray

AUTO, TCB, USER = 0x100, 0x200, 0x400
CLAMP, TIME_INDEPENDENT, PROGRESSIVE = 0x1000, 0x2000, 0x4000
WEIGHTED_RIGHT, WEIGHTED_NEXT_LEFT = 0x01000000, 0x02000000
WEIGHT_STEPS = 9999.0
"""Parts of a segment that a stored weight counts."""
THIRD = 1.0 / 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Keys of some curves."""

    times: FloatArray
    """Increasing within a curve, seconds. Shape (N,)."""
    values: FloatArray
    """Shape (N,)."""
    flags: IntArray
    """Modes of the keys. Shape (N,)."""
    slopes: FloatArray
    """Stated slope after a key and before the next, or tension, continuity and bias. Shape (N, 4).
    """
    packed: IntArray
    """Weight after a key (low 16 bits) and before the next one (high 16 bits). Shape (N,)."""
    is_last: BoolArray
    """Whether a key is the last of its curve. Shape (N,)."""

    def of(self, chosen: BoolArray) -> Keys:
        """Those that are ``chosen`` (N,)."""
        if chosen.all():
            return self
        return Keys(
            self.times[chosen],
            self.values[chosen],
            self.flags[chosen],
            self.slopes[chosen],
            self.packed[chosen],
            self.is_last[chosen],
        )


def tangents_of(keys: Keys) -> FloatArray:
    """How the segment after every key leaves it and reaches the next. Shape (N, 4).

    Slopes per second after the key and before the next, and the shares of the segment that the two
    tangents reach over. Nothing is meant by those of the last key of a curve.
    """
    flags, is_last = keys.flags, keys.is_last
    n = len(flags)
    rates = np.zeros(n)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rates[:-1] = np.diff(keys.values) / np.diff(keys.times)
    rates[is_last] = 0.0
    tcb = (flags & TCB) > 0
    tangents = np.zeros((n, 4))
    tangents[:, 0] = keys.slopes[:, 0]
    tangents[:, 1] = np.where(tcb, 0.0, keys.slopes[:, 1])
    auto = ((flags & AUTO) > 0) & ((flags & USER) == 0)
    if auto.any():
        own = _auto_slopes(keys, rates)
        _put(tangents, auto, own, own)
    if tcb.any():
        before, after = _tcb_slopes(keys, rates)
        _put(tangents, tcb, before, after)
    for column, (flag, share) in enumerate(
        ((WEIGHTED_RIGHT, keys.packed & 0xFFFF), (WEIGHTED_NEXT_LEFT, keys.packed >> 16)), 2
    ):
        weights = np.clip(share / WEIGHT_STEPS, 0.0, 1.0)
        tangents[:, column] = np.where((flags & flag) > 0, weights, THIRD)
    return tangents


def _put(tangents: FloatArray, where: BoolArray, before: FloatArray, after: FloatArray) -> None:
    """Slopes (N,) before and after some keys, put into the segments on their two sides."""
    tangents[where, 0] = after[where]
    tangents[:-1, 1] = np.where(where[1:], before[1:], tangents[:-1, 1])


def _sides(keys: Keys, rates: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Rate of the segment before every key, 0 for the first of a curve; and which are first."""
    before, is_first = np.zeros(len(rates)), np.ones(len(rates), dtype=bool)
    before[1:], is_first[1:] = rates[:-1], keys.is_last[:-1]
    return before, is_first


def _auto_slopes(keys: Keys, rates: FloatArray) -> FloatArray:
    """Slope at every key (N,): that between its neighbours, flatter where a clamp asks for it."""
    values, times, flags, is_last = keys.values, keys.times, keys.flags, keys.is_last
    before, is_first = _sides(keys, rates)
    slope = 0.5 * (rates + before)
    independent = (flags & TIME_INDEPENDENT) > 0
    if independent.any():
        steps = np.diff(times)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            across = (values[2:] - values[:-2]) / (steps[1:] + steps[:-1])
        slope[1:-1] = np.where(independent[1:-1], across, slope[1:-1])
    slope = np.where(is_first, rates, np.where(is_last, before, slope))
    progressive = (flags & PROGRESSIVE) > 0
    sign = np.where(slope >= 0.0, 1.0, -1.0)
    highest = 3.0 * np.minimum(np.maximum(sign * before, 0.0), np.maximum(sign * rates, 0.0))
    slope = np.where(progressive, sign * np.minimum(sign * slope, highest), slope)
    flat = ((rates == 0.0) & ~is_last) | ((before == 0.0) & ~is_first)
    return np.asarray(np.where(((flags & CLAMP) > 0) & flat, 0.0, slope))


def _tcb_slopes(keys: Keys, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Slopes (N,) before and after keys with tension, continuity and bias."""
    tension, continuity, bias = (keys.slopes[:, column] for column in range(3))
    before, is_first = _sides(keys, rates)
    share = np.where(is_first | keys.is_last, 1.0, 0.5)  # at the ends there is one side only
    plain = share * (1.0 - tension)
    arriving = (1.0 - continuity) * (1.0 + bias) * before
    arriving += (1.0 + continuity) * (1.0 - bias) * rates
    leaving = (1.0 + continuity) * (1.0 + bias) * before
    leaving += (1.0 - continuity) * (1.0 - bias) * rates
    return np.asarray(plain * arriving), np.asarray(plain * leaving)
