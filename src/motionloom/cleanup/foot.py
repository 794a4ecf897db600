"""One foot of a motion with its leg, and what clean-up asks of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray
from motionloom.cleanup.holds import Hold
from motionloom.motion.body import BodyMap
from motionloom.motion.feet import SIDES
from motionloom.rotation import quat

__all__ = ["Foot", "hold_feet", "read_feet"]

NO_HOLDS: BoolArray = np.zeros((0, 2), dtype=bool)
NO_PLACES: FloatArray = np.zeros((0, 2, 3))


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
    bones: FloatArray
    """Length of thigh, of shank, and from hip to ankle. Shape (3, F)."""
    hinge: FloatArray
    """World axis about which the knee bends. Shape (F, 3)."""
    held: BoolArray = dataclasses.field(default_factory=lambda: NO_HOLDS)
    """Heel, ball. Shape (F, 2)."""
    places: FloatArray = dataclasses.field(default_factory=lambda: NO_PLACES)
    """Where heel and ball are to be while they are held. Shape (F, 2, 3)."""

    @property
    def standing(self) -> BoolArray:
        """Whether either point is held. Shape (F,)."""
        return np.asarray(self.held[:, 0] | self.held[:, 1])


def read_feet(
    body: BodyMap, pose: tuple[FloatArray, FloatArray], points: FloatArray
) -> tuple[Foot, Foot]:
    """Left and right foot, nothing held yet. ``points`` are heels and balls (F, 4, 3)."""
    positions, quats = pose

    def one(side: str, at: int) -> Foot:
        hip, knee, ankle = (getattr(body, f"{side}_{role}") for role in ("hip", "knee", "ankle"))
        bones, axis = _measure(positions, quats, hip, knee, ankle)
        return Foot(
            (hip, knee, ankle, getattr(body, f"{side}_toe")),
            np.ascontiguousarray(positions[:, hip]),
            np.ascontiguousarray(positions[:, knee]),
            np.ascontiguousarray(positions[:, ankle]),
            np.ascontiguousarray(points[:, at]),
            np.ascontiguousarray(points[:, at + 1]),
            bones,
            quat.rotate(quats[:, hip], axis),
        )

    return one(SIDES[0], 0), one(SIDES[1], 2)


def hold_feet(
    feet: tuple[Foot, Foot], holds: tuple[Hold, ...], places: FloatArray
) -> tuple[Foot, Foot]:
    """The feet with these holds, at ``places`` (N, 3)."""
    n_frames = len(feet[0].hip)
    held, stood = np.zeros((n_frames, 4), dtype=bool), np.zeros((n_frames, 4, 3))
    for hold, place in zip(holds, places, strict=True):
        held[hold.span[0] : hold.span[1] + 1, hold.kind] = True
        stood[hold.span[0] : hold.span[1] + 1, hold.kind] = place
    return (
        dataclasses.replace(feet[0], held=held[:, :2], places=stood[:, :2]),
        dataclasses.replace(feet[1], held=held[:, 2:], places=stood[:, 2:]),
    )


@njit(cache=True, error_model="numpy")
def _measure(
    positions: FloatArray, quats: FloatArray, hip: int, knee: int, ankle: int
) -> tuple[FloatArray, FloatArray]:
    """Bone lengths (3, F), and the knee's axis in the thigh (3,): the mean that it bends about."""
    n = len(positions)
    bones, axis, u, v = np.zeros((3, n)), np.zeros(3), np.zeros(3), np.zeros(3)
    for f in range(n):
        for c in range(3):
            u[c] = positions[f, knee, c] - positions[f, hip, c]
            v[c] = positions[f, ankle, c] - positions[f, knee, c]
            bones[0, f] += u[c] ** 2
            bones[1, f] += v[c] ** 2
            bones[2, f] += (u[c] + v[c]) ** 2
        nx = u[1] * v[2] - u[2] * v[1]
        ny = u[2] * v[0] - u[0] * v[2]
        nz = u[0] * v[1] - u[1] * v[0]
        # The normal as the thigh sees it: turned by the conjugate of its rotation.
        w, x, y, z = quats[f, hip, 0], -quats[f, hip, 1], -quats[f, hip, 2], -quats[f, hip, 3]
        tx, ty, tz = 2.0 * (y * nz - z * ny), 2.0 * (z * nx - x * nz), 2.0 * (x * ny - y * nx)
        axis[0] += nx + w * tx + y * tz - z * ty
        axis[1] += ny + w * ty + z * tx - x * tz
        axis[2] += nz + w * tz + x * ty - y * tx
    size = np.sqrt(axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
    if size > 1e-9:
        axis /= size
    else:  # a leg that is always straight shows no axis
        axis[0], axis[1], axis[2] = 1.0, 0.0, 0.0
    return np.sqrt(bones), axis
