"""Windows that run along a clip: the largest, the smallest and the mean of the frames around each.

All take frames along the first axis and look ``half`` frames to either side. Beyond the ends of a
clip its first and last frame stand still.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from motionloom._arrays import FloatArray


def running_maximum(values: FloatArray, half: int) -> FloatArray:
    """The largest value around each frame. (F, ...).

    Examples
    --------
    >>> running_maximum(np.array([0.0, 3.0, 1.0, 2.0, 0.0]), 1).tolist()
    [3.0, 3.0, 3.0, 2.0, 2.0]
    """
    return _running(np.maximum, values, half)


def running_minimum(values: FloatArray, half: int) -> FloatArray:
    """The smallest value around each frame. (F, ...)."""
    return _running(np.minimum, values, half)


def running_mean(values: FloatArray, half: int) -> FloatArray:
    """The mean of the frames around each. (F, ...)."""
    if not len(values):
        return np.array(values, dtype=np.float64)
    width = 2 * half + 1
    padded = _held(values, half)
    first = np.cumsum(padded[:width], axis=0)[-1:]
    # From each window to the next one frame goes and one comes.
    sums = np.cumsum(np.concatenate([first, padded[width:] - padded[:-width]]), axis=0)
    return np.asarray(sums / width)


def _running(pick: Any, values: FloatArray, half: int) -> FloatArray:
    """``pick`` of windows, in as many steps as the width has binary digits."""
    if not len(values):
        return np.array(values, dtype=np.float64)
    picked, width, seen = _held(values, half), 2 * half + 1, 1
    while 2 * seen <= width:  # windows of 1, 2, 4 .. frames
        picked = pick(picked[:-seen], picked[seen:])
        seen *= 2
    rest = width - seen  # two of them that overlap
    return np.asarray(pick(picked[: len(picked) - rest], picked[rest:]))


def _held(values: FloatArray, half: int) -> FloatArray:
    """With the first and the last frame ``half`` times more."""
    ends = [(half, half), *((0, 0) for _ in values.shape[1:])]
    return np.pad(np.asarray(values, dtype=np.float64), ends, mode="edge")
