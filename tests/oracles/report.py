"""How fast contacts move, and how far they slide."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.motion.motion import runs_of


def contact_speeds(points: FloatArray, planted: BoolArray, fps: float) -> FloatArray:
    """The plain form of :func:`contact_speeds`."""
    speeds = np.full(planted.shape, -1.0)
    steps = fps * np.linalg.norm(np.diff(points, axis=0), axis=-1)
    both = planted[1:] & planted[:-1]
    speeds[:-1][both] = steps[both]
    return speeds


def slide_of(track: FloatArray) -> float:
    """Distance over the ground from the farthest of the first frame to its own farthest."""
    flat = track[:, [0, 2]]
    far = flat[np.argmax(np.sum((flat - flat[0]) ** 2, axis=-1))]
    return float(np.sqrt(np.sum((flat - far) ** 2, axis=-1).max()))


def slides(
    before: FloatArray, after: FloatArray, held: BoolArray, hold: list[int]
) -> tuple[tuple[int, int], list[float]]:
    """First and last frame held, and the slides of one plant, while held and labelled."""
    kind, first, last, start, end, counts = hold
    runs = runs_of(held[start : end + 1, kind]) if counts else ()
    parts = [(start + a, start + b) for a, b in runs]
    found = [
        max(slide_of(points[a : b + 1, kind]) for a, b in spans)
        for spans in (parts or [(first, last)], [(first, last)])
        for points in (before, after)
    ]
    return ((parts[0][0], parts[-1][1]) if parts else (-1, -1)), found


def misses(
    before: FloatArray,
    after: FloatArray,
    held: BoolArray,
    places: FloatArray,
    ground: FloatArray,
    shift: FloatArray,
    missed: float,
) -> list[float]:
    """Frames that miss a place, the farthest miss, depths before and after, and the shift."""
    miss = np.where(held, np.linalg.norm(after - places, axis=-1), 0.0)
    deepest = [np.maximum(ground - points[..., 1], 0.0).max() for points in (before, after)]
    far = np.sum(shift**2, axis=-1).max()
    return [np.any(miss > missed, axis=1).sum(), miss.max(), *deepest, far]
