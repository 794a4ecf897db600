"""Where held points stand."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.cleanup.legs import Hold

SWEEPS = 20


def fit_targets(
    holds: tuple[Hold, ...], points: FloatArray, velocities: FloatArray, near: float
) -> tuple[FloatArray, FloatArray]:
    """The plain form of :func:`fit_targets`; ``near`` in frames."""
    places = np.zeros((len(holds), 3))
    tracks = [points[hold.span[0] : hold.span[1] + 1, hold.kind] for hold in holds]
    for i, hold in enumerate(holds):
        v = velocities[hold.span[0] : hold.span[1] + 1, hold.kind]
        places[i] = np.average(tracks[i], axis=0, weights=1.0 / (1.0 + np.sum(v**2, -1) / 0.05**2))
    for foot in (0, 1):
        sole = points[:, 2 * foot + 1] - points[:, 2 * foot]
        length = float(np.median(np.linalg.norm(sole, axis=-1)))
        mine = [i for i in range(len(holds)) if holds[i].kind // 2 == foot]
        mine.sort(key=lambda i: holds[i].span)
        for sweep in range(SWEEPS + 1):
            for a, i in enumerate(mine):
                for j in mine[a + 1 :]:
                    gap = holds[j].span[0] - holds[i].span[1]
                    if gap > near and holds[i].kind == holds[j].kind:
                        break
                    if gap <= near:
                        _settle(places, holds, points, i, j, length, near, sweep)
    strays = [np.linalg.norm(t - p, axis=-1).max() for t, p in zip(tracks, places, strict=True)]
    return places, np.array(strays)


def _settle(
    places: FloatArray,
    holds: tuple[Hold, ...],
    points: FloatArray,
    i: int,
    j: int,
    length: float,
    near: float,
    sweep: int,
) -> None:
    """Move two places towards the distance that the foot, or the step between them, has."""
    one, other = holds[i], holds[j]
    gap, way = other.span[0] - one.span[1], places[j] - places[i]
    if gap <= 0 and one.kind == other.kind:
        return
    if gap > 0:
        if 2 * sweep >= SWEEPS:
            return
        step = points[other.span[0], other.kind] - points[one.span[1], one.kind]
        excess = (way - step) * (1.0 - (gap - 1.0) / near)
    else:
        excess = way * (1.0 - length / max(np.linalg.norm(way), 1e-12))
        if sweep == SWEEPS:
            places[j] -= excess
            return
    share = other.n_frames / (one.n_frames + other.n_frames)
    places[i] += share * excess
    places[j] -= (1.0 - share) * excess
