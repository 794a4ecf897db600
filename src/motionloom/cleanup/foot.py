"""One foot of a motion, and what clean-up asks of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.cleanup.holds import Hold
from motionloom.motion.body import BodyMap
from motionloom.motion.feet import SIDES
from motionloom.rotation import quat

__all__ = ["Foot", "read_feet"]


@dataclass(frozen=True, slots=True, eq=False)
class Foot:
    """Joints of a leg, where they are, and where heel and ball are held. Metres, world."""

    joints: tuple[int, int, int, int | None]
    """Hip, knee, ankle, and the toe joint where there is one."""
    hip: FloatArray
    knee: FloatArray
    ankle: FloatArray
    heel: FloatArray
    ball: FloatArray
    """Where these are in the motion that came in. Shapes (F, 3)."""
    hinge: FloatArray
    """World axis about which the knee bends. Shape (F, 3)."""
    held: BoolArray
    """Heel, ball. Shape (F, 2)."""
    places: FloatArray
    """Where heel and ball are to be while they are held. Shape (F, 2, 3)."""

    @property
    def standing(self) -> BoolArray:
        """Whether either point is held. Shape (F,)."""
        return np.asarray(self.held[:, 0] | self.held[:, 1])


def read_feet(
    body: BodyMap,
    pose: tuple[FloatArray, FloatArray],
    points: FloatArray,
    holds: tuple[Hold, ...],
    places: FloatArray,
) -> tuple[Foot, Foot]:
    """Left and right foot. ``points`` (F, 4, 3), ``places`` one row per hold."""
    positions, quats = pose
    n_frames = len(positions)
    held, stood = np.zeros((n_frames, 4), dtype=bool), np.zeros((n_frames, 4, 3))
    for hold, place in zip(holds, places, strict=True):
        span = slice(hold.span[0], hold.span[1] + 1)
        held[span, hold.kind] = True
        stood[span, hold.kind] = place

    def one(side: str, at: int) -> Foot:
        hip, knee, ankle = (getattr(body, f"{side}_{role}") for role in ("hip", "knee", "ankle"))
        return Foot(
            (hip, knee, ankle, getattr(body, f"{side}_toe")),
            positions[:, hip],
            positions[:, knee],
            positions[:, ankle],
            points[:, at],
            points[:, at + 1],
            _hinge(positions, quats, hip, knee, ankle),
            held[:, at : at + 2],
            stood[:, at : at + 2],
        )

    return one(SIDES[0], 0), one(SIDES[1], 2)


def _hinge(positions: FloatArray, quats: FloatArray, hip: int, knee: int, ankle: int) -> FloatArray:
    """The knee's axis: fixed in the thigh, the mean of those it bends about. Shape (F, 3)."""
    upper, lower = positions[:, knee] - positions[:, hip], positions[:, ankle] - positions[:, knee]
    normals = quat.rotate(quat.conjugate(quats[:, hip]), np.cross(upper, lower))
    axis = normals.sum(axis=0)
    length = float(np.linalg.norm(axis))
    axis = axis / length if length > 1e-9 else np.array([1.0, 0.0, 0.0])
    return quat.rotate(quats[:, hip], axis)
