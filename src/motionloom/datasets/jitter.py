"""Jitter: noise of single frames that motion does not explain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray

JUDGED_FPS = 60.0
"""Noise is looked for between single frames and between frames of this rate."""
DIFFERENCE = (1.0, -4.0, 6.0, -4.0, 1.0)
"""Fourth difference: zero for any cubic, so that it leaves little of a motion."""
GAIN = float(np.sqrt(sum(weight**2 for weight in DIFFERENCE)))
"""By which it enlarges white noise."""
CALM_PART = 0.25
"""Jitter is there while a body is calm too: frames up to this quantile tell it."""
QUARTILE = 1.10
"""That quantile of the length of a normal deviate in three dimensions, of size one each."""
LEAST_FRAMES = 24


class Jitter(NamedTuple):
    """White noise of one joint, metres in each direction."""

    size: float
    joint: int
    """Column of the joint among those looked at."""


def measure_jitter(positions: FloatArray, fps: float) -> Jitter | None:
    """The noisiest joint of positions (F, N, 3) in the world; None for clips too short to tell.

    Fourth differences remove motion; what they leave in the calmest quarter of the frames is noise.

    Examples
    --------
    >>> t = np.arange(240)[:, None, None] / 60.0
    >>> smooth = np.sin(2.0 * t) * np.ones((1, 2, 3))
    >>> noise = np.random.Generator(np.random.PCG64(1)).standard_normal(smooth.shape)
    >>> round(1000 * measure_jitter(smooth + 0.003 * noise, 60.0).size)
    3
    """
    strides = sorted({1, max(1, round(fps / JUDGED_FPS))})
    best: Jitter | None = None
    for stride in strides:
        n = len(positions) - 4 * stride
        if n < LEAST_FRAMES:
            continue
        left = np.zeros((n, *positions.shape[1:]))
        for shift, weight in enumerate(DIFFERENCE):
            left += weight * positions[shift * stride : shift * stride + n]
        sizes = np.sqrt(np.einsum("fjc,fjc->fj", left, left))
        at = int(CALM_PART * (n - 1))
        calm = np.partition(sizes, at, axis=0)[at] / (GAIN * QUARTILE)
        joint = int(np.argmax(calm))
        if best is None or calm[joint] > best.size:
            best = Jitter(float(calm[joint]), joint)
    return best
