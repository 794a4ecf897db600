"""Targets: where each held point is to stand."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.cleanup.holds import Hold

__all__ = ["fit_targets"]

STILL = 0.05
"""A point at this speed counts half as much as one at rest, m/s."""
NEAR_S = 0.12
"""Holds of one foot closer in time than this are placed together."""
SWEEPS = 20


def fit_targets(
    holds: tuple[Hold, ...],
    points: FloatArray,
    velocities: FloatArray,
    fps: float,
) -> FloatArray:
    """One place per hold, metres. Shape (N, 3).

    A place is the mean of the point over the whole hold, height included, where frames at rest
    count most: what stands already stays where it is. Heel and ball that are held together get
    places exactly as far apart as they are in the foot. Holds of one foot that follow each other
    within a short time are drawn towards the step between them that the motion has, so that the
    foot need not jump in the gap.

    Parameters
    ----------
    holds
        N of them, of both feet.
    points, velocities : (F, 4, 3)
        Heels and balls in the world, metres and metres a second.
    fps
        Frames per second.
    """
    places = np.zeros((len(holds), 3))
    for i, hold in enumerate(holds):
        here = slice(hold.span[0], hold.span[1] + 1)
        speed2 = np.sum(velocities[here, hold.kind] ** 2, axis=-1)
        weight = 1.0 / (1.0 + speed2 / STILL**2)
        places[i] = weight @ points[here, hold.kind] / weight.sum()
    for foot in (0, 2):
        mine = [i for i, hold in enumerate(holds) if hold.kind in (foot, foot + 1)]
        mine.sort(key=lambda i: holds[i].span)
        _settle(places, mine, holds, points, NEAR_S * fps)
    return places


def _settle(
    places: FloatArray,
    mine: list[int],
    holds: tuple[Hold, ...],
    points: FloatArray,
    near: float,
) -> None:
    """Move the places of one foot until those held together fit the rigid foot."""
    rods, steps = [], []
    for a, i in enumerate(mine):
        for j in mine[a + 1 :]:
            gap = holds[j].span[0] - min(holds[i].span[1], holds[j].span[1])
            if gap > near:
                break
            if gap <= 0 and holds[i].kind != holds[j].kind:
                f = holds[j].span[0]
                last = min(holds[i].span[1], holds[j].span[1])
                apart = points[f : last + 1, holds[i].kind] - points[f : last + 1, holds[j].kind]
                rods.append((i, j, float(np.median(np.linalg.norm(apart, axis=-1)))))
            elif gap > 0:
                step = (
                    points[holds[j].span[0], holds[j].kind]
                    - points[holds[i].span[1], holds[i].kind]
                )
                steps.append((i, j, step, 1.0 - (gap - 1.0) / near))
    for sweep in range(SWEEPS):
        for i, j, step, strength in steps:
            if sweep < SWEEPS // 2:
                _share(places, holds, i, j, strength * (places[j] - places[i] - step))
        for i, j, length in rods:
            way = places[j] - places[i]
            now = float(np.linalg.norm(way))
            if now > 0.0:
                _share(places, holds, i, j, (1.0 - length / now) * way)
    # The sweeps come near; a last pass from hold to hold makes every rod exact.
    for i, j, length in rods:
        way = places[j] - places[i]
        places[j] = places[i] + way * (length / max(float(np.linalg.norm(way)), 1e-12))


def _share(places: FloatArray, holds: tuple[Hold, ...], i: int, j: int, excess: FloatArray) -> None:
    """Take ``excess`` out of the way from i to j; the shorter hold moves more."""
    a, b = holds[i].n_frames, holds[j].n_frames
    places[i] += excess * (b / (a + b))
    places[j] -= excess * (a / (a + b))
