"""Where along a curve its motions come round again, all of them together."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.features.pointcloud import point_cloud
from motionloom.registration.curve import RegistrationCurve
from motionloom.registration.distance import distance_grid

RATE = 30.0
SHORTEST_S = 0.5
FINEST = 8.0
"""Samples per frame at most, for clips of a few frames a second."""


def find_cycle(curve: RegistrationCurve) -> tuple[float, float]:
    """Parameters, in average frames, from which and to which the curve is best played round.

    At both all motions are in the same pose, as nearly as can be: the sum of their distances is
    smallest. Curves of motions that were cut into whole cycles keep their ends; where nothing
    comes round better than from end to end, the ends are kept too.
    """
    first, last = curve.u_range
    fps = curve.motions[0].fps
    n = max(3, round((last - first) * min(RATE / fps, FINEST)))
    u = np.linspace(first, last, n)
    frames = np.round(curve.frames(u)).astype(np.int64)
    total: FloatArray = np.zeros((n, n))
    for k, motion in enumerate(curve.motions):
        cloud = point_cloud(motion)
        points = cloud.points[frames[:, k]]
        total += distance_grid(points, points, cloud.weights, half_window=2).cost
    spacing = (last - first) / (n - 1) / fps  # seconds of the mean motion per sample
    shortest = max(2, round(SHORTEST_S / spacing))
    if shortest >= n:
        return first, last
    late = shortest > np.subtract.outer(np.arange(n), np.arange(n)).T
    cost = np.where(late, np.inf, total)
    best = float(cost.min())
    # Ends that close as well as anything inside, but for what the eye can tell, are kept.
    if total[0, n - 1] <= 1.5 * best + len(curve.motions) * 0.02**2:
        return first, last
    start, stop = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return float(u[start]), float(u[stop])
