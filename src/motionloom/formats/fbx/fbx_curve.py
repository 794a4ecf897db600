"""Animation curves of an FBX file: keys with constant, linear and cubic segments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.errors import FormatError
from motionloom.formats.fbx.fbx_document import FbxDocument
from motionloom.formats.fbx.fbx_element import Element
from motionloom.formats.fbx.fbx_settings import TICKS
from motionloom.formats.fbx.fbx_tangents import Tangents, tangents_of
from motionloom.formats.text import LARGEST

CONSTANT, CUBIC = 0x2, 0x8
CONSTANT_NEXT = 0x100
"""A constant segment that has the value of its second key."""
LATEST_S = 1e6
KEY_BYTES, TANGENT_BYTES, READING_BYTES = 24, 32, 120
"""Memory that a key takes, its tangents take, and that reading a curve takes for each key."""
BISECTIONS = 45


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The keys of one number in time."""

    times: FloatArray
    """Strictly increasing, seconds. Shape (N,)."""
    values: FloatArray
    """Shape (N,)."""
    flags: IntArray
    """How the segment after each key goes. Shape (N,)."""
    tangents: Tangents | None
    """None where no segment is cubic."""

    def sample(self, at: FloatArray) -> FloatArray:
        """Values at times ``at`` (F,), constant before the first key and after the last."""
        times, values, n = self.times, self.values, len(self.times)
        if len(at) == n and np.array_equal(at, times):
            return values
        if n == 1:
            return np.full(len(at), values[0])
        low = np.clip(np.searchsorted(times, at, side="right") - 1, 0, n - 2)
        high = low + 1
        u = np.clip((at - times[low]) / (times[high] - times[low]), 0.0, 1.0)
        sampled = values[low] + u * (values[high] - values[low])
        kinds = self.flags[low]
        steps = (kinds & CONSTANT) > 0
        if steps.any():
            later = (kinds & CONSTANT_NEXT) > 0
            stepped = np.where(later & (u > 0.0), values[high], values[low])
            sampled = np.where(steps, stepped, sampled)
        cubic = ~steps & ((kinds & CUBIC) > 0)
        if self.tangents is not None and cubic.any():
            sampled[cubic] = self._cubic(self.tangents, low[cubic], u[cubic])
        sampled = np.where(u == 0.0, values[low], sampled)
        return np.asarray(np.where(u == 1.0, values[high], sampled))

    def _cubic(self, tangents: Tangents, low: IntArray, u: FloatArray) -> FloatArray:
        """Values on cubic segments, a share ``u`` of the time after their first keys."""
        span = self.times[low + 1] - self.times[low]
        first, last = self.values[low], self.values[low + 1]
        out, into = tangents.right_weights[low], tangents.left_weights[low]
        s = _parameter(u, out, into)
        c1 = first + tangents.right[low] * out * span
        c2 = last - tangents.left[low] * into * span
        r = 1.0 - s
        return np.asarray(r * r * r * first + 3.0 * r * s * (r * c1 + s * c2) + s * s * s * last)


def _parameter(u: FloatArray, out: FloatArray, into: FloatArray) -> FloatArray:
    """Where on a Bezier segment its time is a share ``u``: the share itself for equal weights."""
    third = 1.0 / 3.0
    odd: BoolArray = (np.abs(out - third) > 1e-9) | (np.abs(into - third) > 1e-9)
    if not odd.any():
        return u
    wanted, x1, x2 = u[odd], out[odd], 1.0 - into[odd]
    low, high = np.zeros(len(wanted)), np.ones(len(wanted))
    for _ in range(BISECTIONS):
        s = 0.5 * (low + high)
        r = 1.0 - s
        below = 3.0 * r * s * (r * x1 + s * x2) + s * s * s < wanted
        low, high = np.where(below, s, low), np.where(below, high, s)
    found_at = u.copy()
    found_at[odd] = 0.5 * (low + high)
    return found_at


def read_curve(document: FbxDocument, element: Element) -> Curve:
    """The curve in an element."""
    where = document.place(element)
    times, values = (_array(document, element, name) for name in ("KeyTime", "KeyValueFloat"))
    if len(times) != len(values) or not len(times):
        raise FormatError(
            f"A curve needs keys, with a value for each time; got {len(times)} times and "
            f"{len(values)} values.",
            where=where,
        )
    document.budget.check(READING_BYTES * len(times), "its keys", where)
    times = times / TICKS
    if not np.abs(values).max() < LARGEST:  # also where one is not a number
        raise FormatError("Key values must be finite numbers; some are not.", where=where)
    if not np.abs(times).max() < LATEST_S or (np.diff(times) < 0.0).any():
        raise FormatError(
            f"Key times must increase and lie within {LATEST_S:g} s; these do not.", where=where
        )
    attributes = _attributes(document, element, len(times), where)
    fresh = np.concatenate([[True], np.diff(times) > 0.0])
    if not fresh.all():  # of keys at one time the first counts
        times, values = times[fresh], values[fresh]
        attributes = tuple(each[fresh] for each in attributes)
    flags, slopes, packed = attributes
    cubic = (flags & CUBIC).any() and not (flags & CONSTANT).all()
    document.budget.take((KEY_BYTES + TANGENT_BYTES * bool(cubic)) * len(times), "its keys", where)
    tangents = tangents_of(times, values, flags, slopes, packed) if cubic else None
    return Curve(times, values, flags, tangents)


def key_times(document: FbxDocument, element: Element) -> FloatArray:
    """Only the times of a curve's keys, seconds."""
    return _array(document, element, "KeyTime") / TICKS


def _array(document: FbxDocument, element: Element, name: str) -> FloatArray:
    child = element.child(name)
    return np.zeros(0) if child is None else document.numbers(child)


def _attributes(
    document: FbxDocument, element: Element, n_keys: int, where: str
) -> tuple[IntArray, FloatArray, IntArray]:
    """Flags (N,), slopes (N, 4) and packed weights (N,) of every key.

    Keys in a row share their attributes: a count says how many.
    """
    flags, counts = (_array(document, element, f"KeyAttr{part}") for part in ("Flags", "RefCount"))
    child = element.child("KeyAttrDataFloat")
    bits = np.zeros(4 * len(flags), np.uint32) if child is None else document.bits(child)
    if not len(flags):
        return np.zeros(n_keys, np.int64), np.zeros((n_keys, 4)), np.zeros(n_keys, np.int64)
    if len(counts) != len(flags) or len(bits) != 4 * len(flags):
        raise FormatError(
            f"{len(flags)} flags of keys need as many counts and four times as many numbers, got "
            f"{len(counts)} and {len(bits)}.",
            where=where,
        )
    if (counts < 0).any() or counts.sum() > n_keys or not np.abs(flags).max() < 2.0**32:
        raise FormatError("The attributes of keys must be for the keys there are.", where=where)
    repeats = counts.astype(np.int64)
    repeats[-1] += n_keys - repeats.sum()
    with np.errstate(invalid="ignore"):
        data = bits.view(np.float32).astype(np.float64)
        data = np.where(np.abs(data) < LARGEST, data, 0.0)  # bits of weights may be no number
    rows = np.repeat(np.arange(len(flags)), repeats)
    packed = bits[2::4].astype(np.int64)
    return flags.astype(np.int64)[rows], data.reshape(-1, 4)[rows], packed[rows]
