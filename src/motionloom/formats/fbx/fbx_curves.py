"""Animation curves of an FBX file: read many at once, with constant, linear and cubic segments.

Files have thousands of curves with a few keys each. So the keys of many curves stand one after the
other, and their tangents are computed together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import integer, kernel
from motionloom.errors import FormatError
from motionloom.formats.fbx.fbx_document import FbxDocument
from motionloom.formats.fbx.fbx_objects import TICKS
from motionloom.formats.fbx.fbx_parse import Element, StoredArray
from motionloom.formats.text import LARGEST

CONSTANT, CUBIC = integer("ML_KEY_CONSTANT"), integer("ML_KEY_CUBIC")
_NO_TANGENTS = np.zeros((0, 4))
_values = kernel("ml_keyed_values")
LATEST_S = 1e6
KEY_BYTES, TANGENT_BYTES, READING_BYTES = 24, 32, 120
"""Memory that a key takes, its tangents take, and that reading a curve takes for each key."""
KEYS_AT_ONCE, CURVES_AT_ONCE = 1 << 14, 1024
PARTS = ("KeyTime", "KeyValueFloat", "KeyAttrFlags", "KeyAttrRefCount", "KeyAttrDataFloat")
TIMES, VALUES, FLAGS, COUNTS, DATA = range(len(PARTS))
AUTO, TCB, USER = 0x100, 0x200, 0x400
CLAMP, TIME_INDEPENDENT, PROGRESSIVE = 0x1000, 0x2000, 0x4000
WEIGHTED_RIGHT, WEIGHTED_NEXT_LEFT = 0x01000000, 0x02000000
WEIGHT_STEPS = 9999.0
"""Parts of a segment that a stored weight counts."""
THIRD = 1.0 / 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The keys of one number in time."""

    times: FloatArray
    """Strictly increasing, seconds. Shape (N,)."""
    values: FloatArray
    """Shape (N,)."""
    flags: IntArray
    """How the segment after each key goes. Shape (N,)."""
    tangents: FloatArray | None
    """As :func:`~motionloom.formats.fbx.fbx_curves.tangents_of` gives them; None where no segment
    is cubic. Shape (N, 4)."""

    def sample(self, at: FloatArray) -> FloatArray:
        """Values at times ``at`` (F,), constant before the first key and after the last."""
        if len(at) == len(self.times) and np.array_equal(at, self.times):
            return self.values
        tangents = _NO_TANGENTS if self.tangents is None else self.tangents
        out = np.zeros(len(at))
        _values(
            len(self.times), self.times, self.values, self.flags, len(tangents), tangents,
            len(at), at, out,
        )  # fmt: skip
        return out


def read_curves(document: FbxDocument, elements: Sequence[Element]) -> list[Curve]:
    """The curves in some elements."""
    curves: list[Curve] = []
    waiting: list[Element] = []
    n_keys = 0
    for element in elements:
        n_own = _stated_keys(element)
        if waiting and (n_keys + n_own > KEYS_AT_ONCE or len(waiting) == CURVES_AT_ONCE):
            curves += _curves(_Batch(document, waiting))
            waiting, n_keys = [], 0
        waiting.append(element)
        n_keys += n_own
    return [*curves, *_curves(_Batch(document, waiting))] if waiting else curves


def _stated_keys(element: Element) -> int:
    times = element.child("KeyTime")
    value = times.values[0] if times is not None and times.values else None
    return value.count if isinstance(value, StoredArray) else 0


class _Batch:
    """Some curves of a document, whose arrays are read together."""

    def __init__(self, document: FbxDocument, elements: list[Element]) -> None:
        self.document = document
        self.elements = elements
        named = [{child.name: child for child in reversed(each.children)} for each in elements]
        self.parts = [[children.get(name) for children in named] for name in PARTS]

    def joined(self, part: int) -> tuple[FloatArray, IntArray]:
        """The numbers of one part of all curves (N,), and how many each curve has (C,)."""
        arrays = self.document.numbers_of(self.parts[part])
        return np.concatenate(arrays), np.array([len(each) for each in arrays], dtype=np.int64)

    def refuse(self, bad: BoolArray, problem: str) -> None:
        """Raise at the first curve that is ``bad`` (C,), if any is."""
        if bad.any():
            raise FormatError(problem, where=self.where(int(np.argmax(bad))))

    def where(self, curve: int = 0) -> str:
        """The place of a curve, for errors."""
        return self.document.place(self.elements[curve])


def _curves(batch: _Batch) -> Iterator[Curve]:
    keys, counts = _keys(batch)
    plain = np.add.reduceat((keys.flags & CONSTANT) == 0, np.cumsum(counts) - counts) > 0
    cubic = np.add.reduceat((keys.flags & CUBIC) > 0, np.cumsum(counts) - counts) > 0
    shaped = plain & cubic & (counts > 1)
    in_shaped = np.repeat(shaped, counts)
    n_bytes = KEY_BYTES * len(keys.times) + TANGENT_BYTES * int(counts[shaped].sum())
    batch.document.budget.take(n_bytes, "its keys", batch.where())
    tangents = tangents_of(keys.of(in_shaped)) if shaped.any() else None
    start = first = 0
    for n, has_tangents in zip(counts.tolist(), shaped.tolist(), strict=True):
        stop, own = start + n, None
        if has_tangents and tangents is not None:
            own, first = tangents[first : first + n], first + n
        yield Curve(keys.times[start:stop], keys.values[start:stop], keys.flags[start:stop], own)
        start = stop


