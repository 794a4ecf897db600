"""motionloom clean: planted feet that do not slide."""

from __future__ import annotations

from typing import Annotated

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import (
    Body,
    Fps,
    Reading,
    SourceFps,
    Unit,
    Up,
    body_of,
    load_clip,
)
from motionloom.cli.file_jobs import Done, plan_jobs, run_jobs
from motionloom.cli.output import AsJson, finding_warnings
from motionloom.cli.output_paths import DryRun, Force, Writing
from motionloom.cli.results import AllowFlawed, cleanup_json, refuse_flawed, write_clip


def clean(
    source: Annotated[str, typer.Argument(metavar="IN", help="A clip, a folder, or -.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="File, - , or folder; the suffix picks the format."),
    ],
    to: Annotated[
        str | None,
        typer.Option("--to", help="Format, for a folder (that of each clip by default) or -."),
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
    length without --stretch.
    """
    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    writing = Writing(output, to, force, dry_run, as_json)
    jobs = plan_jobs(source, writing, own_formats=True)
    reading.warn_unfit([path for path, _ in jobs])

    def work(path: str, target: str) -> Done:
        motion = load_clip(path, reading)
        cleanup = ml.clean_footskate(motion, body=body_of(motion, reading), stretch=stretch)
        refuse_flawed(cleanup.verification, target, allowed=allow_flawed)
        write_clip(cleanup.motion, target, to)
        report = cleanup.report
        return Done(report.summary, cleanup_json(report), finding_warnings(path, motion))

    run_jobs(jobs, work, writing, label="cleaning")
