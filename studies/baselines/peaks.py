"""Peaks of a curve, and its slopes by parabolas fitted around each frame."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray

__all__ = ["find_peaks", "parabola_slopes"]

NEAR = 64
"""Frames next to a peak that are looked at first, then twice as many, and so on."""


def find_peaks(values: FloatArray, *, prominence: float, distance: int) -> IntArray:
    """Frames in which a curve is higher than on both sides of it.

    Of peaks that are too near to one another the highest stays. A peak as wide as several frames
    is in the middle of them; the ends of the curve are none.

    Parameters
    ----------
    values : (F,)
        The curve.
    prominence
        How far the curve must fall on both sides of a peak before it rises above it.
    distance
        Fewest frames from peak to peak.

    Examples
    --------
    >>> find_peaks(np.array([0.0, 3.0, 2.9, 3.1, 0.0, 1.0, 0.5]), prominence=0.2, distance=1)
    array([3, 5])
    """
    first = np.flatnonzero(np.append(True, np.diff(values) != 0.0))  # of each run of equal values
    last = np.append(first[1:], len(values)) - 1
    level = values[first]
    high = np.flatnonzero((level[1:-1] > level[:-2]) & (level[1:-1] > level[2:])) + 1
    peaks = (first[high] + last[high]) // 2
    apart = peaks[_far_apart(peaks, values[peaks], distance)]
    places = [
        peak
        for peak in apart
        if _falls(values[:peak][::-1], values[peak], prominence)
        and _falls(values[peak + 1 :], values[peak], prominence)
    ]
    return np.array(places, dtype=np.int64)


def _far_apart(peaks: IntArray, heights: FloatArray, distance: int) -> IntArray:
    """Numbers of the peaks that stay, the highest first chosen; of equal ones the later."""
    stays = np.ones(len(peaks), dtype=bool)
    begin = np.searchsorted(peaks, peaks - distance, side="right")
    end = np.searchsorted(peaks, peaks + distance, side="left")
    for k in np.argsort(heights, kind="stable")[::-1]:
        if stays[k]:
            stays[begin[k] : end[k]] = False
            stays[k] = True
    return np.flatnonzero(stays)


def _falls(away: FloatArray, height: float, by: float) -> bool:
    """Whether a curve that leads away from a peak falls ``by`` so much before it is higher."""
    begin, size = 0, NEAR
    while begin < len(away):
        part = away[begin : begin + size]
        low = height - part >= by
        ends = np.flatnonzero(low | (part > height))
        if len(ends):
            return bool(low[ends[0]])
        begin, size = begin + size, 2 * size
    return False


def parabola_slopes(values: FloatArray, width: int) -> FloatArray:
    """Slopes per frame of parabolas fitted to ``width`` frames around each. (F, K).

    The first and the last half window have those of the first and the last whole one.

    Parameters
    ----------
    values : (F, K)
        Curves.
    width
        Frames of a window, odd, from 3 to F.
    """
    half = width // 2
    frames = np.arange(-half, half + 1)
    # By symmetry the slope in the middle is that of the line fitted.
    windows = np.lib.stride_tricks.sliding_window_view(values, width, axis=0)  # (F - 2 half, K, W)
    slopes = np.zeros_like(values)
    slopes[half : len(values) - half] = windows @ (frames / np.sum(frames**2))
    fit = np.linalg.pinv(np.vander(frames, 3, increasing=True).astype(np.float64))[1:]  # (2, W)
    for window, at, out in (
        (values[:width], frames[:half], slopes[:half]),
        (values[-width:], frames[half + 1 :], slopes[len(values) - half :]),
    ):
        slope, bend = fit @ window  # (2, K)
        out[:] = slope + 2.0 * at[:, None] * bend
    return slopes
