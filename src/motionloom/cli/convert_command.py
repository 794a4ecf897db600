"""motionloom convert: any format to any format, one clip or a folder."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionloom.cli.clip_arguments import Body, Reading, SourceFps, body_of, find_clips, load_clip
from motionloom.cli.output import (
    AsJson,
    complain,
    finding_json,
    note,
    print_json,
    printable,
    track,
    warn,
)
from motionloom.cli.output_paths import DryRun, Force, check_target, plan_folder
from motionloom.errors import FormatError, MotionLoomError

if TYPE_CHECKING:
    from motionloom.motion.motion import Motion

__all__ = ["convert"]


class Root(StrEnum):
    """Where travel and turn go."""

    hips = "hips"
    bone = "bone"
    in_place = "in-place"


def convert(
    source: Annotated[str, typer.Argument(metavar="IN", help="A clip, a folder, or -.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="A file, a folder, or -.")],
    to: Annotated[
        str | None, typer.Option("--to", help="Format, for a folder or -: bvh, glb ...")
    ] = None,
    fps: Annotated[
        float | None, typer.Option("--fps", help="Rate of the result (resampled).")
    ] = None,
    unit: Annotated[
        str | None, typer.Option("--unit", help="Unit written: m cm mm in cmu dm ft.")
    ] = None,
    up: Annotated[str | None, typer.Option("--up", help="Up axis written: y z ...")] = None,
    root: Annotated[
        Root | None,
        typer.Option("--root", help="Travel on the hips, on a new root bone, or taken out."),
    ] = None,
    source_fps: SourceFps = None,
    source_unit: Annotated[
        str | None,
        typer.Option("--source-unit", help="Unit of what is read, where detection errs."),
    ] = None,
    source_up: Annotated[
        str | None,
        typer.Option("--source-up", help="Up axis of what is read, where detection errs."),
    ] = None,
    body: Body = None,
    force: Force = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Convert clips from any format to any.

    The suffix of OUT picks the format; a folder keeps its tree.

    --fps, --unit, --up and --root say how the result is written; what the input really is, where
    its header lies or detection errs, is said by --source-fps, --source-unit and --source-up.
    """
    from motionloom.formats.registry import format_for_writing

    reading = Reading.of(source_fps=source_fps, unit=source_unit, up=source_up, body=body)
    if source != "-" and Path(source).is_dir():
        jobs = plan_folder(source, find_clips([source]), target, to)
    else:
        jobs = [(source, target)]
    reading.warn_unfit([path for path, _ in jobs])
    done: list[dict[str, Any]] = []
    errors: list[MotionLoomError] = []
    warnings: list[str] = []
    notes: list[str] = []  # clips of the same file that are not converted
    for path, output in track(jobs, "converting"):
        try:
            check_target(output, [path], force=force, to=to)
            if output != "-":
                format_for_writing(Path(output))  # before any folder is made
            if dry_run:
                done.append({"input": path, "output": output})
                continue
            motion = load_clip(path, reading)
            result = _edited(motion, reading, fps, root)
            _write(result, output, to, unit, up)
        except MotionLoomError as error:
            if len(jobs) == 1:
                raise
            done.append({"input": path, "output": output, "error": str(error)})
            errors.append(error)
            continue
        warnings += [
            f"{path}, {finding.where}: {finding.problem} {finding.fix}"
            for finding in motion.source.findings
            if finding.level != "note"
        ]
        notes += [
            f"{path}: {finding.problem} {finding.fix}"
            for finding in motion.source.findings
            if finding.where == "clips"
        ]
        findings = [finding_json(finding) for finding in motion.source.findings]
        done.append(
            {
                "input": path,
                "output": output,
                "frames": result.n_frames,
                "fps": result.fps,
                "findings": findings,
            }
        )
    _tell(done, as_json=as_json, dry_run=dry_run, to_stdout=target == "-")
    for text in notes:
        note(text)
    for text in warnings:
        warn(text)
    for fault in errors:
        complain(fault)
    if errors:
        raise typer.Exit(2)


def _edited(motion: Motion, reading: Reading, fps: float | None, root: Root | None) -> Motion:
    import motionloom as ml
    from motionloom.body.root_motion import in_place, with_root_bone, without_root_bone

    if fps is not None:
        motion = ml.resample(motion, fps=fps)
    if root is Root.bone:
        return with_root_bone(motion, body=body_of(motion, reading))
    if root is Root.in_place:
        return in_place(motion, body=body_of(motion, reading))
    if root is Root.hips and motion.skeleton.names[0] == "root":
        return without_root_bone(motion)
    return motion


def _write(motion: Motion, output: str, to: str | None, unit: str | None, up: str | None) -> None:
    import motionloom as ml

    if output != "-":
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        ml.save(motion, output, unit=unit, up=up)
        return
    if to is None:
        raise FormatError(
            "Standard output has no suffix to pick a format by.", fix="Say --to bvh (or another)."
        )
    import io

    buffer = io.BytesIO()  # whole or not at all, also into a pipe
    ml.save(motion, buffer, unit=unit, up=up, format=to)
    sys.stdout.buffer.write(buffer.getvalue())
    sys.stdout.buffer.flush()


def _tell(done: list[dict[str, Any]], *, as_json: bool, dry_run: bool, to_stdout: bool) -> None:
    if to_stdout:
        return  # the clip itself is there
    if as_json:
        print_json({"dry_run": dry_run, "clips": done})
        return
    for each in done:
        if dry_run:
            typer.echo(printable(f"would write {each['output']}  from {each['input']}"))
        elif "error" not in each:
            typer.echo(
                printable(f"wrote {each['output']}  {each['frames']} frames at {each['fps']:g} fps")
            )
