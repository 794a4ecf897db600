"""motionloom convert: any format to any format, one clip or a folder."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import (
    Body,
    Fps,
    Frames,
    Reading,
    SourceFps,
    Unit,
    Up,
    body_of,
    clip_notes,
    frames_of,
    load_clip,
)
from motionloom.cli.jobs import Done, plan_jobs, run_jobs
from motionloom.cli.marker_files import (
    convert_markers,
    holds_markers,
    load_markers,
    refuse_markers_as,
)
from motionloom.cli.output import AsJson, finding_json, finding_warnings
from motionloom.cli.results import (
    CharacterFile,
    DryRun,
    Engine,
    Force,
    Layout,
    Root,
    RootAt,
    Writing,
    refuse_unwritable,
    wearer_of,
    write_clip,
)

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


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A clip, a folder, or -.")],
    target: Annotated[
        str | None, typer.Argument(metavar="OUT", help="A file, a folder, or -.")
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="OUT, as other commands take it.")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="Format, for a folder or -: bvh, glb, amass ...")
    ] = None,
    fps: Fps = None,
    unit: Annotated[
        str | None, typer.Option("--unit", help="Unit written: m cm mm in cmu dm ft.")
    ] = None,
    up: Annotated[str | None, typer.Option("--up", help="Up axis written: y z ...")] = None,
    engine: Engine = None,
    root: RootAt = None,
    frames: Frames = None,
    ground: Annotated[
        bool, typer.Option("--ground", help="Level the floor and put it at y = 0.")
    ] = False,
    source_fps: SourceFps = None,
    source_unit: Unit = None,
    source_up: Up = None,
    body: Body = None,
    character: CharacterFile = None,
    robot: RobotFile = None,
    joints: JointsFile = None,
    force: Force = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Convert clips from any format to any.

    The suffix of OUT picks the format; a folder keeps its tree.

    With --robot, .npz and .csv hold the joint positions of a robot, with mjlab's keys in .npz.
    Markers of a C3D file are written as .csv or .npz, in metres and Y up.

    --fps, --unit, --up, --engine and --root set how the result is written. --source-fps,
    --source-unit and --source-up correct what is detected in the input.
    """
    if (target is None) == (output is None):
        raise ml.ArrayError("A conversion needs one output: OUT, or -o OUT.")
    reading = Reading.of(
        fps=fps, source_fps=source_fps, unit=source_unit, up=source_up, body=body, fps_is_new=False
    )
    reading = dataclasses.replace(reading, robot=robot)
    model = robot_of(robot, joints)
    layout = Layout(engine, root, body)
    wearer = wearer_of(character, reading)
    writing = Writing(
        target or output or "", to, force, dry_run, as_json, wearer=wearer, layout=layout
    )
    jobs = plan_jobs(source, writing)
    reading.warn_unfit([path for path, _ in jobs])
    part = frames_of(frames)

    def work(path: str, output: str) -> Done:
        if holds_markers(path):
            return convert_markers(output, load_markers(path, reading))
        loaded = load_clip(path, reading)
        motion = loaded[part]
        if ground:
            motion = ml.ground(motion, body=body_of(motion, reading))
        lost: list[str] = []
        if model is not None and writes_qpos(model, output):
            saved = model.save(layout.with_root(motion), output)
            lost = [f"{path}: {note}" for note in saved]
        else:
            rest = layout
            if to == "amass" and motion.source.format != "amass":
                motion, rest = layout.with_root(motion), layout.without_root()
                motion = ml.retarget(motion, ml.smpl_skeleton(), body=body_of(motion, reading))
            with _written_options():
                write_clip(motion, output, to, unit=unit, up=up, wearer=wearer, layout=rest)
        return _done(path, loaded, motion, lost)

    def check(output: str) -> None:
        if holds_markers(source):
            changes = (
                fps, unit, up, root, frames, source_fps, body, robot, joints, engine, character,
            )  # fmt: skip
            refuse_markers_as(source, output, changed=ground or any(map(_is_given, changes)))
            return
        as_qpos = writes_qpos(model, output)
        if root is Root.bone:
            _refuse_root_bone(output, "robot" if as_qpos else "SMPL body" if to == "amass" else "")
        if not as_qpos:
            refuse_unwritable(output)

    run_jobs(jobs, work, writing, label="converting", check=check)


def _done(path: str, loaded: ml.Motion, written: ml.Motion, lost: list[str]) -> Done:
    """What is printed of a clip that was written; ``lost`` are warnings of its robot."""
    return Done(
        f"{written.n_frames} frames at {written.fps:g} fps",
        {
            "frames": written.n_frames,
            "fps": written.fps,
            "findings": [finding_json(finding) for finding in loaded.source.findings],
        },
        [*finding_warnings(path, loaded), *lost],
        clip_notes(path, loaded),
    )


@contextmanager
def _written_options() -> Iterator[None]:
    """Errors of writing name --unit and --up, not the options on what is read."""
    try:
        yield
    except ml.ArrayError as error:
        text = str(error).replace("`unit`", "--unit").replace("`up`", "--up")
        raise ml.ArrayError(text) from error


def _refuse_root_bone(output: str, kind: str) -> None:
    """Refuse --root bone for a skeleton that has no place for one; ``""`` is no such kind."""
    if kind:
        raise ml.FormatError(
            f"The skeleton of a {kind} is fixed and has no root bone.",
            path=output,
            fix="Leave out --root bone.",
        )


def _is_given(option: object) -> bool:
    return option is not None


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
