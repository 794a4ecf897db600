"""A robot as a skeleton, one skeleton joint per hinge or slide, and ``qpos`` as a motion of it.

A body with three hinges becomes three joints, each of which turns about one axis: blending two
angles of a hinge is then blending two rotations about one axis, and stays on it. A slide becomes
a joint that moves along its axis. Bodies without joints become joints that never turn. Z up and
metres, as in MuJoCo.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._records import record
from motionloom.errors import ArrayError, FormatError
from motionloom.formats.robots.mjcf import SIZES, Mjcf, MjcfJoint
from motionloom.formats.text import unique_names
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

_UNIT = 1e-2
"""How far from unit length a quaternion of ``qpos`` may be."""


@dataclass(frozen=True, eq=False)
@record
class RobotTree:
    """The skeleton of a model, and where each joint's numbers are."""

    model: Mjcf
    skeleton: Skeleton
    joint_of: tuple[int, ...]
    """Skeleton joint of every joint of the model; the root for a free joint."""
    body_joint: tuple[int, ...]
    """Skeleton joint that carries each body: its last one."""
    body_place: FloatArray
    """Origin of each body in that joint's frame. Shape (B, 3)."""

    @cached_property
    def columns(self) -> tuple[slice, ...]:
        """Columns of ``qpos`` of every joint of the model."""
        return _slices([SIZES[joint.type][0] for joint in self.model.joints])

    @cached_property
    def velocity_columns(self) -> tuple[slice, ...]:
        """Columns of ``qvel`` of every joint of the model."""
        return _slices([SIZES[joint.type][1] for joint in self.model.joints])

    @property
    def n_qpos(self) -> int:
        """Width of ``qpos``."""
        return int(self.columns[-1].stop)

    @property
    def n_qvel(self) -> int:
        """Width of ``qvel``."""
        return int(self.velocity_columns[-1].stop)

    @property
    def slides(self) -> bool:
        """Whether a joint of the model is a slide."""
        return any(joint.type == "slide" for joint in self.model.joints)

    @classmethod
    def of(cls, model: Mjcf) -> RobotTree:
        """The tree of a model with one body at the top."""
        if model.parents.count(-1) != 1:
            tops = [
                name for name, above in zip(model.names, model.parents, strict=True) if above < 0
            ]
            raise FormatError(
                f"A robot must have one body at the top, got {len(tops)}: {', '.join(tops[:4])}.",
                fix="Pass the file of the robot alone, without its scene.",
            )
        return _Builder(model).tree()

    def motion(self, qpos: FloatArray, fps: float) -> Motion:
        """The motion of a checked ``qpos`` (F, n_qpos)."""
        n_frames = len(qpos)
        skeleton = self.skeleton
        quats = np.tile(skeleton.rest_quats, (n_frames, 1, 1))
        roots = np.tile(skeleton.offsets[0], (n_frames, 1))
        places = np.tile(skeleton.offsets, (n_frames, 1, 1)) if self.slides else None
        for joint, at, columns in zip(self.model.joints, self.joint_of, self.columns, strict=True):
            values = qpos[:, columns]
            if joint.type == "free":
                roots, quats[:, at] = values[:, :3], _units(values[:, 3:], joint)
            elif joint.type == "ball":
                turn = _units(values, joint)
                quats[:, at] = quat.multiply(skeleton.rest_quats[at], turn)
            elif places is not None and joint.type == "slide":
                way = quat.rotate(skeleton.rest_quats[at], joint.axis)
                places[:, at] += (values - joint.reference) * way
            else:
                turn = quat.from_axis_angle(joint.axis, values[:, 0] - joint.reference)
                quats[:, at] = quat.multiply(skeleton.rest_quats[at], turn)
        return Motion(skeleton, roots, quat.make_continuous(quats), fps, places)

    def body_pose(self, motion: Motion) -> tuple[FloatArray, FloatArray]:
        """Every body in the world: origins (F, B, 3) and rotations (F, B, 4)."""
        places, turns = motion.world_pose()
        carried = list(self.body_joint)
        return places[:, carried] + quat.rotate(turns[:, carried], self.body_place), turns[
            :, carried
        ]


def _slices(widths: list[int]) -> tuple[slice, ...]:
    stops = np.cumsum(widths).tolist()
    return tuple(slice(stop - width, stop) for stop, width in zip(stops, widths, strict=True))


def _units(values: FloatArray, joint: MjcfJoint) -> FloatArray:
    lengths = np.linalg.norm(values, axis=1)
    if len(lengths) and not np.abs(lengths - 1.0).max() < _UNIT:
        frame = int(np.abs(lengths - 1.0).argmax())
        raise ArrayError(
            f"`qpos` must hold unit quaternions, got one of length {lengths[frame]:.4g} for joint "
            f"{joint.name!r} at frame {frame}. Check the columns and the order (w, x, y, z)."
        )
    units: FloatArray = values / lengths[:, None]
    return units


class _Builder:
    def __init__(self, model: Mjcf) -> None:
        self.model = model
        self.names: list[str] = []
        self.parents: list[int] = []
        self.offsets: list[FloatArray] = []
        self.turns: list[FloatArray] = []
        self.joint_of: dict[int, int] = {}
        self.body_joint: list[int] = []
        self.body_place: list[FloatArray] = []

    def tree(self) -> RobotTree:
        model = self.model
        numbers: dict[int, list[int]] = {}
        for number, joint in enumerate(model.joints):
            numbers.setdefault(joint.body, []).append(number)
        for body, parent in enumerate(model.parents):
            self._body(body, parent, numbers.get(body, []))
        names = unique_names(self.names)[0]
        leaves = [j for j in range(len(names)) if j not in self.parents]
        skeleton = Skeleton(
            tuple(names),
            np.array(self.parents),
            np.array(self.offsets),
            np.array(self.turns),
            end_parents=np.array(leaves, dtype=np.int64),
            end_offsets=np.zeros((len(leaves), 3)),
        )
        joint_of = tuple(self.joint_of[number] for number in range(len(model.joints)))
        bodies = tuple(self.body_joint)
        return RobotTree(model, skeleton, joint_of, bodies, np.array(self.body_place))

    def _body(self, body: int, parent: int, joints: list[int]) -> None:
        model = self.model
        above = -1 if parent < 0 else self.body_joint[parent]
        # Of the body's frame, in the frame of the joint above.
        place = model.places[body] + (0.0 if parent < 0 else self.body_place[parent])
        turn = model.turns[body]
        anchor = np.zeros(3)
        free = joints and model.joints[joints[0]].type == "free"
        if not joints or free or above < 0:
            self._add(model.names[body], above, place, turn)
            above, place, turn = len(self.names) - 1, np.zeros(3), np.array(quat.IDENTITY)
            if free:
                self.joint_of[joints[0]] = above
                joints = joints[1:]
        for number in joints:
            joint = model.joints[number]
            step = joint.anchor - anchor
            self._add(joint.name, above, place + quat.rotate(turn, step), turn)
            above, place, turn = len(self.names) - 1, np.zeros(3), np.array(quat.IDENTITY)
            self.joint_of[number] = above
            anchor = joint.anchor
        self.body_joint.append(above)
        self.body_place.append(-anchor)

    def _add(self, name: str, parent: int, offset: FloatArray, turn: FloatArray) -> None:
        self.names.append(name)
        self.parents.append(parent)
        self.offsets.append(np.array(offset))
        self.turns.append(np.array(turn))
