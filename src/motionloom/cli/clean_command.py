"""motionloom clean: feet that stand where they stand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionloom.cli.clip_arguments import (
    Body,
    Fps,
    Reading,
    SourceFps,
    Unit,
    Up,
    body_of,
    find_clips,
    load_clip,
)
from motionloom.cli.output import AsJson, complain, print_json, printable, track, warn
from motionloom.cli.output_paths import DryRun, Force, check_target, plan_folder
from motionloom.cli.results import (
    AllowFlawed,
    cleanup_json,
    refuse_flawed,
    write_clip,
)
from motionloom.errors import FlawedResultError, FormatError, MotionLoomError

if TYPE_CHECKING:
    from motionloom.cleanup.cleanup_report import CleanupReport

__all__ = ["clean"]


def clean(
    source: Annotated[str, typer.Argument(metavar="IN", help="A clip, a folder, or -.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="File, - , or folder; the suffix picks the format."),
    ],
    to: Annotated[
        str | None,
        typer.Option("--to", help="Format, for a folder (its own by default) or -: bvh, glb ..."),
    ] = None,
    stretch: Annotated[
        bool, typer.Option("--stretch", help="Let legs change length instead of lowering the root.")
    ] = False,
    allow_flawed: AllowFlawed = False,
    fps: Fps = None,
    source_fps: SourceFps = None,
    unit: Unit = None,
    up: Up = None,
    body: Body = None,
    force: Force = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Hold planted feet in place.

    Prints how far they slid before and after, and where the worst contact is now. Bones keep their
    length unless --stretch is said.
    """
    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    jobs = _jobs(source, output, to)
    done: list[dict[str, Any]] = []
    shown: list[tuple[str, CleanupReport]] = []
    errors: list[MotionLoomError] = []
    warnings: list[str] = []
    for path, target in track(jobs, "cleaning"):
        try:
            check_target(target, [path], force=force, to=to)
            if dry_run:
                done.append({"input": path, "output": target})
                continue
            report, found = _clean(
                path, target, to, reading, stretch=stretch, allow_flawed=allow_flawed
            )
        except MotionLoomError as error:
            if len(jobs) == 1:
                raise
            done.append({"input": path, "output": target, "error": str(error)})
            errors.append(error)
            continue
        done.append({"input": path, "output": target, **cleanup_json(report)})
        shown.append((target, report))
        warnings += found
    if output == "-" and not dry_run:
        pass  # the clip itself is there
    elif as_json:
        print_json({"dry_run": dry_run, "clips": done})
    elif dry_run:
        for each in done:
            if "error" not in each:
                typer.echo(printable(f"would write {each['output']}  from {each['input']}"))
    else:
        for target, report in shown:
            typer.echo(printable(f"wrote {target}  {report.summary}"))
    for text in warnings:
        warn(text)
    for fault in errors:
        complain(fault)
    if errors:
        flawed = all(isinstance(error, FlawedResultError) for error in errors)
        raise typer.Exit(3 if flawed else 2)


def _jobs(source: str, output: str, to: str | None) -> list[tuple[str, str]]:
    if source == "-" or not Path(source).is_dir():
        return [(source, output)]
    clips = find_clips([source])
    if to is not None:
        return plan_folder(source, clips, output, to)
    if output == "-" or Path(output).is_file():
        raise FormatError("A folder is cleaned into a folder.", path=output, fix="Name a folder.")
    return [(clip, str(Path(output) / Path(clip).relative_to(source))) for clip in clips]


def _clean(
    path: str,
    target: str,
    to: str | None,
    reading: Reading,
    *,
    stretch: bool,
    allow_flawed: bool,
) -> tuple[CleanupReport, list[str]]:
    """Clean one file into another; the report, and faults found in the file."""
    import motionloom as ml

    motion = load_clip(path, reading)
    cleanup = ml.clean_footskate(motion, body=body_of(motion, reading), stretch=stretch)
    refuse_flawed(cleanup.verification, target, allowed=allow_flawed)
    write_clip(cleanup.motion, target, to)
    warnings = [
        f"{path}, {finding.where}: {finding.problem} {finding.fix}"
        for finding in motion.source.findings
        if finding.level != "note"
    ]
    return cleanup.report, warnings
