"""How the root is shifted."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from tests.oracles.blend_off import spread_smoothly

TREMBLE, RIDGE = 0.004, 0.1


def _onto_ball(x: FloatArray, centre: FloatArray, radius: float) -> FloatArray:
    way = x - centre
    far = np.sqrt(way[0] ** 2 + way[1] ** 2 + way[2] ** 2)
    return x if far <= radius else centre + way * (radius / far)


def project_two_balls(c1: FloatArray, r1: float, c2: FloatArray, r2: float) -> FloatArray:
    """The point nearest the origin that lies in both balls. Shape (3,).

    Where the balls do not meet, the point between them that misses both by the same amount.
    """
    slack = 1e-12
    origin = np.zeros(3)
    first = _onto_ball(origin, c1, r1)
    if np.sqrt(np.sum((first - c2) ** 2)) <= r2 + slack:
        return first
    second = _onto_ball(origin, c2, r2)
    if np.sqrt(np.sum((second - c1) ** 2)) <= r1 + slack:
        return second
    way = c2 - c1
    apart = np.sqrt(np.sum(way**2))
    if apart <= slack:
        return first
    axis = way / apart
    if apart >= r1 + r2:
        between: FloatArray = c1 + axis * (r1 + 0.5 * (apart - r1 - r2))
        return between
    along = (apart * apart + r1 * r1 - r2 * r2) / (2.0 * apart)
    middle = c1 + axis * along
    ring = np.sqrt(max(r1 * r1 - along * along, 0.0))
    side = -middle - axis * np.sum(-middle * axis)
    size = np.sqrt(np.sum(side**2))
    if size <= slack:  # the origin is on the axis: any point of the ring is as near
        k = np.argmin(np.abs(axis))
        unit = np.zeros(3)
        unit[k] = 1.0
        side = unit - axis * axis[k]
        size = np.sqrt(np.sum(side**2))
    point: FloatArray = middle + side * (ring / size)
    return point


def least_shift(
    hips: FloatArray, ankles: FloatArray, reach: FloatArray, held: BoolArray
) -> FloatArray:
    """The plain form of :func:`least_shift`."""
    n = len(hips)
    shifts = np.zeros((n, 3))
    for f in range(n):
        within = True
        for k in range(2):
            square = 0.0
            for c in range(3):
                square += (ankles[f, k, c] - hips[f, k, c]) ** 2
            within = within and (not held[f, k] or square <= reach[f, k] ** 2)
        if within:
            continue
        left, right = ankles[f, 0] - hips[f, 0], ankles[f, 1] - hips[f, 1]
        if held[f, 0] and held[f, 1]:
            shifts[f] = project_two_balls(left, reach[f, 0], right, reach[f, 1])
        elif held[f, 0]:
            shifts[f] = _onto_ball(np.zeros(3), left, reach[f, 0])
        elif held[f, 1]:
            shifts[f] = _onto_ball(np.zeros(3), right, reach[f, 1])
    return shifts


def drop(
    hips: FloatArray,
    targets: FloatArray,
    reach: FloatArray,
    held: BoolArray,
    shifts: FloatArray,
    most: float,
) -> FloatArray:
    """How much lower hips must be, metres. Shape (F,)."""
    gap = hips + shifts[:, None] - targets
    flat = gap[..., 0] ** 2 + gap[..., 2] ** 2
    low = gap[..., 1] - np.sqrt(np.maximum(reach**2 - flat, 0.0))
    return np.asarray(np.where(held, np.clip(low, 0.0, most), 0.0).max(axis=1))


def still_legs(
    hips: FloatArray,
    targets: FloatArray,
    spans: FloatArray,
    pull: FloatArray,
    half: int,
) -> FloatArray:
    """The plain form of :func:`still_legs`."""
    way = targets - hips
    span = np.sqrt(np.sum(way * way, axis=-1))
    change = span - spans
    rough = change - spread_smoothly(change, half)
    rough = rough / (1.0 + (rough / TREMBLE) ** 2) * pull
    along = way / np.maximum(span, 1e-9)[..., None]
    # The least shift s with along_k . s = rough_k for the legs that count: 2 x 2 equations.
    cross = np.sum(along[:, 0] * along[:, 1], axis=-1) * np.all(pull > 0.0, axis=1)
    own = 1.0 + RIDGE
    left = (own * rough[:, 0] - cross * rough[:, 1]) / (own * own - cross * cross)
    right = (own * rough[:, 1] - cross * rough[:, 0]) / (own * own - cross * cross)
    return np.asarray(left[:, None] * along[:, 0] + right[:, None] * along[:, 1])
