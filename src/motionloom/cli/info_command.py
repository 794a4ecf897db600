"""motionloom info: what was detected in a clip."""

from __future__ import annotations

import dataclasses
import sys
from typing import Annotated, Any

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import (
    Body,
    Reading,
    SourceFps,
    Unit,
    Up,
    body_of,
    find_clips,
    load_clip,
)
from motionloom.cli.marker_files import (
    describe_markers,
    holds_markers,
    load_markers,
    marker_rows,
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


def info(
    files: Annotated[list[str], typer.Argument(help="Clips or folders; - is standard input.")],
    source_fps: SourceFps = None,
    unit: Unit = None,
    up: Up = None,
    body: Body = None,
    as_json: AsJson = False,
) -> None:
    """Print what was detected in clips.

    Frames, rate, unit, axes, joints, body roles and missing ones, footplants, floor, findings; of
    C3D files the markers.
    """
    reading = Reading.of(source_fps=source_fps, unit=unit, up=up, body=body)
    reports: list[dict[str, Any]] = []
    readable: list[tuple[dict[str, Any], tuple[ml.Finding, ...]]] = []
    clips = find_clips(files)
    reading.warn_unfit(clips)
    for path in track(clips, "reading"):
        try:
            if holds_markers(path):
                markers = load_markers(path, reading)
                reports.append(describe_markers(path, markers))
                readable.append((reports[-1], markers.findings))
                continue
            motion = load_clip(path, reading)
            facts = describe(path, motion, body_of(motion, reading))
        except ml.MotionLoomError as error:
            reports.append({"file": path, "error": in_options(str(error))})
            continue
        reports.append(facts)
        readable.append((facts, motion.source.findings))
    if as_json:
        print_json({"clips": reports})
    else:
        for facts, findings in readable:
            _print_facts(facts, findings)
    errors = [each["error"] for each in reports if "error" in each]
    for text in errors:
        complain(text)
    if errors:
        raise typer.Exit(2)


def describe(path: str, motion: ml.Motion, body: ml.BodyMap) -> dict[str, Any]:
    """Facts about a clip, as values that JSON can hold."""
    import numpy as np

    source, names = motion.source, motion.skeleton.names
    roles: dict[str, Any] = {}
    for role, joint in dataclasses.asdict(body).items():
        if role == "spine":
            roles[role] = [names[j] for j in joint]
        elif joint is not None:
            roles[role] = names[joint]
    try:
        spans = ml.detect_footplants(motion, body=body).intervals()
        plants: dict[str, Any] | None = {kind: len(each) for kind, each in spans.items()}
    except ml.SkeletonMismatchError:
        plants = None
    floor = source.floor
    way = np.hypot(*np.diff(motion.root_positions[:, [0, 2]], axis=0).T).sum()
    height = ml.stature(motion.skeleton, body)
    return {
        "file": path,
        "name": motion.name,
        "format": source.format,
        "clip": source.clip,
        "frames": motion.n_frames,
        "skipped_frames": source.skipped_frames,
        "fps": motion.fps,
        "fps_stated": source.fps,
        "duration_s": motion.duration_s,
        "unit_m": source.unit_m,
        "up": source.up,
        "joints": motion.skeleton.n_joints,
        "joint_names": list(names),
        "joints_slide": motion.joint_translations is not None,
        "height_m": height if height > 0 else None,
        "travel_m": float(way),
        "roles": roles,
        "missing_roles": list(body.missing()),
        "plants": plants,
        "floor": None
        if floor is None
        else {
            "left_height_m": floor.left_height,
            "right_height_m": floor.right_height,
            "slope_x": floor.slope_x,
            "slope_z": floor.slope_z,
            "residual_m": floor.residual,
        },
        "findings": [finding_json(finding) for finding in source.findings],
    }


def _print_facts(facts: dict[str, Any], findings: tuple[ml.Finding, ...]) -> None:
    rows = marker_rows(facts) if "markers" in facts else _rows(facts)
    clip = f"#{facts['clip']}" if facts["clip"] else ""
    title = printable(facts["file"].removesuffix(clip) + clip)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for label, text in rows:
            table.add_row(Text(f"  {label}", style="dim"), Text(text))
        console = Console()
        console.print(Text(title, style="bold"))
        console.print(table)
    else:
        typer.echo(title)
        for label, text in rows:
            typer.echo(f"  {label:7} {text}")
    print_findings(findings)


def _rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    rate = f"{facts['fps']:g} fps"
    if facts["fps_stated"] is None:
        rate += " (the file states none)"
    elif abs(facts["fps_stated"] - facts["fps"]) > 1e-6:
        rate += f" (the file states {facts['fps_stated']:g})"
    skipped = (
        f", {facts['skipped_frames']} leading T-pose frames left out"
        if facts["skipped_frames"]
        else ""
    )
    height = f", {facts['height_m']:.2f} m tall" if facts["height_m"] else ""
    roles = ", ".join(
        f"{role} {' '.join(name) if isinstance(name, list) else name}"
        for role, name in facts["roles"].items()
        if name
    )
    sliding = ", which slide in their parents" if facts["joints_slide"] else ""
    rows = [
        ("format", facts["format"]),
        ("time", f"{facts['frames']} frames at {rate}, {facts['duration_s']:.2f} s{skipped}"),
        (
            "space",
            f"{ml.named_unit(facts['unit_m'])}, {facts['up']} up{height}, "
            f"travels {facts['travel_m']:.2f} m",
        ),
        ("joints", f"{facts['joints']}{sliding}: {' '.join(facts['joint_names'])}"),
        ("roles", roles or "none found"),
    ]
    if facts["missing_roles"]:
        rows.append(("missing", ", ".join(facts["missing_roles"])))
    plants = facts["plants"]
    if plants is not None:
        rows.append(("plants", ", ".join(f"{n} {k.replace('_', ' ')}" for k, n in plants.items())))
    return [(label, printable(text)) for label, text in rows]
