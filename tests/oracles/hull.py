"""Hulls of soles, and distances from them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray


def hull_distance(corners: npt.ArrayLike, x: float, z: float) -> float:
    """Distance from a convex polygon whose corners go round from +x to +z. In double precision."""
    a = np.asarray(corners, dtype=np.float64)
    edge, to = np.roll(a, -1, axis=0) - a, np.array([x, z]) - a
    if len(a) > 2 and (edge[:, 0] * to[:, 1] - edge[:, 1] * to[:, 0] >= 0.0).all():
        return 0.0
    along = (edge * to).sum(axis=1) / np.maximum((edge**2).sum(axis=1), 1e-30)
    return float(np.linalg.norm(to - np.clip(along, 0.0, 1.0)[:, None] * edge, axis=1).min())


def sole_corners(plant: FloatArray, sole: FloatArray) -> FloatArray:
    """Corners (4, 2) of the sole of a plant (4,): heel then tip, to either side."""
    ball, ahead = plant[:2], plant[2:]
    across = np.array([-ahead[1], ahead[0]])
    return np.array(
        [ball + end * ahead + side * sole[2] * across for end in (-sole[0], sole[1])
         for side in (-1.0, 1.0)]
    )  # fmt: skip
