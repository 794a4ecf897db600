"""Noise that comes down the leg taken out of the height of heels.

Noise of single joints costs heels most: a heel lies behind the ankle, so a foot that nods about its
ball magnifies what raises and lowers the ankle. But a shank is rigid and nearly upright. What
raises and lowers the ankle does so to the knee as well, and a knee, unlike a foot, moves smoothly:
what a parabola leaves of its height is noise.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray

NOISY_M = 0.002
"""Heights with less noise than this are left as they are."""
SMOOTH_S = 0.3
"""Time over which a parabola is fitted to the height of a knee, seconds."""
LEAST_FRAMES = 30
OUTLIER = 4.0
"""Jerks of more than so many times the noise are those of a foot that lands."""
THIRDS = np.sqrt(20.0)
"""Third differences of white noise are larger by this."""


def without_leg_noise(
    points: FloatArray,
    knees: tuple[FloatArray | None, FloatArray | None],
    noise: FloatArray,
    fps: float,
) -> tuple[FloatArray, FloatArray]:
    """Points with heights that are freer of noise, and the autocovariance of what is left by lag.

    Parameters
    ----------
    points : (F, 4, 3)
        Left heel, left ball, right heel, right ball, metres.
    knees
        Height of the left and right knee, each (F,); None where there is none.
    noise : (4, 2)
        White noise of each point, per coordinate over the ground and upwards, metres.
    fps
        Frames per second.

    Returns
    -------
    points : (F, 4, 3)
        With new heights.
    sway : (4, L)
        What a parabola follows of the noise is not found by it and stays; it is no longer white.
        Square metres, for lags of 0 to L - 1 frames; 0 for heights that are left as they were.
    """
    points = np.array(points)
    width = 2 * round(0.5 * (SMOOTH_S * fps - 1.0)) + 1
    sway = np.zeros((points.shape[1], max(width, 1)))
    if width < 5 or len(points) < max(LEAST_FRAMES, width):
        return points, sway
    steps = np.arange(width) - width // 2
    powers = np.stack([np.ones(width), steps, steps**2], axis=1)
    fit = powers @ np.linalg.pinv(powers)  # (W, W): a window's parabola at each of its frames
    middle = fit[width // 2]
    left = np.correlate(middle, middle, mode="full")[width - 1 :]
    for p, knee in zip((0, 2), knees, strict=True):
        if knee is None or noise[p, 1] < NOISY_M:
            continue
        ours, theirs = np.diff(points[:, p, 1], n=3), np.diff(knee, n=3)
        quiet = np.abs(ours) < OUTLIER * THIRDS * noise[p, 1]
        size = float(theirs[quiet] @ theirs[quiet])
        if np.count_nonzero(quiet) < LEAST_FRAMES or not size > 0.0:
            continue
        part = float(ours[quiet] @ theirs[quiet]) / size
        windows = np.lib.stride_tricks.sliding_window_view(knee, width)
        ends = fit[: width // 2] @ windows[0], fit[width // 2 + 1 :] @ windows[-1]
        points[:, p, 1] -= part * (knee - np.concatenate([ends[0], windows @ middle, ends[1]]))
        sway[p] = left * size / np.count_nonzero(quiet) * (part / THIRDS) ** 2
    return points, sway
