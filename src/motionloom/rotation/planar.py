"""PlanarTransform: a turn about the up axis and a slide on the ground.

``T p = R(theta) p + (x0, z0)``, with ``x' = x cos + z sin``, ``z' = -x sin + z cos``; heights are
left alone. ``T_world_a @ T_a_b`` gives ``T_world_b``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._records import record
from motionloom.errors import ArrayError
from motionloom.rotation import quat


def wrap_angle(angle: FloatArray | float) -> FloatArray:
    """``angle`` in radians brought into (-pi, pi]."""
    return np.asarray(np.pi - (np.pi - np.asarray(angle, dtype=np.float64)) % (2.0 * np.pi))


@dataclass(frozen=True, slots=True, eq=False)
@record
class PlanarTransform:
    """Rigid motion of the ground plane; fields are scalars or arrays that broadcast.

    Attributes
    ----------
    theta : array | float
        Turn about +Y, radians; positive carries +Z towards +X.
    x0, z0 : array | float
        Shift along +X and +Z after the turn, metres.

    Examples
    --------
    >>> quarter = PlanarTransform(np.pi / 2, 1.0, 0.0)
    >>> quarter.apply(np.array([0.0, 0.9, 1.0])).round(6).tolist()
    [2.0, 0.9, 0.0]
    """

    theta: FloatArray | float
    x0: FloatArray | float
    z0: FloatArray | float

    @staticmethod
    def identity() -> PlanarTransform:
        """The transform that does not move anything.

        Returns
        -------
        PlanarTransform
            No turn and no shift.
        """
        return PlanarTransform(0.0, 0.0, 0.0)

    def apply(self, points: FloatArray) -> FloatArray:
        """World points (..., 3) turned and shifted; y untouched.

        Returns
        -------
        (..., 3) array
            The points afterwards.
        """
        if not isinstance(points, np.ndarray) or points.shape[-1:] != (3,):
            raise ArrayError(f"`points` must be an array of shape (..., 3), got {points!r:.80}.")
        cos, sin = np.cos(self.theta), np.sin(self.theta)
        x, z = points[..., 0], points[..., 2]
        return np.stack(
            np.broadcast_arrays(
                cos * x + sin * z + self.x0, points[..., 1], cos * z - sin * x + self.z0
            ),
            axis=-1,
        )

    def quat(self) -> FloatArray:
        """The turn as a quaternion (..., 4).

        Returns
        -------
        (..., 4) array
            Quaternions about the up axis, w first.
        """
        return quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), self.theta)

    def inverse(self) -> PlanarTransform:
        """The transform that undoes this one.

        Returns
        -------
        PlanarTransform
            ``t.inverse().apply(t.apply(x))`` is ``x``.
        """
        cos, sin = np.cos(self.theta), np.sin(self.theta)
        return PlanarTransform(
            -np.asarray(self.theta),
            -(cos * self.x0 - sin * self.z0),
            -(cos * self.z0 + sin * self.x0),
        )

    def __matmul__(self, other: PlanarTransform) -> PlanarTransform:
        cos, sin = np.cos(self.theta), np.sin(self.theta)
        return PlanarTransform(
            np.asarray(self.theta) + other.theta,
            cos * other.x0 + sin * other.z0 + self.x0,
            cos * other.z0 - sin * other.x0 + self.z0,
        )
