"""Ways through a graph, and its parts."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray


def shortest(steps: FloatArray, source: int) -> FloatArray:
    """Lengths (N,) of the shortest ways from a node, by steps (N, N) that are infinite if none."""
    found = np.where(np.arange(len(steps)) == source, 0.0, np.inf)
    for _ in range(len(steps)):
        found = np.minimum(found, (found[:, None] + steps).min(axis=0))
    return found


def same_part(steps: FloatArray) -> BoolArray:
    """Which nodes reach one another both ways. (N, N)."""
    reach = np.isfinite(steps) | np.eye(len(steps), dtype=bool)
    for _ in range(len(steps)):
        reach = (reach.astype(int) @ reach.astype(int)) > 0
    return np.asarray(reach & reach.T)
