"""What standing feet move by in their windows: added to where they are held, and to the root."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tests.oracles.passage import QUICK_S, eased, slope

MEAN_S, SUPPORT, SEAM_S = 0.45, 0.15, 8 / 60


def over_ground(rows, row: int, point: int) -> np.ndarray:
    """A foot point in its clip's world."""
    x, y, z = rows.points[row, point].astype(np.float64)
    cos, sin = np.cos(rows.heading[row]), np.sin(rows.heading[row])
    ground = rows.ground[row]
    return np.array([ground[0] + cos * x + sin * z, y, ground[1] + cos * z - sin * x])


def turned(vector: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = vector
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([cos * x + sin * z, y, cos * z - sin * x])


def step_of(rows, side: int, at, weights, psi, t: int) -> np.ndarray | None:
    """Step of a foot in the weightiest window in which it stands."""
    for i in np.argsort(-weights[:, t], kind="stable"):
        first, second = int(at[t - 1, i]), int(at[t, i])
        if weights[i, t] <= 0.0 or first == second:
            continue
        for point in (2 * side + 1, 2 * side):
            if rows.planted[first, point] and rows.planted[second, point]:
                way = over_ground(rows, second, point) - over_ground(rows, first, point)
                return turned(way, psi[t - 1] - rows.heading[first])
    return None


def runs(held) -> list[tuple[int, int]]:
    edges = [0, *(np.flatnonzero(np.diff(held)) + 1), len(held)]
    return [(a, b - 1) for a, b in pairwise(edges) if held[a] >= 0]


def add_sway(rows, side: int, at, weights, psi, fps: float, held, foot, places) -> np.ndarray:
    """Places (L, 3) of a held foot that moves as in its window."""
    places, last = np.array(places), len(held) - 1
    for a, b in runs(held):
        steps = [step_of(rows, side, at, weights, psi, t) for t in range(a + 1, b + 1)]
        steps = [np.zeros(3), *(np.zeros(3) if step is None else step for step in steps)]
        sway = np.cumsum(steps, axis=0)
        mean, reached = sway.mean(axis=0), sway[-1]
        start = 0.0 * mean if a == 0 else reached if b == last else mean
        end = reached if b == last else 0.0 * mean if a == 0 else mean
        u = np.linspace(0.0, 1.0, b - a + 1)[:, None]
        places[a : b + 1] += sway - start - u * (end - start)
        for seam, towards in ((0, 1), (last, -1)):
            if not a <= seam <= b or b - a < 2:
                continue
            offsets = places - foot
            quick = min(QUICK_S * fps, b - a)
            part = slope(np.abs(np.arange(a, b + 1) - seam), quick) / slope(1.0, quick)
            places[a : b + 1] -= np.outer(part, offsets[seam + towards] - offsets[seam])
    return places


def follow_feet(rows, at, weights, psi, fps: float, part: float, points, root) -> np.ndarray:
    """Root (L, 3) that does a part of what standing feet ask for."""
    length = len(psi)
    asks = np.zeros((length, 3))
    for t in range(1, length):
        for side in range(2):
            step = step_of(rows, side, at, weights, psi, t)
            if step is not None:
                own = points[t, 2 * side + 1] - points[t - 1, 2 * side + 1]
                both = (
                    rows.planted[at[t - 1], 2 * side : 2 * side + 2]
                    & (rows.planted[at[t], 2 * side : 2 * side + 2])
                )
                stands = max(0.0, 4.0 * weights[both.any(axis=1), t].sum() - 3.0)
                asks[t] += stands * np.array([*(step - own)[[0, 2]], 1.0])
    t, half = np.arange(1, length), int(MEAN_S * fps)
    parts = np.maximum(1.0 - np.square(np.subtract.outer(t, t) / (half + 1)), 0.0) ** 2
    sums = parts @ asks[1:]
    ends = eased(np.minimum(t, length - t) / (SEAM_S * fps))
    share = part * ends / (sums[:, 2] + SUPPORT * parts.sum(axis=1))
    moved = np.array(root)
    moved[1:, [0, 2]] += np.cumsum(share[:, None] * sums[:, :2], axis=0)
    return moved
