"""Slides, drags and hovering of sole points."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from motionloom._arrays import BoolArray, FloatArray

SPAN_S, N_SPANS = 1.0 / 15.0, 7
SHORTEST_CONTACT = 3
HEIGHTS = (0.01, 0.02, 0.03)
PAD = 0.2
SOLES = (0, 1, 2, 3, 0, 2)
"""The sole point that each tested point belongs to: pads of heels are planted with their heels."""


def tested_points(soles: FloatArray) -> FloatArray:
    """The four sole points (..., 4, C), then the pads of both heels. Shape (..., 6, C)."""
    pads = soles[..., 0::2, :] + PAD * (soles[..., 1::2, :] - soles[..., 0::2, :])
    return np.concatenate([soles, pads], axis=-2)


def by_kind(values: FloatArray) -> FloatArray:
    """Of six tested points (6, ...): the larger of both heels, balls and pads, and zero."""
    pairs = [np.maximum(values[a], values[b]) for a, b in ((0, 2), (1, 3), (4, 5))]
    return np.stack([*pairs, np.zeros_like(pairs[0])])


def runs(flags: BoolArray) -> list[tuple[int, int]]:
    """First frame of every run of true flags, and the one after its last."""
    edges = np.flatnonzero(np.diff(np.r_[False, flags, False]))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def slide_span(n_frames: int, fps: float) -> int:
    """Which of the limits a contact of so many frames has."""
    widths = max(2, round(SPAN_S * fps)) * 2 ** np.arange(N_SPANS - 1)
    return int(np.searchsorted(widths, n_frames))


def contact_slides(soles: FloatArray, planted: BoolArray, fps: float) -> FloatArray:
    """The plain form of :func:`contact_slides`: every window of every contact."""
    out, points = np.zeros((6, N_SPANS)), tested_points(soles)
    widths = [*(max(2, round(SPAN_S * fps)) * 2**span for span in range(N_SPANS - 1)), 10**9]
    for k in range(6):
        for first, stop in runs(planted[:, SOLES[k]]):
            if stop - first < SHORTEST_CONTACT:
                continue
            ground = points[first:stop, k][:, [0, 2]]
            for span, width in enumerate(widths):
                windows = sliding_window_view(ground, min(width, len(ground)), axis=0)
                ways = np.linalg.norm(np.ptp(windows, axis=-1), axis=-1)
                out[k, span] = max(out[k, span], ways.max())
    return by_kind(out).ravel()


def drags(soles: FloatArray, floor: FloatArray, fps: float) -> BoolArray:
    """Whether each of six points moves along the floor in the step into a frame but the first.

    Of each height over the floors (4,), or (F, 4) where these are those of every frame.
    Shape (F - 1, 6, 3).
    """
    points = tested_points(soles)
    floors = np.broadcast_to(floor, soles.shape[:2])[1:]  # both frames of a step have the later's
    high = tested_points(floors[..., None])[..., 0][..., None] + HEIGHTS
    heights = points[..., 1][..., None]
    steps = np.linalg.norm(np.diff(points[..., [0, 2]], axis=0), axis=-1)
    fast = (steps * fps > 0.25)[..., None]
    return np.asarray((heights[1:] < high) & (heights[:-1] < high) & fast)


def drag_lengths(soles: FloatArray, floor: FloatArray, fps: float) -> FloatArray:
    """The plain form of :func:`drag_lengths`."""
    ways = np.linalg.norm(np.diff(tested_points(soles)[..., [0, 2]], axis=0), axis=-1)
    dragged = drags(soles, floor, fps)
    out = np.zeros((6, len(HEIGHTS)))
    for k, h in np.ndindex(out.shape):
        lengths = (ways[first:stop, k].sum() for first, stop in runs(dragged[:, k, h]))
        out[k, h] = max(lengths, default=0.0)
    return by_kind(out).ravel()


def is_off(soles: FloatArray, lowest: FloatArray, floor: FloatArray, fps: float) -> BoolArray:
    """Whether nothing supports the body in each frame; both feet stand on the lower floor."""
    both = np.tile(np.minimum(floor[..., :2], floor[..., 2:]), 2)
    ways = np.linalg.norm(
        np.diff(soles[..., [0, 2]], axis=0, prepend=soles[:1, :, [0, 2]]), axis=-1
    )
    down = soles[..., 1] <= both + 0.04
    carried = (down & (ways * fps <= 1.0)).any(axis=1)
    low = both.min(axis=-1) + 0.04
    near = lowest <= low
    sole = soles[..., 1].min(axis=1)
    rests = near & ((sole > low) | (lowest <= sole - 0.05))
    return np.asarray(~carried & ~rests)


def gap_of(heights: FloatArray, a: int, b: int, fps: float) -> float:
    """How far heights (F,) leave free fall in frames ``a`` to ``b`` - 1 without support."""
    a, b, most = max(a - 1, 0), min(b, len(heights) - 1), max(round(2.0 * fps), 2)
    parts = []
    while b - a > most:  # no flight is as long
        parts.append(gap_in(heights, a, a + most, fps))
        a += most // 2
    return max([*parts, gap_in(heights, a, b, fps)])


def gap_in(heights: FloatArray, a: int, b: int, fps: float) -> float:
    """The same from frame ``a`` to frame ``b``."""
    if b - a < 2:
        return 0.0
    t = np.arange(b - a + 1) / fps
    own = heights[a : b + 1] - np.interp(t, t[[0, -1]], heights[[a, b]])
    arc = 0.5 * t * (t[-1] - t)
    fall = np.clip((own @ arc) / (arc @ arc), 0.7 * 9.81, 1.3 * 9.81)
    return float(min(np.abs(own - each * arc).max() for each in (fall, 9.81)))


def gaps(
    soles: FloatArray, lowest: FloatArray, mass: FloatArray, floor: FloatArray, fps: float
) -> FloatArray:
    """The gap of the run that each frame is in, metres. (F,)"""
    out = np.zeros(len(soles))
    for a, b in runs(is_off(soles, lowest, floor, fps)):
        out[a:b] = gap_of(mass[:, 1], a, b, fps)
    return out


def free_fall_gap(
    soles: FloatArray, lowest: FloatArray, mass: FloatArray, floor: FloatArray, fps: float
) -> float:
    """The plain form of :func:`free_fall_gap`."""
    return float(gaps(soles, lowest, mass, floor, fps).max(initial=0.0))
