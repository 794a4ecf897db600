"""Robots: motions out of joint positions, and joint positions out of motions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, frozen, of_kind, one_of, positive
from motionloom._paths import path_of, printable
from motionloom._records import one_line, record
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.formats.robots.joint_positions import Positions, positions_of
from motionloom.formats.robots.mjcf import read_mjcf
from motionloom.formats.robots.robot_tree import RobotTree
from motionloom.intake.axes import from_world, skeleton_to_world, to_world
from motionloom.intake.robot_clip import RobotClip, robot_clip
from motionloom.intake.robot_map import mapped_positions
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.motion.source import Source

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
            ways of slides in metres and rotations of balls, in the model's order.
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
            positions = self._mapped(motion, turned, joints, body)
        elif motion.skeleton.same_joints(self._tree.skeleton):
            positions = positions_of(self._tree, turned)
        else:
            raise SkeletonMismatchError(
                "`motion` must be on the robot's skeleton, got one on another. "
                "Pass joints= with a joint of the motion for joints of the robot."
            )
        return robot_clip(self._tree, positions, motion.fps)

    def _mapped(
        self, motion: Motion, turned: Motion, joints: Mapping[str, str], body: BodyMap | None
    ) -> Positions:
        return mapped_positions(self._tree, turned, joints, roles_for(motion.skeleton, body))

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
