"""Rig: what the synthesis in the core needs to know of a skeleton, in plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import Record, record
from motionloom._elementary import norm
from motionloom.body.feet import SIDES, FootOffsets
from motionloom.body.knees import knees_of_pose
from motionloom.motion.kinematics import forward_kinematics
from motionloom.rotation import quat
from motionloom.tables.collection.frames import FloatArray32, Frames

__all__ = ["ROWS", "Rig", "Rows", "rig_of", "rows_of"]

SAMPLES = 400
"""Frames that tell which way knees bend."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The flat arrays of :class:`Frames`, as the core takes them."""

    heading: FloatArray
    """(R,)"""
    ground: FloatArray
    """(R, 2)"""
    quats: FloatArray32
    """(R, J, 4)"""
    body: FloatArray32
    """(R, J, 3)"""
    points: FloatArray32
    """(R, 4, 3)"""
    planted: BoolArray
    """(R, 4)"""

    @cached_property
    def record(self) -> Record:
        """For kernels; made once."""
        n_rows, n_joints = self.body.shape[:2]
        return record(
            "ml_rows",
            n_rows=n_rows,
            n_joints=n_joints,
            heading=self.heading,
            ground=self.ground,
            quats=self.quats,
            body=self.body,
            points=self.points,
            planted=self.planted,
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Addresses are of one process.
        return Rows, tuple(getattr(self, name) for name in ROWS)


ROWS = tuple(Rows.__dataclass_fields__)
"""Names of the arrays."""


@dataclass(frozen=True, eq=False)
class Rig:
    """Joints, legs and feet of a collection's skeleton."""

    parents: IntArray
    """(J,)"""
    offsets: FloatArray
    """Each joint in its parent, metres. (J, 3)"""
    chain: IntArray
    """Joints from the root down to both ankles, parents first. (C,)"""
    legs: IntArray
    """Hip, knee and ankle of the left and the right leg. (2, 3)"""
    soles: FloatArray
    """Heel and ball of each foot in its ankle's frame, metres. (2, 2, 3)"""
    poles: FloatArray
    """Where each knee points, in its hip joint's frame, unit. (2, 3)"""
    axes: FloatArray
    """About which each shank turns when its knee flexes, in its hip joint's frame, unit. (2, 3)"""

    @cached_property
    def record(self) -> Record:
        """For kernels; made once."""
        return record(
            "ml_leg_rig",
            n_joints=len(self.parents),
            n_chain=len(self.chain),
            parents=self.parents,
            offsets=self.offsets,
            chain=self.chain,
            legs=self.legs,
            soles=self.soles,
            poles=self.poles,
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Addresses are of one process.
        return Rig, tuple(getattr(self, name) for name in self.__dataclass_fields__)


def rows_of(frames: Frames) -> Rows:
    """The arrays of frames, without their mapping to files."""
    return Rows(*(np.asarray(getattr(frames, name)) for name in ROWS))


def rig_of(frames: Frames) -> Rig:
    """The rig of a collection, heels and the bend of knees read from its frames."""
    body, skeleton = frames.body_map, frames.skeleton
    roles = [f"{side}_{role}" for side in SIDES for role in ("hip", "knee", "ankle")]
    body.require(*roles, task="transitions")
    legs = np.array([getattr(body, role) for role in roles], dtype=np.int64).reshape(2, 3)
    chain = sorted({joint for leg in legs for joint in skeleton.chain(int(leg[2]))})
    at = np.unique(np.linspace(0, frames.n_rows - 1, SAMPLES).astype(np.int64))
    root = np.zeros((len(at), 3))
    root[:, 1] = frames.body[at, 0, 1]
    quats = quat.normalize(frames.quats[at].astype(np.float64))
    positions, world = forward_kinematics(skeleton, root, quats)
    soles = np.zeros((2, 2, 3))
    for side, ankle in enumerate(legs[:, 2]):
        for point in range(2):
            way = frames.points[at, 2 * side + point] - positions[:, ankle]
            seen = quat.rotate(quat.conjugate(world[:, ankle]), way)
            soles[side, point] = np.median(seen, axis=0)
    left, right = (_foot(int(leg[2]), sole) for leg, sole in zip(legs, soles, strict=True))
    knees = knees_of_pose(skeleton, body, (left, right), (positions, world))
    return Rig(
        np.array(skeleton.parents, dtype=np.int64),
        np.array(skeleton.offsets, dtype=np.float64),
        np.array(chain, dtype=np.int64),
        legs,
        soles,
        np.stack([knee.pole for knee in knees]),
        np.stack([knee.axis for knee in knees]),
    )


def _foot(ankle: int, sole: FloatArray) -> FootOffsets:
    """One foot by its heel and ball in the ankle's frame, as knees are found with."""
    ahead = sole[1] - sole[0]
    ahead = ahead / max(norm(ahead), 1e-9)
    nothing = np.zeros(3)
    return FootOffsets(ankle, None, sole[0], sole[1], nothing, nothing, ahead)
