"""RobotClip: joint positions, velocities and body poses, and the files that hold them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, frozen, of_kind, positive
from motionloom._paths import path_of
from motionloom._records import one_line, record
from motionloom.errors import FormatError
from motionloom.formats.archives.npz import write_members
from motionloom.formats.robots.joint_positions import Positions, velocities_of
from motionloom.formats.robots.robot_csv import write_csv
from motionloom.formats.robots.robot_tree import RobotTree
from motionloom.motion.kinematics import angular_velocities, velocities
from motionloom.saving.whole_file import write_whole

LOST = 1e-3
"""Radians of a rotation, or metres of a way, that a joint leaves out before it is reported."""
BEYOND = 1e-6
"""Radians or metres beyond a limit, from which on it is reported."""


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
        """What a ``.npz`` file holds: mjlab's keys first, then names, order and ``qpos``.

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