def _keys(batch: _Batch) -> tuple[Keys, IntArray]:
    """The keys of all curves, and how many each has (C,)."""
    ticks, counts = batch.joined(TIMES)
    values, n_values = batch.joined(VALUES)
    uneven = (counts != n_values) | (counts == 0)
    first = int(np.argmax(uneven))
    batch.refuse(
        uneven,
        f"A curve needs keys, with a value for each time; got {counts[first]} times and "
        f"{n_values[first]} values.",
    )
    batch.document.budget.check(READING_BYTES * len(ticks), "its keys", batch.where())
    times, starts = ticks / TICKS, np.cumsum(counts) - counts
    finite = np.abs(values) < LARGEST  # not where one is not a number
    batch.refuse(
        ~np.logical_and.reduceat(finite, starts), "Key values must be finite numbers; some are not."
    )
    fresh, falls = np.ones(len(times), dtype=bool), np.zeros(len(times), dtype=bool)
    fresh[1:], falls[1:] = times[1:] > times[:-1], times[1:] < times[:-1]
    fresh[starts], falls[starts] = True, False
    good = (np.abs(times) < LATEST_S) & ~falls
    batch.refuse(
        ~np.logical_and.reduceat(good, starts),
        f"Key times must increase and lie within {LATEST_S:g} s; these do not.",
    )
    keys = Keys(times, values, *_attributes(batch, counts), _last_of(counts))
    if fresh.all():
        return keys, counts
    counts = np.add.reduceat(fresh, starts, dtype=np.int64)  # of keys at one time the first counts
    return dataclasses.replace(keys.of(fresh), is_last=_last_of(counts)), counts


def _last_of(counts: IntArray) -> BoolArray:
    """Which keys are the last of their curve, for curves with ``counts`` keys."""
    is_last = np.zeros(int(counts.sum()), dtype=bool)
    is_last[np.cumsum(counts) - 1] = True
    return is_last


def _attributes(batch: _Batch, n_keys: IntArray) -> tuple[IntArray, FloatArray, IntArray]:
    """Flags (N,), slopes (N, 4) and packed weights (N,) of every key.

    Keys in a row share their attributes: a count says how many.
    """
    flags, n_flags = batch.joined(FLAGS)
    counts, n_counts = batch.joined(COUNTS)
    bits, n_bits = _bits(batch, n_flags)
    has_flags = n_flags > 0
    uneven = has_flags & ((n_counts != n_flags) | (n_bits != 4 * n_flags))
    first = int(np.argmax(uneven))
    batch.refuse(
        uneven,
        f"{n_flags[first]} flags of keys need as many counts and four times as many numbers, got "
        f"{n_counts[first]} and {n_bits[first]}.",
    )
    rows = np.full(int(n_keys.sum()), len(flags))  # the row after the last is of zeros
    flags, counts = np.append(flags, 0.0), counts[np.repeat(has_flags, n_counts)]
    if len(counts):
        starts = (np.cumsum(n_flags) - n_flags)[has_flags]
        total = np.add.reduceat(counts, starts)
        bad = np.zeros(len(n_keys), dtype=bool)
        bad[has_flags] = ~(total <= n_keys[has_flags])
        bad[has_flags] |= ~np.logical_and.reduceat(counts >= 0.0, starts)
        bad[has_flags] |= ~np.logical_and.reduceat(np.abs(flags[:-1]) < 2.0**32, starts)
        batch.refuse(bad, "The attributes of keys must be for the keys there are.")
        repeats = counts.astype(np.int64)
        repeats[np.append(starts[1:], len(counts)) - 1] += n_keys[has_flags] - np.add.reduceat(
            repeats, starts
        )
        rows[np.repeat(has_flags, n_keys)] = np.repeat(np.arange(len(counts)), repeats)
    with np.errstate(invalid="ignore"):
        data = bits.view(np.float32).astype(np.float64)
        data = np.where(np.abs(data) < LARGEST, data, 0.0)  # bits of weights may be no number
    packed = bits[2::4].astype(np.int64)
    return flags.astype(np.int64)[rows], data.reshape(-1, 4)[rows], packed[rows]


def _bits(batch: _Batch, n_flags: IntArray) -> tuple[npt.NDArray[np.uint32], IntArray]:
    """Bits of four numbers for every flag and of a last row of zeros; how many each curve has."""
    arrays = []
    listed = batch.document.bits_of(batch.parts[DATA])
    for own, element, n in zip(listed, batch.parts[DATA], n_flags.tolist(), strict=True):
        arrays.append(np.zeros(4 * n, np.uint32) if element is None or not n else own)
    counts = np.array([len(each) for each in arrays], dtype=np.int64)
    return np.concatenate([*arrays, np.zeros(4, np.uint32)]), counts


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
    tangents reach over. The tangents of the last key of a curve have no meaning.
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
