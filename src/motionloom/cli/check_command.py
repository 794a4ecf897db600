"""motionloom check: what is wrong with these clips, if anything."""

from __future__ import annotations

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
from motionloom.cli.output import (
    AsJson,
    complain,
    finding_json,
    print_findings,
    print_json,
    printable,
    track,
)
from motionloom.errors import MotionLoomError, SkeletonMismatchError
from motionloom.findings import Finding

if TYPE_CHECKING:
    from motionloom.features.quality import Quality
    from motionloom.motion.motion import Motion

__all__ = ["check"]

SLIDE_SHARE = 0.08
"""Part of the body's own speed that planted feet may always have: captured runs do."""


def check(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Clips or folders.")],
    slide: Annotated[
        float,
        typer.Option(
            "--slide",
            help="Speed of planted feet that is too much, cm/s; fast clips pass 8 % of theirs.",
        ),
    ] = 15.0,
    sink: Annotated[
        float, typer.Option("--sink", help="Depth of feet below the floor that is too much, cm.")
    ] = 4.0,
    fps: Fps = None,
    source_fps: SourceFps = None,
    unit: Unit = None,
    up: Up = None,
    body: Body = None,
    as_json: AsJson = False,
) -> None:
    """Look for faults in files, feet and frames.

    Exit 0: clean (notes included); 1: something found; 2: a file cannot be read.
    """
    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    told: list[dict[str, Any]] = []
    errors: list[MotionLoomError] = []
    seen: list[tuple[str, list[Finding], Quality | None]] = []
    counts = {"clean": 0, "with_findings": 0, "unreadable": 0}
    clips = find_clips(paths)
    reading.warn_unfit(clips)
    for path in track(clips, "checking"):
        try:
            motion = load_clip(path, reading)
            quality = _quality(motion, reading)
            faults = [finding for finding in motion.source.findings if finding.level != "note"]
            faults += _failed_checks(motion, reading)
        except MotionLoomError as error:
            counts["unreadable"] += 1
            told.append({"file": path, "error": str(error), "findings": []})
            errors.append(error)
            continue
        if quality is not None:
            allowed = max(slide, 100.0 * SLIDE_SHARE * _ground_speed(motion))
            faults += _faults_of(quality, slide=allowed, sink=sink)
        counts["with_findings" if faults else "clean"] += 1
        told.append(
            {
                "file": path,
                "findings": [finding_json(finding) for finding in faults],
                "quality": None if quality is None else _quality_json(quality),
            }
        )
        seen.append((path, faults, quality))
    if as_json:
        print_json({**counts, "clips": told})
    else:
        for one in seen:
            _print_clip(*one)
        if len(told) > 1:
            typer.echo(
                f"{counts['clean']} clean, {counts['with_findings']} with findings, "
                f"{counts['unreadable']} unreadable"
            )
    for fault in errors:
        complain(fault)
    if counts["unreadable"]:
        raise typer.Exit(2)
    if counts["with_findings"]:
        raise typer.Exit(1)


def _ground_speed(motion: Motion) -> float:
    """Mean speed over the ground, m/s."""
    import numpy as np

    way = np.hypot(*np.diff(motion.root_positions[:, [0, 2]], axis=0).T).sum()
    return float(way) / max(motion.duration_s, 1.0 / motion.fps)


def _quality(motion: Motion, reading: Reading) -> Quality | None:
    """Measured quality, or None for things without feet."""
    import motionloom as ml

    body = body_of(motion, reading)
    try:
        return ml.measure_quality(motion, ml.detect_footplants(motion, body=body), body=body)
    except SkeletonMismatchError:
        return None


def _failed_checks(motion: Motion, reading: Reading) -> list[Finding]:
    """What the quality check finds in a captured clip: what no body does, whatever it came from.

    Knees bent backwards and bodies that float are findings of the file already.
    """
    import motionloom as ml

    found = ml.verify(motion, body=body_of(motion, reading))
    return [
        Finding("warning", f"frame {each.frame}", f"{each}.")
        for each in found.failed
        if each.check != "knee bent backwards"
    ]


def _faults_of(quality: Quality, *, slide: float, sink: float) -> list[Finding]:
    """What a look at the motion itself finds."""
    faults = []
    speed, depth = quality.contact_speed_mean, quality.penetration
    if speed is not None and 100.0 * speed > slide:
        faults.append(
            Finding(
                "warning",
                "feet",
                f"planted feet move at {100 * speed:.0f} cm/s in the mean; up to {slide:.0f} pass.",
                "They slide: look whether rate and unit are right.",
            )
        )
    if depth is not None and 100.0 * depth > sink:
        faults.append(
            Finding(
                "warning",
                "floor",
                f"feet are {100 * depth:.1f} cm below the floor at worst; up to {sink:g} pass.",
            )
        )
    return faults


def _quality_json(quality: Quality) -> dict[str, Any]:
    import dataclasses

    return dataclasses.asdict(quality)


def _print_clip(path: str, faults: list[Finding], quality: Quality | None) -> None:
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
