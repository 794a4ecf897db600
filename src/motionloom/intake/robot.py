"""Robots: joint positions and motions of a MuJoCo model, and the files that hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, frozen, of_kind, one_of, positive
from motionloom._records import one_line, record
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.errors import ArrayError, FormatError, SkeletonMismatchError
from motionloom.files.reading import path_of, printable
from motionloom.files.writing import write_whole
from motionloom.formats.archives.npz import write_members
from motionloom.formats.robots.joint_positions import Positions, positions_of, velocities_of
from motionloom.formats.robots.mjcf import read_mjcf
from motionloom.formats.robots.robot_clips import write_csv
from motionloom.formats.robots.robot_tree import RobotTree
from motionloom.intake.axes import from_world, skeleton_to_world, to_world
from motionloom.intake.robot_map import mapped_positions
from motionloom.motion.motion import Motion, Skeleton, angular_velocities, velocities
from motionloom.motion.provenance import Source

LOST = 1e-3
"""Radians of a rotation, or metres of a path, that a joint leaves out before it is reported."""
BEYOND = 1e-6
"""Radians or metres beyond a limit, from which on it is reported."""
ORDERS = ("wxyz", "xyzw")


@dataclass(frozen=True, slots=True, eq=False)
@record
class Robot:
    """A robot of a MuJoCo model: its joints, and conversion between ``qpos`` and motions.

    Attributes
    ----------
    path : str
        The file of the model.

    Examples
    --------
    >>> robot = Robot.from_xml('''<mujoco><worldbody><body name="base"><freejoint/>
    ...     <body name="arm" pos="0 0 1"><joint name="elbow" axis="0 1 0"/></body>
    ...     </body></worldbody></mujoco>''')
    >>> robot.joint_names, robot.n_qpos, robot.n_qvel
    (('elbow',), 8, 7)
    """

    _tree: RobotTree
    """The model, Z up."""
    path: str = ""

    @classmethod
    def from_xml(cls, text: str) -> Robot:
        """The robot in the text of a MuJoCo model.

        Returns
        -------
        Robot
            A robot with the joints of the model.
        """
        from motionloom.formats.robots.mjcf import parse_mjcf

        return cls(RobotTree.of(parse_mjcf(of_kind(text, str, "text").encode())))

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Hinges, slides and balls in the order of ``qpos``; a free joint is not among them."""
        return tuple(joint.name for joint in self._tree.model.joints if joint.type != "free")

    @property
    def body_names(self) -> tuple[str, ...]:
        """Bodies in MuJoCo's order, without the world."""
        return tuple(self._tree.model.names)

    @property
    def limits(self) -> dict[str, tuple[float, float]]:
        """Lowest and highest position of every hinge (radians) and slide (metres) with limits."""
        return {
            joint.name: joint.limits
            for joint in self._tree.model.joints
            if joint.limits is not None and joint.type in ("hinge", "slide")
        }

    @property
    def n_qpos(self) -> int:
        """Width of ``qpos``."""
        return self._tree.n_qpos

    @property
    def n_qvel(self) -> int:
        """Width of ``qvel``."""
        return self._tree.n_qvel

    @property
    def skeleton(self) -> Skeleton:
        """One joint per hinge or slide, and one per body without any. Y up."""
        return skeleton_to_world(self._tree.skeleton, up="z", unit_m=1.0)

    def motion(
        self, qpos: npt.ArrayLike, fps: float, *, quat_order: str = "wxyz", name: str = ""
    ) -> Motion:
        """The motion of joint positions, for everything that takes motions.

        Parameters
        ----------
        qpos : (F, n_qpos)
            Position (metres, Z up) and rotation of a free joint, then angles of hinges in radians,
            shifts of slides in metres and rotations of balls, in the model's order.
        fps
            Frames per second.
        quat_order
            Of quaternions in ``qpos``: ``"wxyz"`` as in MuJoCo, or ``"xyzw"``.
        name
            Of the motion.

        Returns
        -------
        Motion
            On :attr:`skeleton`: metres, Y up. :meth:`clip` gives ``qpos`` back.
        """
        values = np.array(frozen(qpos, "qpos", (None, self.n_qpos)))
        if one_of(quat_order, ORDERS, "quat_order") == "xyzw":
            values = self._to_wxyz(values)
        moved = self._tree.motion(values, positive(fps, "fps"))
        source = Source(format="qpos", path=self.path, up="z", fps=float(fps))
        return to_world(moved, up="z", unit_m=1.0).replace(source=source, name=name)

    def _to_wxyz(self, qpos: FloatArray) -> FloatArray:
        for joint, columns in zip(self._tree.model.joints, self._tree.columns, strict=True):
            if joint.type in ("free", "ball"):
                last = slice(columns.stop - 4, columns.stop)
                qpos[:, last] = qpos[:, last][:, [3, 0, 1, 2]]
        return qpos

    def clip(
        self,
        motion: Motion,
        *,
        joints: Mapping[str, str] | None = None,
        body: BodyMap | None = None,
    ) -> RobotClip:
        """Joint positions and velocities of a motion, with what the robot cannot do.

        Without ``joints`` the motion must be on the robot's :attr:`skeleton`, as :meth:`motion`
        makes it. With them it may be on any: links of the robot point where the named bones point,
        by as much as the hinges between them can. That is no inverse kinematics: feet may slide
        and leave the ground where proportions differ, so use the result to start a solver.

        Parameters
        ----------
        motion
            What to convert.
        joints
            Joint of the motion for joints of the robot, ``{"left_knee_joint": "LeftLeg"}``; up to
            three hinges of one chain may share one joint. Others stay where the model has them.
        body
            Roles of the motion's joints; guessed by default.

        Returns
        -------
        RobotClip
            ``qpos``, ``qvel``, poses of all bodies, and ``notes`` on limits and lost rotation.
        """
        of_kind(motion, Motion, "motion")
        turned = from_world(motion, up="z", unit_m=1.0)
        if joints is not None:
            if not isinstance(joints, Mapping) or not joints:
                raise ArrayError("`joints` must map joints of the robot to joints of the motion.")
            roles = roles_for(motion.skeleton, body)
            positions = mapped_positions(self._tree, turned, joints, roles)
        elif motion.skeleton.same_joints(self._tree.skeleton):
            positions = positions_of(self._tree, turned)
        else:
            raise SkeletonMismatchError(
                "`motion` must be on the robot's skeleton, got one on another. "
                "Pass joints= with a joint of the motion for joints of the robot."
            )
        return robot_clip(self._tree, positions, motion.fps)

    def __repr__(self) -> str:
        n_joints, n_bodies = len(self.joint_names), len(self.body_names)
        return one_line(f"Robot({self.body_names[0]}: {n_joints} joints, {n_bodies} bodies)")


