"""Soles: floors, slides, drags and hovering of heels and balls, compiled.

Sources and results are measured by the same kernels. Every sole point is measured on its own:
rigs draw heels and balls at different heights, and a heel that lands is not a ball that drags.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray

__all__ = [
    "DRAG_HEIGHT_M",
    "DRAG_SPEED",
    "FALL",
    "HOVER_M",
    "LANDS",
    "N_SPANS",
    "SHORTEST_CONTACT",
    "STANDS",
    "contact_slides",
    "drag_lengths",
    "floating_time",
    "floor_heights",
    "hover_time",
    "is_dragged",
    "is_off",
    "slide_span",
]

DRAG_HEIGHT_M, DRAG_SPEED = 0.015, 0.25
"""A sole point lower than the first over the floor and faster than the second, m/s, is dragged."""
HOVER_M = 0.06
"""A body all of whose points are higher than this over the floor touches nothing."""
FALL = -4.0
"""A body in flight falls; one whose pelvis accelerates less than this downwards hovers, m/s2."""
FALL_S = 0.05
"""Accelerations of the pelvis are measured over twice this long."""
SHORTEST_CONTACT = 3
"""Frames that a contact must have for its slide to be measured."""
SPAN_S, N_SPANS = 1.0 / 15.0, 7
"""Slides are compared over equally long contacts: of this long, twice, four times ..., and any."""
STANDS, LANDS = 0.25, 0.10
"""Parts of the planted heights of a point below which it stands, and below which it is on the
floor whatever it does: toes that push off go deeper than feet stand."""


def floor_heights(
    soles: FloatArray, lowest: FloatArray, planted: BoolArray, part: float = STANDS
) -> FloatArray:
    """Height at which each sole point stands, metres (4,); the lowest of all where it does not.

    Parameters
    ----------
    soles : (F, 4, 3)
        Sole points in the world.
    lowest : (F,)
        Height of the lowest point of the body.
    planted : (F, 4)
        Contacts.
    part
        Part of a point's planted heights that is lower.
    """
    out = np.full(4, np.nan)
    for k in range(4):
        heights = soles[planted[:, k], k, 1]
        if len(heights) >= SHORTEST_CONTACT:
            out[k] = np.quantile(heights, part)
    known = np.isfinite(out)
    low = float(np.quantile(np.minimum(lowest, soles[..., 1].min(axis=1)), 0.05))
    return np.where(known, out, np.min(out[known]) if known.any() else low)


@njit(cache=True, error_model="numpy", inline="always")
def slide_span(n_frames: int, fps: float) -> int:
    """Which of the ``N_SPANS`` limits a contact of so many frames has."""
    width = max(2, round(SPAN_S * fps))
    for span in range(N_SPANS - 1):
        if n_frames <= width:
            return span
        width *= 2
    return N_SPANS - 1


@njit(cache=True, error_model="numpy", inline="always")
def _diagonal(box: FloatArray) -> float:
    return float(np.sqrt((box[1] - box[0]) ** 2 + (box[3] - box[2]) ** 2))


@njit(cache=True, error_model="numpy", inline="always")
def _join(box: FloatArray, other: FloatArray) -> None:
    """Widen a box (lowest and highest x, lowest and highest z) by another."""
    box[0], box[1] = min(box[0], other[0]), max(box[1], other[1])
    box[2], box[3] = min(box[2], other[2]), max(box[3], other[3])


@njit(cache=True, error_model="numpy")
def contact_slides(soles: FloatArray, planted: BoolArray, fps: float) -> FloatArray:
    """Farthest that each point (F, 4, 3) gets over the ground within a contact, metres (4 * S,).

    Of each point, entry ``s`` is measured over parts of contacts as long as span ``s``. Both feet
    have that of the farther: a short clip shows few steps, and people walk with both feet alike.
    """
    out = np.zeros(4 * N_SPANS)
    first_width = max(2, round(SPAN_S * fps))
    for k in range(4):
        t = 0
        while t < len(planted):
            if not planted[t, k]:
                t += 1
                continue
            first = t
            while t < len(planted) and planted[t, k]:
                t += 1
            n = t - first
            if n < SHORTEST_CONTACT:
                continue
            boxes = np.zeros((n, 4))  # of ``width`` frames from each on
            for f in range(n):
                boxes[f, 0] = boxes[f, 1] = soles[first + f, k, 0]
                boxes[f, 2] = boxes[f, 3] = soles[first + f, k, 2]
            width = 1
            for span in range(N_SPANS):
                wanted = min(n, n if span == N_SPANS - 1 else first_width << span)
                while width < wanted:
                    step = min(width, wanted - width)
                    for f in range(n - width - step + 1):
                        _join(boxes[f], boxes[f + step])
                    width += step
                for f in range(n - width + 1):
                    way = _diagonal(boxes[f])
                    out[k * N_SPANS + span] = max(out[k * N_SPANS + span], way)
    for n in range(2 * N_SPANS):
        out[n] = out[n + 2 * N_SPANS] = max(out[n], out[n + 2 * N_SPANS])
    return out


@njit(cache=True, error_model="numpy", inline="always")
def is_dragged(soles: FloatArray, floor: FloatArray, t: int, k: int, fps: float) -> bool:
    """Whether a point moves along the floor in the step into a frame."""
    high = floor[k] + DRAG_HEIGHT_M
    if soles[t, k, 1] >= high or soles[t - 1, k, 1] >= high:
        return False
    x, z = soles[t, k, 0] - soles[t - 1, k, 0], soles[t, k, 2] - soles[t - 1, k, 2]
    return bool((x * x + z * z) * fps * fps > DRAG_SPEED * DRAG_SPEED)


@njit(cache=True, error_model="numpy")
def drag_lengths(soles: FloatArray, floor: FloatArray, fps: float) -> FloatArray:
    """Longest way of each point along the floor, both feet the farther's, metres. (4,)."""
    out = np.zeros(4)
    for k in range(4):
        way = 0.0
        for t in range(1, len(soles)):
            if is_dragged(soles, floor, t, k, fps):
                x, z = soles[t, k, 0] - soles[t - 1, k, 0], soles[t, k, 2] - soles[t - 1, k, 2]
                way += np.sqrt(x * x + z * z)
                out[k] = max(out[k], way)
            else:
                way = 0.0
    for k in range(2):
        out[k] = out[k + 2] = max(out[k], out[k + 2])
    return out


