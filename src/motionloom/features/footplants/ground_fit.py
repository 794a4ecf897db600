"""The ground that contacts show: one plane where they lie on one, else a floor per plant."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.motion.contacts import runs_of

FLAT_M = 0.025
"""Plants that all lie this near one plane lie on flat ground; the lowest stair is 10 cm."""
STEEPEST = 0.15
"""Rise per metre of the steepest plane; even stairs lie on one, but on a steeper."""
LEVEL_M = 1.0
"""Contacts spread over less than this tell little about a slope, so it is kept small."""


def fit_contact_heights(points: FloatArray, planted: BoolArray) -> tuple[FloatArray, bool]:
    """Height of the ground under every point in every frame, and whether it is one plane.

    Heels and balls of both feet keep their own height over the plane. Where plants lie on
    steps, the ground under a planted point is that plant's own height, and between two plants the
    lower of both.

    Parameters
    ----------
    points : (F, P, 3)
        World, metres.
    planted : (F, P)
        When each is on the ground.

    Returns
    -------
    heights : (F, P)
        Metres; nan for points that are never planted and, on steps, before the first plant and
        after the last.
    flat : bool
        Whether one plane fits.
    """
    plants = [
        (p, first, last) for p in range(planted.shape[1]) for first, last in runs_of(planted[:, p])
    ]
    heights = np.full(planted.shape, np.nan)
    if not plants:
        return heights, True
    kind = np.array([p for p, _, _ in plants])
    places = np.array([np.median(points[a : b + 1, p], axis=0) for p, a, b in plants])
    slope, level = _fit_plane(kind, places, planted.shape[1])
    residual = places[:, 1] - level[kind] - places[:, [0, 2]] @ slope
    if np.abs(residual).max() <= FLAT_M and np.linalg.norm(slope) <= STEEPEST:
        seen = np.isin(np.arange(planted.shape[1]), kind)
        heights[:, seen] = level[seen] + points[:, seen][..., [0, 2]] @ slope
        return heights, True
    for p in np.unique(kind):
        own = [(a, b, y) for (q, a, b), y in zip(plants, places[:, 1], strict=True) if q == p]
        heights[:, p] = _steps(own, len(points))
    return heights, False


def _fit_plane(kind: np.ndarray, places: FloatArray, n_kinds: int) -> tuple[FloatArray, FloatArray]:
    """Slope (2,) along x and z, and level (P,) of every kind, by least squares."""
    ground = places[:, [0, 2]]
    centre = ground.mean(axis=0)
    columns = np.concatenate([np.eye(n_kinds)[kind], ground - centre], axis=1)
    # A ridge on the slope only: across a straight path nothing else would hold it.
    ridge = np.diag([1e-9] * n_kinds + [LEVEL_M**2 * 0.1] * 2)
    solution = np.linalg.solve(columns.T @ columns + ridge, columns.T @ places[:, 1])
    slope = solution[n_kinds:]
    return slope, solution[:n_kinds] - centre @ slope


def _steps(plants: list[tuple[int, int, float]], n_frames: int) -> FloatArray:
    """Ground under one point that goes from plant to plant over steps. Shape (F,).

    Before the first plant and after the last it is not known.
    """
    heights = np.full(n_frames, np.nan)
    for (_, before, low), (after, _, high) in pairwise(plants):
        heights[before + 1 : after] = min(low, high)
    for first, last, height in plants:
        heights[first : last + 1] = height
    return heights
