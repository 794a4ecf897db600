"""How fast, how low and how far a clip goes."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.features.checks.source_limits import Series, free_fall_gap
from tests.oracles.soles import contact_slides, drag_lengths


def floor_heights(
    soles: FloatArray, lowest: FloatArray, planted: BoolArray, part: float
) -> FloatArray:
    """Height at which each sole point stands, metres (4,); the lowest of all where it does not."""
    out = np.full(4, np.nan)
    for k in range(4):
        heights = soles[planted[:, k], k, 1]
        if len(heights) >= 3:
            out[k] = np.quantile(heights, part)
    known = np.isfinite(out)
    low = float(np.quantile(np.minimum(lowest, soles[..., 1].min(axis=1)), 0.05))
    return np.where(known, out, np.min(out[known]) if known.any() else low)


def limits(
    series: Series, planted: BoolArray, fps: float, good: BoolArray, brake: FloatArray
) -> dict[str, FloatArray]:
    """Limits by their names; ``brake`` (F,) are the losses of ground speed."""
    soles, lowest, pelvis = series.soles, series.lowest, series.pelvis
    floor, stands = (floor_heights(soles, lowest, planted, part) for part in (0.10, 0.25))
    speed = np.zeros(len(pelvis))
    speed[1:] = fps * np.linalg.norm(np.diff(pelvis[:, [0, 2]], axis=0), axis=-1)
    hover = free_fall_gap(soles, lowest, series.mass, stands, fps)
    head = np.quantile(series.head[good], 0.95)
    return {
        "turn": series.turn[good].max(axis=0),
        "speed": series.speed[good].max(axis=0),
        "bend": series.bend[good].max(axis=0),
        "carried": series.carried[good].max(axis=0),
        "least_flexion": series.flexion[good].min(axis=0),
        "most_flexion": series.flexion[good].max(axis=0),
        "sole": soles[good][..., 1].min(axis=0),
        "floor": floor,
        "highest": stands,
        "slide": contact_slides(soles, planted, fps),
        "drag": drag_lengths(soles, floor, fps),
        "body": np.array([head, speed[good].max(), brake[good].max(), hover]),
    }
