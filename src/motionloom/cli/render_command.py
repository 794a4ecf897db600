"""motionloom render: pictures, films and pages of clips, without a screen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

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
from motionloom.cli.output import AsJson
from motionloom.cli.results import DryRun, Force, Writing

SUFFIXES = (".png", ".svg", ".pdf", ".gif", ".mp4", ".html")


View = Literal["side", "front", "top", "three-quarter"]
What = Literal["strip", "tracks"]


def render(
    source: Annotated[str, typer.Argument(metavar="IN", help="A clip, a folder, or -.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="File (.png .svg .pdf .gif .mp4 .html) or folder."),
    ],
    to: Annotated[str | None, typer.Option("--to", help="For a folder: png, gif, html ...")] = None,
    view: Annotated[
        View | None, typer.Option("--view", help="Side for strips, three-quarter for films.")
    ] = None,
    what: Annotated[
        What, typer.Option("--what", help="A strip of figures, or the tracks of the feet.")
    ] = "strip",
    frames: Frames = None,
    size: Annotated[
        str | None, typer.Option("--size", metavar="WIDTHxHEIGHT", help="Pixels, such as 1600x520.")
    ] = None,
    ghosts: Annotated[int, typer.Option("--ghosts", min=1, help="Figures in a strip.")] = 9,
    fps: Fps = None,
    source_fps: SourceFps = None,
    unit: Unit = None,
    up: Up = None,
    body: Body = None,
    force: Force = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Draw clips: picture, film or page.

    A still (.png .svg .pdf) shows the figure several times along its path, with its footplants; a
    film (.gif .mp4) plays in real time; a page (.html) has a player and needs no other file.
    """
    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    writing = Writing(output, to, force, dry_run, as_json)
    jobs = plan_jobs(source, writing, example="png")
    part, pixels = frames_of(frames), _pixels(size)
    reading.warn_unfit([path for path, _ in jobs])

    def work(path: str, target: str) -> Done:
        motion = load_clip(path, reading)[part]
        roles = body_of(motion, reading)
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        ml.render(motion, target, what=what, body=roles, view=view, size=pixels, ghosts=ghosts)
        return Done(notes=clip_notes(path, motion))

    run_jobs(jobs, work, writing, label="drawing", check=_refuse_unknown)


def _refuse_unknown(target: str) -> None:
    if Path(target).suffix.lower() not in SUFFIXES:
        raise ml.FormatError(f"A picture must end in one of {', '.join(SUFFIXES)}.", path=target)


def _pixels(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    sides = re.fullmatch(r"(\d{1,5})[x×,](\d{1,5})", text.strip().lower())
    width, height = (int(side) for side in sides.groups()) if sides else (0, 0)
    if not (64 <= width <= 8192 and 64 <= height <= 8192):
        raise ml.ArrayError(f"--size must be WIDTHxHEIGHT, 64 to 8192 pixels each, got {text!r}.")
    return width, height
