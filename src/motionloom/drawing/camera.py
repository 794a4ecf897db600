"""Camera: world points to a picture's plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from motionloom._arrays import FloatArray, one_of
from motionloom.motion.motion import Motion

View = Literal["side", "front", "top", "three-quarter"]
VIEWS: tuple[View, ...] = get_args(View)

TRAVEL_M = 0.6
"""A root that ends nearer than this to its start is taken not to travel."""


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A point of view: three axes, the point looked at, and how far the eye is from it."""

    right: FloatArray
    """World direction that goes to the right in the picture. Shape (3,)."""
    up: FloatArray
    toward: FloatArray
    """World direction towards the eye."""
    target: FloatArray
    distance: float = np.inf
    """From the eye to the target, metres; infinite for a drawing without perspective."""

    def project(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Picture coordinates (..., 2), nearness (...) and scale (...) of world points (..., 3).

        Picture coordinates are metres at the target's depth, y upwards; nearness grows towards
        the eye; scale is by how much lengths at that depth are drawn larger.
        """
        seen = points - self.target
        near = seen @ self.toward
        if np.isinf(self.distance):
            scale = np.ones_like(near)
        else:
            # Nothing is ever closer to the eye than a tenth of the distance: no division by zero.
            scale = self.distance / np.maximum(self.distance - near, 0.1 * self.distance)
        flat = np.stack([seen @ self.right, seen @ self.up], axis=-1)
        return flat * scale[..., None], near, scale

    def at(self, target: FloatArray) -> Camera:
        """The same view of another point."""
        return Camera(self.right, self.up, self.toward, target, self.distance)


def camera_for(
    heading: float, view: View, *, target: FloatArray | None = None, distance: float = np.inf
) -> Camera:
    """The camera that shows someone who faces ``heading`` from the side, front, top or between.

    From the side and from the top, the heading points to the right in the picture.
    """
    one_of(view, VIEWS, "view")
    ahead = np.array([np.sin(heading), 0.0, np.cos(heading)])
    above = np.array([0.0, 1.0, 0.0])
    toward = {
        "side": np.cross(ahead, above),
        "front": ahead,
        "top": above,
        "three-quarter": 0.72 * np.cross(ahead, above) + 0.58 * ahead + 0.34 * above,
    }[view]
    toward = toward / np.linalg.norm(toward)
    right = ahead if view == "top" else np.cross(above, toward)
    right = right / np.linalg.norm(right)
    centre = np.zeros(3) if target is None else np.asarray(target, dtype=np.float64)
    return Camera(right, np.cross(toward, right), toward, centre, distance)


def travel_heading(motion: Motion) -> float:
    """Heading in which the clip goes, radians; where it stays in place, the one it faces."""
    from motionloom.body.body_map import facing
    from motionloom.errors import SkeletonMismatchError

    way = motion.root_positions[-1] - motion.root_positions[0]
    if np.hypot(way[0], way[2]) >= TRAVEL_M:
        return float(np.arctan2(way[0], way[2]))
    try:
        return float(np.median(facing(motion)))
    except SkeletonMismatchError:  # a thing without hips and shoulders faces nowhere
        return 0.0