@njit(cache=True, error_model="numpy", inline="always")
def is_off(soles: FloatArray, lowest: FloatArray, t: int, floor: FloatArray) -> bool:
    """Whether everything is off the floor in a frame."""
    for k in range(4):
        if soles[t, k, 1] <= floor[k] + HOVER_M:
            return False
    return bool(lowest[t] > min(floor[0], floor[1], floor[2], floor[3]) + HOVER_M)


@njit(cache=True, error_model="numpy")
def floating_time(pelvis: FloatArray, first: int, stop: int, fps: float) -> float:
    """How long a body that is off the floor from frame ``first`` to ``stop`` does not fall.

    The share of these frames in which the pelvis is not in free fall counts. Speeds at the two ends
    do not tell: a body that is lifted and let down has those of a jump.
    """
    n = stop - first
    lag = max(1, min(round(FALL_S * fps), (n - 1) // 2))
    if n < 2 * lag + 1:
        return 0.0
    floating = 0
    for t in range(first + lag, stop - lag):
        bend = pelvis[t - lag, 1] - 2.0 * pelvis[t, 1] + pelvis[t + lag, 1]
        floating += bend * (fps / lag) ** 2 > FALL
    return float(n / fps * floating / (n - 2 * lag))


@njit(cache=True, error_model="numpy")
def hover_time(
    soles: FloatArray, lowest: FloatArray, pelvis: FloatArray, floor: FloatArray, fps: float
) -> float:
    """Longest time that a body touches nothing and does not fall, seconds."""
    worst, t = 0.0, 0
    while t < len(lowest):
        if not is_off(soles, lowest, t, floor):
            t += 1
            continue
        first = t
        while t < len(lowest) and is_off(soles, lowest, t, floor):
            t += 1
        worst = max(worst, floating_time(pelvis, first, t, fps))
    return worst
