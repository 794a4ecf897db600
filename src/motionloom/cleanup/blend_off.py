"""Blend-off: how an offset that is needed in some frames runs out in the frames around them."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import kernel
from motionloom.rotation.easing import ease

_blend = kernel("ml_offset_blend")
_near = kernel("ml_offset_near")
_spread = kernel("ml_offset_spread")
_highest = kernel("ml_offset_highest")

LONGEST_HALF = 1000
"""Frames of half a window at most, where a clip has fewer."""


def blend_off(values: FloatArray, held: BoolArray, *, length: float, stop: float) -> FloatArray:
    """``values`` where they are held, and a smooth way to zero or to the next hold in other frames.

    Exactly zero from ``length`` frames beyond a hold on. Holds at most twice as far apart are
    joined directly. Value and slope are met at the edge of a hold, so that a foot comes to rest
    without a kick: the departure from Kovar, Schreiner and Gleicher, whose offsets start flat.

    Parameters
    ----------
    values : (F, C)
        Used in held frames only.
    held : (F,)
        Where ``values`` must be met.
    length
        Frames over which a value runs out.
    stop
        Frames over which a slope runs out: short, or the offset overshoots.
    """
    values = np.ascontiguousarray(values, dtype=np.float64)
    out = np.zeros(values.shape)
    _blend(*values.shape, values, np.ascontiguousarray(held), float(length), float(stop), out)
    return out


def nearness(held: BoolArray, length: float) -> FloatArray:
    """1 in held frames, falling smoothly to 0 at ``length`` frames from the nearest. Shape (F,)."""
    out = np.zeros(len(held))
    _near(len(held), np.ascontiguousarray(held), float(length), out)
    return out


def spread_smoothly(values: FloatArray, half: int) -> FloatArray:
    """Weighted mean over ``half`` frames to either side; beyond the ends the end value."""
    if half < 1:
        return np.array(values)
    half = bounded(half, len(values))
    values = np.ascontiguousarray(values, dtype=np.float64)
    out = np.zeros(values.shape)
    _spread(len(values), values.size // max(len(values), 1), values, half, weights_of(half), out)
    return out


@lru_cache(maxsize=32)
def weights_of(half: int) -> FloatArray:
    """Weights of a smooth window over ``half`` frames to either side, which sum to one."""
    weights = ease(np.abs(np.arange(-half, half + 1)) / (half + 1.0), nested=True)
    weights /= weights.sum()
    weights.flags.writeable = False
    return weights


def highest_nearby(values: FloatArray, half: int) -> FloatArray:
    """Largest value within ``half`` frames to either side. Shape (F,)."""
    half = bounded(half, len(values))
    out = np.zeros(len(values))
    values = np.ascontiguousarray(values, dtype=np.float64)
    _highest(len(values), values, half, np.zeros(len(values) + 2 * half), out)
    return out


def bounded(half: int, n_frames: int) -> int:
    """The half window, at most the clip or 1000 frames, whatever the frame rate is."""
    return min(half, max(n_frames, LONGEST_HALF))
