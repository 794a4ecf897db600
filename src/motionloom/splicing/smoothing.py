"""Rotations over time without frame noise, twitches and capture glitches.

Captured hips and spines shake from frame to frame by some degrees, each against the other, and the
chest that they carry stays steady. A rotation taken from one clip and given to another has to be
free of that shake: there is nothing in the other clip to cancel it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray
from motionloom.rotation import quat

__all__ = ["local_fit_numpy", "smooth_points", "smooth_rotations"]

IGNORED = 1e-9
"""Weight of an ignored frame. It is not zero, for a window may hold ignored frames only."""
ONE_SIDED = 1.0
"""How strongly a parabola is drawn to a straight line near the ends of a clip. A free parabola
follows the noise of the last frames there."""


def smooth_rotations(
    quats: FloatArray,
    fps: float,
    *,
    half_width_s: float,
    degree: int,
    ignored: BoolArray | None = None,
) -> FloatArray:
    """Rotations smoothed by local regression (LOESS, Cleveland 1979). (F, 4).

    At every frame a polynomial in time is fitted to the quaternions around it, those near in time
    counting most. Turning all rotations by one rotation turns the result by it, from either side,
    and a constant rotation stays as it is.

    Parameters
    ----------
    quats : (F, 4)
        Unit quaternions; signs do not matter.
    fps
        Their rate.
    half_width_s
        Seconds to either side that count. Near the ends as many frames count, on one side.
    degree
        1 or 2. A parabola over 0.1 s keeps 0.99 of a swing at 3 Hz, half of one at 8.5 Hz, and at
        most 0.12 above 12 Hz; a line over 0.8 s keeps 0.61 at 0.5 Hz and at most 0.08 above 1 Hz.
    ignored : (F,)
        Frames that do not count, such as glitches and twitches.
    """
    quats = quat.make_continuous(quats)
    weights = np.ones(len(quats)) if ignored is None else np.where(ignored, IGNORED, 1.0)
    degree = min(degree, len(quats) - 1)
    half = max(int(half_width_s * fps), degree)
    return quat.normalize(_local_fit(quats, weights, half, degree))


def smooth_points(
    points: FloatArray, fps: float, *, half_width_s: float, degree: int
) -> FloatArray:
    """Points over time (F, 3) smoothed as :func:`smooth_rotations` smooths rotations. (F, 3)."""
    degree = min(degree, len(points) - 1)
    half = max(int(half_width_s * fps), degree)
    return _local_fit(np.ascontiguousarray(points), np.ones(len(points)), half, degree)


def local_fit_numpy(values: FloatArray, weights: FloatArray, half: int, degree: int) -> FloatArray:
    """Polynomials of ``degree`` fitted around every frame, at that frame. (F, C).

    The plain form of the kernel that :func:`smooth_rotations` uses.

    Parameters
    ----------
    values : (F, C)
        What is smoothed.
    weights : (F,)
        How much a frame counts, apart from its distance.
    half
        Frames to either side; all windows have ``2 half + 1`` frames, or F.
    degree
        0 to 2, and below F.
    """
    n = len(values)
    width, frame = min(2 * half + 1, n), np.arange(n)
    first = np.clip(frame - half, 0, n - width)
    near = first[:, None] + np.arange(width)  # (F, W)
    reach = np.maximum(frame - first, first + width - 1 - frame) + 1.0
    offset = (near - frame[:, None]) / reach[:, None]
    kernel = (1.0 - np.abs(offset) ** 3) ** 3
    one_sided = (kernel * offset).sum(axis=1) / kernel.sum(axis=1)
    kernel = kernel * weights[near]
    powers = kernel[..., None] * offset[..., None] ** np.arange(2 * degree + 1)  # (F, W, 2d + 1)
    sums, order = powers.sum(axis=1), np.arange(degree + 1)
    normal = sums[:, order[:, None] + order]  # (F, d + 1, d + 1)
    if degree == 2:
        normal[:, 2, 2] += ONE_SIDED * one_sided**2 * sums[:, 0]
    right = np.swapaxes(powers[..., : degree + 1], 1, 2) @ values[near]  # (F, d + 1, C)
    return np.asarray(np.linalg.solve(normal, right)[:, 0])


@njit(cache=True)
def _local_fit(values: FloatArray, weights: FloatArray, half: int, degree: int) -> FloatArray:
    """The same frame by frame: the value of the fit is a weighted mean of the values around."""
    n, n_columns = values.shape
    width = min(2 * half + 1, n)
    out = np.zeros((n, n_columns))
    share = np.zeros(width)
    offset = np.zeros(width)
    for f in range(n):
        first = min(max(f - half, 0), n - width)
        reach = max(f - first, first + width - 1 - f) + 1.0
        s0 = s1 = s2 = s3 = s4 = bare = lever = 0.0
        for k in range(width):
            x = (first + k - f) / reach
            kernel = (1.0 - abs(x) ** 3) ** 3
            bare += kernel
            lever += kernel * x
            w = kernel * weights[first + k]
            offset[k], share[k] = x, w
            s0 += w
            s1 += w * x
            s2 += w * x * x
            s3 += w * x * x * x
            s4 += w * x * x * x * x
        s4 += ONE_SIDED * (lever / bare) ** 2 * s0
        # First row of the inverse of the normal matrix, times the determinant.
        a, b, c = 1.0, 0.0, 0.0
        if degree == 1:
            a, b = s2, -s1
        elif degree == 2:
            a, b, c = s2 * s4 - s3 * s3, s2 * s3 - s1 * s4, s1 * s3 - s2 * s2
        whole = a * s0 + b * s1 + c * s2
        for k in range(width):
            part = share[k] * (a + b * offset[k] + c * offset[k] * offset[k]) / whole
            for j in range(n_columns):
                out[f, j] += part * values[first + k, j]
    return out
