"""The start of an action: its first frame that is in phase with the locomotion's first."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.registration.timewarp import TimePath, find_end_path

LINGER_M = 0.02
"""Added to every distance, so that where the clips have no step in common, or stand, the action
keeps its own rate."""
START_S, AHEAD_S = 1.5, 2.0
"""The action may start so many seconds late to be in phase, judged by so many seconds after it."""
LEFT, LEFT_S = 0.6, 0.8
"""Share and seconds of the action that a late start must leave."""
NEARLY = 1.25
"""An earlier start is taken if the clips are in step that nearly as well as from the best."""


def open_path(cost: FloatArray) -> TimePath:
    """The path from the first frames of both clips to an open end."""
    least = min(cost.shape) // 2
    return find_end_path(cost + LINGER_M**2, slope_limit=1, at_least=max(least, 2), per_frame=True)


def first_in_phase(cost: FloatArray, distance: FloatArray, fps: float) -> int:
    """Frame of the action that meets the locomotion's first frame.

    The first frame that is nearer than its neighbours can be half a stride off, because legs that
    pass each other look alike. So the next ones are tried too, and the first of them is taken
    from which both clips go on nearly as well in step as from the best.

    Parameters
    ----------
    cost : (n, m)
        Distances between frames of locomotion and action.
    distance : (m,)
        Distances of the locomotion's first frame alone.
    fps
        Their rate.
    """
    m, ahead = len(distance), round(AHEAD_S * fps)
    latest = min(START_S * fps, m - max(LEFT * m, LEFT_S * fps))
    starts = [k for k in _nearest(distance) if k <= latest]
    if len(starts) < 2:
        return _nearest(distance)[0]
    means = []
    for start in starts:
        path = open_path(cost[:ahead, start : start + ahead])
        means.append(path.cost / (path.cells[-1].sum() + 2))
    return next(k for k, mean in zip(starts, means, strict=True) if mean <= NEARLY * min(means))


def _nearest(distance: FloatArray) -> list[int]:
    """Frames that are nearer than their neighbours; the nearest of all where there is none."""
    inner = range(len(distance) - 1)
    near = [
        k
        for k in inner
        if distance[k] < distance[k + 1] and (k == 0 or distance[k] <= distance[k - 1])
    ]
    return near or [int(np.argmin(distance))]
