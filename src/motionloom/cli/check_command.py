"""motionloom check: faults of clips, of one or of a data set of thousands."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import (
    Body,
    Reading,
    SourceFps,
    Unit,
    Up,
    find_clips,
)
from motionloom.cli.jobs import (
    Jobs,
    Limit,
    TimeoutS,
    interrupted_note,
    limits_of,
    named_rates,
)
from motionloom.cli.option_words import in_options
from motionloom.cli.output import AsJson, complain, note, print_findings, print_json, printable
from motionloom.cli.results import Force, check_target, refuse_collection

MOST_LISTED = 10
"""Clips that are printed where a report lists them all."""


def check(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Clips or folders.")],
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            "-o",
            metavar="FOLDER",
            help="Write a page, a CSV and a JSON there; a stopped run resumes.",
        ),
    ] = None,
    accept: Annotated[
        Path | None,
        typer.Option("--accept", metavar="FILE", help="Write the paths of good clips there."),
    ] = None,
    slide: Annotated[
        float | None,
        typer.Option(
            "--slide",
            help="Fastest allowed planted feet, cm/s, 8 by default; in fast clips 7.5 % of "
            "their speed.",
        ),
    ] = None,
    sink: Annotated[
        float | None,
        typer.Option("--sink", help="Deepest allowed feet below the floor, cm, 4 by default."),
    ] = None,
    limit: Limit = None,
    jobs: Jobs = None,
    timeout_s: TimeoutS = None,
    source_fps: SourceFps = None,
    unit: Unit = None,
    up: Up = None,
    body: Body = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Look for faults in files, feet and frames.

    Exit 0: clean (notes included); 1: findings; 2: a file cannot be read.
    """
    reading = Reading.of(source_fps=source_fps, unit=unit, up=up, body=body)
    with suppress(ml.FormatError):  # the check itself reports files that cannot be read
        reading.warn_unfit(find_clips(paths))
    if accept is not None:
        check_target(str(accept), paths, force=True, pipe=False)
    if report is not None:
        refuse_collection(report)
    waiting: dict[str, Any] = {} if timeout_s is None else {"timeout_s": timeout_s}
    with interrupted_note(report):
        result = ml.check_dataset(
            paths,
            report=report,
            accept=accept,
            limits=limits_of(limit, slide=slide, penetration=sink),
            jobs=jobs,
            overwrite=force,
            source_fps=named_rates(reading),
            unit=unit,
            up=up,
            body=body,
            **waiting,
        )
    counts = _old_names(result)
    if as_json:
        print_json({**counts, "clips": [_clip_json(clip) for clip in result.clips]})
    else:
        _print_clips(result, report)
        if len(result.clips) > 1:
            typer.echo(", ".join(f"{n} {name.replace('_', ' ')}" for name, n in counts.items()))
    if report is not None:
        note(f"{result.resumed} rows are of an earlier run." if result.resumed else "")
        note(f"wrote {report / 'index.html'}, summary.csv and summary.json")
    for clip in result.clips:
        if clip.error:
            complain(in_options(clip.error))
    if counts["unreadable"] or counts["with_findings"]:
        raise typer.Exit(2 if counts["unreadable"] else 1)


def _old_names(result: ml.DatasetReport) -> dict[str, int]:
    counts = result.counts
    return {
        "clean": counts["good"],
        "with_findings": counts["faulty"],
        "unreadable": counts["unreadable"],
    }


def _clip_json(clip: ml.ClipReport) -> dict[str, Any]:
    if clip.error:
        return {"file": clip.path, "error": in_options(clip.error), "findings": []}
    return {
        **clip.json(),
        "findings": [
            {
                "level": each.level,
                "where": each.where,
                "problem": each.problem,
                "fix": in_options(each.fix),
            }
            for each in clip.findings
        ],
    }


def _print_clips(result: ml.DatasetReport, report: Path | None) -> None:
    """Print every clip; with a report the worst only."""
    listed = list(result.clips)
    if report is not None:
        listed = [clip for clip in result.worst_first if not clip.error][:MOST_LISTED]
    for clip in listed:
        if not clip.error:
            _print_clip(clip)
    more = result.counts["faulty"] - sum(1 for clip in listed if clip.status == "faulty")
    if more:
        typer.echo(f"     and {more} more with findings in {report}")


def _print_clip(clip: ml.ClipReport) -> None:
    slide, depth, feet = clip.values["slide"], clip.values["penetration"], ""
    if slide is not None and depth is not None:
        feet = f"  feet {slide:.1f} cm/s planted, {depth:.1f} cm below the floor"
    verdict = typer.style("ok  ", fg=typer.colors.GREEN)
    if clip.faults:
        verdict = typer.style("WARN", fg=typer.colors.YELLOW)
    typer.echo(f"{verdict} {printable(clip.path)}{feet}")
    print_findings([each for each in clip.findings if each.level != "note"], indent="     ")
