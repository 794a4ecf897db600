"""Curves out of an FBX file, many at once: files have thousands of them with a few keys each."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.errors import FormatError
from motionloom.formats.fbx.fbx_curve import CONSTANT, CUBIC, Curve
from motionloom.formats.fbx.fbx_document import FbxDocument
from motionloom.formats.fbx.fbx_element import Element, StoredArray
from motionloom.formats.fbx.fbx_settings import TICKS
from motionloom.formats.fbx.fbx_tangents import Keys, tangents_of
from motionloom.formats.text import LARGEST

LATEST_S = 1e6
KEY_BYTES, TANGENT_BYTES, READING_BYTES = 24, 32, 120
"""Memory that a key takes, its tangents take, and that reading a curve takes for each key."""
KEYS_AT_ONCE, CURVES_AT_ONCE = 1 << 14, 1024
PARTS = ("KeyTime", "KeyValueFloat", "KeyAttrFlags", "KeyAttrRefCount", "KeyAttrDataFloat")
TIMES, VALUES, FLAGS, COUNTS, DATA = range(len(PARTS))


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
    """Which keys are the last of curves that have so many."""
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
