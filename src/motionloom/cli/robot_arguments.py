"""Options that put clips on a robot: its model, and which joint drives which."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import motionloom as ml

RobotFile = Annotated[
    Path | None,
    typer.Option(
        "--robot",
        metavar="FILE.xml",
        help="MuJoCo model: .npz and .csv then hold its qpos, in and out.",
    ),
]
JointsFile = Annotated[
    Path | None,
    typer.Option(
        "--joints",
        metavar="FILE.json",
        help='Clip joints for joints of --robot: {"left_knee_joint": "LeftLeg"}.',
    ),
]
ROBOT_SUFFIXES = (".npz", ".csv")


@dataclass(frozen=True, slots=True)
class RobotOutput:
    """The robot that results go to, and the map to its joints."""

    robot: ml.Robot
    joints: dict[str, str] | None

    def save(self, motion: ml.Motion, output: str) -> list[str]:
        """Write the motion's joint positions; notes on limits and lost rotation."""
        own = motion.skeleton.same_joints(self.robot.skeleton)
        clip = self.robot.clip(motion, joints=None if own else self.joints)
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        clip.save(output)
        return list(clip.notes)


def robot_of(file: Path | None, joints: Path | None) -> RobotOutput | None:
    """The robot of ``--robot`` and the map of ``--joints``; None without."""
    if file is None:
        if joints is not None:
            raise ml.ArrayError("--joints needs --robot FILE.xml, whose joints it names.")
        return None
    robot = ml.load_robot(file)
    if joints is None:
        return RobotOutput(robot, None)
    try:
        names = json.loads(joints.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ml.FormatError(
            f"The map of joints must be JSON ({error}).",
            path=joints,
            fix='Write it as {"left_knee_joint": "LeftLeg"}.',
        ) from error
    if not isinstance(names, dict) or not all(isinstance(each, str) for each in names.values()):
        raise ml.FormatError(
            'The map of joints must be {"robot joint": "clip joint"}.', path=joints
        )
    return RobotOutput(robot, names)


def writes_qpos(robot: RobotOutput | None, output: str) -> bool:
    """Whether an output takes joint positions."""
    return robot is not None and Path(output).suffix.lower() in ROBOT_SUFFIXES