def load_robot(path: str | Path) -> Robot:
    """The robot in a MuJoCo model (MJCF ``.xml``).

    Bodies, hinges, slides, balls, a free joint, default classes, limits and files that are included
    from the same folder are read; shapes, actuators and meshes are skipped. Files with a document
    type are refused.

    Parameters
    ----------
    path
        The model of one robot, without its scene.

    Returns
    -------
    Robot
        Its joints, and conversion between ``qpos`` and motions.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "arm.xml"
    ...     _ = file.write_text(
    ...         '<mujoco><worldbody><body name="arm"><joint name="elbow"/></body></worldbody>'
    ...         '</mujoco>')
    ...     load_robot(file).joint_names
    ('elbow',)
    """
    place = path_of(path, "path")
    return Robot(RobotTree.of(read_mjcf(place)), printable(str(place)))


@dataclass(frozen=True, slots=True, eq=False)
@record
class RobotClip:
    """Joint positions and velocities of a robot over time. Metres, radians, Z up, wxyz.

    Attributes
    ----------
    joint_names : tuple of str
        Hinges, slides and balls, in the order of ``qpos``.
    columns : tuple of str
        What each column of ``qpos`` is: ``root_x``, ``root_qw``, or a joint's name.
    body_names : tuple of str
        Names of the bodies.
    qpos : array
        Shape (F, n_qpos).
    qvel : array
        Derivatives of ``qpos`` as MuJoCo defines them. Shape (F, n_qvel).
    body_positions : array
        Origin of every body in the world. Shape (F, B, 3).
    body_quats : array
        Shape (F, B, 4).
    fps : float
        Frames per second.
    n_root : int
        Leading columns of ``qpos`` that are the free joint's: 7 or 0.
    notes : tuple of str
        Limits that are exceeded, and rotation that no hinge can follow.
    """

    joint_names: tuple[str, ...]
    columns: tuple[str, ...]
    body_names: tuple[str, ...]
    qpos: FloatArray
    qvel: FloatArray
    body_positions: FloatArray
    body_quats: FloatArray
    fps: float
    n_root: int = 0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        qpos = frozen(self.qpos, "qpos", (None, len(self.columns)))
        object.__setattr__(self, "qpos", qpos)
        n_frames, n_bodies = len(qpos), len(self.body_names)
        for name, shape in (
            ("qvel", (n_frames, None)),
            ("body_positions", (n_frames, n_bodies, 3)),
            ("body_quats", (n_frames, n_bodies, 4)),
        ):
            object.__setattr__(self, name, frozen(getattr(self, name), name, shape))
        object.__setattr__(self, "fps", positive(self.fps, "fps"))

    @property
    def n_frames(self) -> int:
        """Number of frames F."""
        return len(self.qpos)

    @property
    def joint_positions(self) -> FloatArray:
        """``qpos`` without the free joint."""
        return self.qpos[:, self.n_root :]

    @property
    def joint_velocities(self) -> FloatArray:
        """``qvel`` without the free joint."""
        return self.qvel[:, 6 if self.n_root else 0 :]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays of a ``.npz`` file: mjlab's keys first, then names, order and ``qpos``.

        Returns
        -------
        dict
            Arrays by their keys.
        """
        return {
            "fps": np.array([self.fps]),
            "joint_pos": self.joint_positions,
            "joint_vel": self.joint_velocities,
            "body_pos_w": self.body_positions,
            "body_quat_w": self.body_quats,
            "body_lin_vel_w": velocities(self.body_positions, self.fps),
            "body_ang_vel_w": angular_velocities(self.body_quats, self.fps),
            "joint_names": np.array(self.joint_names, dtype=np.str_),
            "body_names": np.array(self.body_names, dtype=np.str_),
            "quat_order": np.array("wxyz"),
            "up": np.array("z"),
            "unit_m": np.array(1.0),
            "qpos": self.qpos,
            "qvel": self.qvel,
            "qpos_columns": np.array(self.columns, dtype=np.str_),
        }

    def save(self, path: str | Path) -> None:
        """Write ``.npz`` (mjlab's keys, names and order) or ``.csv`` (time and ``qpos``).

        Parameters
        ----------
        path
            The suffix picks the format. The file appears whole or not at all.

        Examples
        --------
        >>> import tempfile
        >>> import motionloom as ml
        >>> robot = ml.Robot.from_xml('''<mujoco><worldbody><body name="base"><freejoint/>
        ...     <body name="arm" pos="0 0 1"><joint name="elbow" axis="0 1 0"/></body>
        ...     </body></worldbody></mujoco>''')
        >>> clip = robot.clip(robot.motion([[0, 0, 1, 1, 0, 0, 0, 0.5]] * 3, fps=50))
        >>> with tempfile.TemporaryDirectory() as place:
        ...     clip.save(f"{place}/arm.csv")
        >>> clip.qpos[0].round(3).tolist()
        [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.5]
        """
        target = path_of(path, "path")
        suffix = target.suffix.lower()
        if suffix not in (".npz", ".csv"):
            raise FormatError(
                f"A robot's clip is saved as .npz or .csv, got {suffix!r}.", path=target
            )
        write_whole(target, self._write_npz if suffix == ".npz" else self._write_csv)

    def _write_npz(self, stream: BinaryIO) -> None:
        write_members(stream, {f"{key}.npy": array for key, array in self.arrays().items()})

    def _write_csv(self, stream: BinaryIO) -> None:
        write_csv(stream, self.columns, self.qpos, self.fps)

    def __repr__(self) -> str:
        return one_line(
            f"RobotClip({self.n_frames} frames, {self.fps:g} fps, {len(self.joint_names)} joints)"
        )


def robot_clip(tree: RobotTree, positions: Positions, fps: float) -> RobotClip:
    """The clip of joint positions on a robot."""
    of_kind(tree, RobotTree, "tree")
    joints = tree.model.joints
    columns: list[str] = []
    for joint in joints:
        if joint.type == "free":
            columns += [f"root_{part}" for part in ("x", "y", "z", "qw", "qx", "qy", "qz")]
        elif joint.type == "ball":
            columns += [f"{joint.name}_q{part}" for part in "wxyz"]
        else:
            columns.append(joint.name)
    places, turns = tree.body_pose(tree.motion(positions.qpos, fps))
    return RobotClip(
        tuple(joint.name for joint in joints if joint.type != "free"),
        tuple(columns),
        tuple(tree.model.names),
        positions.qpos,
        velocities_of(tree, positions.qpos, fps),
        places,
        turns,
        fps,
        7 if joints[0].type == "free" else 0,
        (*_beyond(tree, positions.qpos), *_lost(tree, positions)),
    )


def _beyond(tree: RobotTree, qpos: FloatArray) -> list[str]:
    notes = []
    for joint, columns in zip(tree.model.joints, tree.columns, strict=True):
        if joint.limits is None or joint.type not in ("hinge", "slide"):
            continue
        values, (low, high) = qpos[:, columns.start], joint.limits
        over = np.maximum(values - high, low - values)
        n_frames = int(np.count_nonzero(over > BEYOND))
        if n_frames:
            one, unit = (np.degrees(1.0), "degrees") if joint.type == "hinge" else (1.0, "metres")
            notes.append(
                f"{joint.name}: beyond its limits ({one * low:.4g} to {one * high:.4g} {unit}) in "
                f"{n_frames} of {len(values)} frames, by up to {one * over.max():.3g} {unit}."
            )
    return notes


def _lost(tree: RobotTree, positions: Positions) -> list[str]:
    off_axis = [
        f"{joint.name}: leaves out up to {left:.3g} m of the motion's way, off its axis."
        for joint, left in zip(tree.model.joints, positions.left_m.tolist(), strict=True)
        if left > LOST
    ]
    return off_axis + [
        f"{joint.name}: leaves out up to {np.degrees(left):.3g} degrees of the motion's rotation, "
        "which is not about its axis."
        for joint, left in zip(tree.model.joints, positions.left.tolist(), strict=True)
        if left > LOST
    ]
