"""Silhouettes: the outline of balls seen together, which is how limbs get their taper."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray

DIRECTIONS = 28
"""Corners of an outline: enough that a head looks round at poster size."""

_ANGLES = np.arange(DIRECTIONS) * (2.0 * np.pi / DIRECTIONS)
_RAYS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=-1)  # (K, 2)


def ball_hull(centres: FloatArray, radii: FloatArray) -> FloatArray:
    """Corners (K, 2) of the convex outline around discs.

    In each direction the outline touches the disc that reaches farthest; two discs of different
    size give a tapered capsule, and more of them a torso or a foot.

    Parameters
    ----------
    centres : (N, 2)
        Middles of the discs.
    radii : (N,)
        In the same unit.

    Examples
    --------
    >>> outline = ball_hull(np.array([[0.0, 0.0], [3.0, 0.0]]), np.array([1.0, 0.5]))
    >>> float(outline[:, 0].min()), float(outline[:, 0].max())
    (-1.0, 3.5)
    """
    reach = centres @ _RAYS.T + radii[:, None]  # (N, K)
    farthest = np.argmax(reach, axis=0)
    corners: FloatArray = centres[farthest] + radii[farthest, None] * _RAYS
    return corners
