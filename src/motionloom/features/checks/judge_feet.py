"""Feet: knees, soles, contacts, drags and hovering compared with the limits of the sources."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray
from motionloom.features.checks.limits import HOVER, Limits
from motionloom.features.checks.notes import (
    BACKWARDS,
    CONTACT,
    DRAGGED,
    FOLDED,
    HOVERING,
    SOLE,
    note,
)
from motionloom.features.checks.series import Series
from motionloom.features.checks.soles import (
    N_SPANS,
    SHORTEST_CONTACT,
    floating_time,
    is_dragged,
    is_off,
    slide_span,
)

__all__ = ["SINK", "SLIDE_FREE", "judge_feet", "judge_hovering"]

BACK_MORE, BACK_FREE = np.radians(3.0), np.radians(-5.0)
FOLD_MORE, FOLD_FREE = np.radians(10.0), np.radians(160.0)
SINK = 0.025
SLIDE_FREE = 0.04
DRAG_MORE, DRAG_FREE = 1.2, 0.10
HOVER_MORE, HOVER_FREE = 1.2, 0.12


@njit(cache=True, error_model="numpy")
def judge_feet(
    series: Series,
    limits: Limits,
    planted: BoolArray,
    fps: float,
    first: int,
    last: int,
    skipped: BoolArray,
    held: bool,
    grounds: FloatArray,
    found: FloatArray,
    n_found: int,
) -> int:
    """Add the failures of legs and feet; the parameters are those of ``judge``."""
    copied = len(grounds) > 0
    for side in range(2):
        back = min(limits.least_flexion[side] - BACK_MORE, BACK_FREE)
        fold = max(limits.most_flexion[side] + FOLD_MORE, FOLD_FREE)
        for t in range(first, last + 1):
            if skipped[t]:
                continue
            bent = series.flexion[t, side]
            if bent < back:
                n_found = note(found, n_found, BACKWARDS, side, t, bent, back)
            if bent > fold:
                n_found = note(found, n_found, FOLDED, side, t, bent, fold)
            for point in range(2 * side, 2 * side + 2):
                low = limits.sole[point] - SINK
                if copied:
                    low = max(low, grounds[t, point, 0])
                if held and series.soles[t, point, 1] < low:
                    n_found = note(found, n_found, SOLE, point, t, series.soles[t, point, 1], low)
    if not held:
        return n_found
    for point in range(4):
        n_found = _judge_contacts(
            series.soles, planted, point, fps, first, last, limits.slide, grounds, found, n_found
        )
        drag, way = max(DRAG_MORE * limits.drag[point], DRAG_FREE), 0.0
        for t in range(max(first, 1), last + 1):
            if not is_dragged(series.soles, limits.floor, t, point, fps):
                way = 0.0
                continue
            x = series.soles[t, point, 0] - series.soles[t - 1, point, 0]
            z = series.soles[t, point, 2] - series.soles[t - 1, point, 2]
            way += np.sqrt(x * x + z * z)
            if way > drag:
                n_found = note(found, n_found, DRAGGED, point, t, way, drag)
    return n_found


@njit(cache=True, error_model="numpy")
def _judge_contacts(
    soles: FloatArray,
    planted: BoolArray,
    point: int,
    fps: float,
    first: int,
    last: int,
    slides: FloatArray,
    grounds: FloatArray,
    found: FloatArray,
    n_found: int,
) -> int:
    """Contacts of one foot point that move too far while they are labelled."""
    t = first
    while t <= last:
        if not planted[t, point]:
            t += 1
            continue
        begin = t
        low_x = high_x = soles[t, point, 0]
        low_z = high_z = soles[t, point, 2]
        while t <= last and planted[t, point]:
            low_x, high_x = min(low_x, soles[t, point, 0]), max(high_x, soles[t, point, 0])
            low_z, high_z = min(low_z, soles[t, point, 2]), max(high_z, soles[t, point, 2])
            t += 1
        limit = slides[point * N_SPANS + slide_span(t - begin, fps)]
        if len(grounds):
            limit = min(limit, grounds[begin, point, 1])
        limit = max(limit, SLIDE_FREE)
        way = np.sqrt((high_x - low_x) ** 2 + (high_z - low_z) ** 2)
        if t - begin >= SHORTEST_CONTACT and way > limit:
            n_found = note(found, n_found, CONTACT, point, begin, way, limit)
    return n_found


@njit(cache=True, error_model="numpy")
def judge_hovering(
    series: Series,
    limits: Limits,
    fps: float,
    first: int,
    last: int,
    found: FloatArray,
    n_found: int,
) -> int:
    """Add runs of frames in which nothing is near the floor and the body does not fall."""
    longest = max(HOVER_MORE * limits.body[HOVER], HOVER_FREE)
    t = first
    while t <= last:
        if not is_off(series.soles, series.lowest, t, limits.highest):
            t += 1
            continue
        begin = t
        while t <= last and is_off(series.soles, series.lowest, t, limits.highest):
            t += 1
        floats = floating_time(series.pelvis, begin, t, fps)
        if floats > longest:
            n_found = note(found, n_found, HOVERING, -1, (begin + t) // 2, floats, longest)
    return n_found
