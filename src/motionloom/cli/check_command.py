"""motionloom check: faults of clips."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import (
    Body,
    OldFps,
    Reading,
    SourceFps,
    Unit,
    Up,
    body_of,
    find_clips,
    load_clip,
    source_rates,
)
from motionloom.cli.option_words import in_options
from motionloom.cli.output import (
    AsJson,
    complain,
    finding_json,
    print_findings,
    print_json,
    printable,
    track,
)

SLIDE_SHARE = 0.08
"""Planted feet may always move at this part of the body's speed: in captured runs they do."""


def check(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Clips or folders.")],
    slide: Annotated[
        float,
        typer.Option(
            "--slide",
            help="Fastest allowed planted feet, cm/s; in fast clips 8 % of their speed.",
        ),
    ] = 15.0,
    sink: Annotated[
        float, typer.Option("--sink", help="Deepest allowed feet below the floor, cm.")
    ] = 4.0,
    source_fps: SourceFps = None,
    fps: OldFps = None,
    unit: Unit = None,
    up: Up = None,
    body: Body = None,
    as_json: AsJson = False,
) -> None:
    """Look for faults in files, feet and frames.

    Exit 0: clean (notes included); 1: findings; 2: a file cannot be read.
    """
    rates = source_rates(source_fps, fps)
    reading = Reading.of(source_fps=rates, unit=unit, up=up, body=body)
    reports: list[dict[str, Any]] = []
    readable: list[tuple[str, list[ml.Finding], ml.Quality | None]] = []
    counts = {"clean": 0, "with_findings": 0, "unreadable": 0}
    clips = find_clips(paths)
    reading.warn_unfit(clips)
    for path in track(clips, "checking"):
        try:
            faults, quality = _checked(load_clip(path, reading), reading, slide=slide, sink=sink)
        except ml.MotionLoomError as error:
            counts["unreadable"] += 1
            reports.append({"file": path, "error": in_options(str(error)), "findings": []})
            continue
        counts["with_findings" if faults else "clean"] += 1
        reports.append(
            {
                "file": path,
                "findings": [finding_json(finding) for finding in faults],
                "quality": None if quality is None else dataclasses.asdict(quality),
            }
        )
        readable.append((path, faults, quality))
    if as_json:
        print_json({**counts, "clips": reports})
    else:
        for one in readable:
            _print_clip(*one)
        if len(reports) > 1:
            typer.echo(
                f"{counts['clean']} clean, {counts['with_findings']} with findings, "
                f"{counts['unreadable']} unreadable"
            )
    for report in reports:
        if "error" in report:
            complain(report["error"])
    if counts["unreadable"] or counts["with_findings"]:
        raise typer.Exit(2 if counts["unreadable"] else 1)


def _checked(
    motion: ml.Motion, reading: Reading, *, slide: float, sink: float
) -> tuple[list[ml.Finding], ml.Quality | None]:
    """Faults of a clip, and its quality; None for skeletons without feet.

    Backward knees and floating bodies are findings of the file already.
    """
    body = body_of(motion, reading)
    faults = [finding for finding in motion.source.findings if finding.level != "note"]
    faults += [
        ml.Finding("warning", f"frame {each.frame}", f"{each}.")
        for each in ml.verify(motion, body=body).failed
        if each.check != "knee bent backwards"
    ]
    try:
        quality = ml.measure_quality(motion, ml.detect_footplants(motion, body=body), body=body)
    except ml.SkeletonMismatchError:
        return faults, None
    allowed = max(slide, 100.0 * SLIDE_SHARE * _ground_speed(motion))
    return faults + _faults_of(quality, slide=allowed, sink=sink), quality


def _ground_speed(motion: ml.Motion) -> float:
    """Mean speed over the ground, m/s."""
    import numpy as np

    way = np.hypot(*np.diff(motion.root_positions[:, [0, 2]], axis=0).T).sum()
    return float(way) / max(motion.duration_s, 1.0 / motion.fps)


def _faults_of(quality: ml.Quality, *, slide: float, sink: float) -> list[ml.Finding]:
    """Planted feet that move too fast, and feet too deep below the floor."""
    faults = []
    speed, depth = quality.contact_speed_mean, quality.penetration
    if speed is not None and 100.0 * speed > slide:
        faults.append(
            ml.Finding(
                "warning",
                "feet",
                f"planted feet move at {100 * speed:.0f} cm/s on average; up to {slide:.0f} pass.",
                "They slide: check rate and unit.",
            )
        )
    if depth is not None and 100.0 * depth > sink:
        faults.append(
            ml.Finding(
                "warning",
                "floor",
                f"feet are {100 * depth:.1f} cm below the floor at worst; up to {sink:g} pass.",
            )
        )
    return faults


def _print_clip(path: str, faults: list[ml.Finding], quality: ml.Quality | None) -> None:
    feet = ""
    if quality is not None and None not in (quality.contact_speed_mean, quality.penetration):
        feet = (
            f"  feet {100 * (quality.contact_speed_mean or 0.0):.1f} cm/s planted, "
            f"{100 * (quality.penetration or 0.0):.1f} cm below the floor"
        )
    verdict = typer.style("ok  ", fg=typer.colors.GREEN)
    if faults:
        verdict = typer.style("WARN", fg=typer.colors.YELLOW)
    typer.echo(f"{verdict} {printable(path)}{feet}")
    print_findings(faults, indent="     ")
