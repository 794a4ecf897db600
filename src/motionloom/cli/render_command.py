"""motionloom render: pictures, films and pages of clips, without a screen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
from motionloom.cli.output import AsJson, complain, print_json, printable, track
from motionloom.cli.output_paths import DryRun, Force, check_target, plan_folder
from motionloom.errors import ArrayError, FormatError, MotionLoomError
from motionloom.saving.whole_file import write_bytes

if TYPE_CHECKING:
    from motionloom.body.body_map import BodyMap
    from motionloom.motion.motion import Motion

__all__ = ["render"]

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
    frames: Annotated[
        str | None, typer.Option("--frames", metavar="A:B", help="Only these frames, B left out.")
    ] = None,
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

    A still (.png .svg .pdf) shows the figure several times along its way, with its plants; a film
    (.gif .mp4) plays in real time; a page (.html) has a player and needs nothing else.
    """
    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    if source != "-" and Path(source).is_dir():
        jobs = plan_folder(source, find_clips([source]), output, to)
    else:
        jobs = [(source, output)]
    span, pixels = _span(frames), _pixels(size)
    reading.warn_unfit([path for path, _ in jobs])
    done: list[dict[str, Any]] = []
    errors: list[MotionLoomError] = []
    for path, target in track(jobs, "drawing"):
        try:
            check_target(target, [path], force=force, to=to)
            if Path(target).suffix.lower() not in SUFFIXES:
                raise FormatError(
                    f"A picture must end in one of {', '.join(SUFFIXES)}.", path=target
                )
            if not dry_run:
                motion = load_clip(path, reading)[span]
                roles = body_of(motion, reading)
                Path(target).parent.mkdir(parents=True, exist_ok=True)
                _draw(motion, roles, Path(target), view, what, pixels, ghosts)
        except MotionLoomError as error:
            if len(jobs) == 1:
                raise
            done.append({"input": path, "output": target, "error": str(error)})
            errors.append(error)
            continue
        done.append({"input": path, "output": target})
    if as_json:
        print_json({"dry_run": dry_run, "clips": done})
    else:
        verb = "would write" if dry_run else "wrote"
        for each in done:
            if "error" not in each:
                typer.echo(printable(f"{verb} {each['output']}"))
    for fault in errors:
        complain(fault)
    if errors:
        raise typer.Exit(2)


def _draw(
    motion: Motion,
    body: BodyMap,
    target: Path,
    view: View | None,
    what: What,
    pixels: tuple[int, int] | None,
    ghosts: int,
) -> None:
    suffix = target.suffix.lower()
    if suffix == ".html":
        from motionloom.drawing.page import player_page

        page = player_page(motion, body=body)
        write_bytes(target, page.encode())
    elif suffix in (".gif", ".mp4"):
        from motionloom.drawing.film import save_film

        seen = view or "three-quarter"
        save_film(motion, target, body=body, view=seen, size=pixels or (480, 400))
    elif what == "tracks":
        from motionloom.drawing.tracks import save_tracks

        wide = pixels or (1400, 720)
        save_tracks(motion, target, body=body, size=wide, kind=suffix[1:])
    else:
        from motionloom.drawing.strip import save_strip

        seen, wide, kind = view or "side", pixels or (1600, 520), suffix[1:]
        save_strip(motion, target, body=body, view=seen, ghosts=ghosts, size=wide, kind=kind)


def _span(text: str | None) -> slice:
    """Frames ``A:B`` as a slice; both ends may be left out."""
    if text is None:
        return slice(None)
    found = re.fullmatch(r"(-?\d+)?:(-?\d+)?", text.strip())
    if not found:
        raise ArrayError(f"--frames must be A:B, such as 10:120, got {text!r}.")
    first, last = (None if part is None else int(part) for part in found.groups())
    return slice(first, last)


def _pixels(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d+)[x×,](\d+)", text.strip().lower())
    sides = tuple(int(side) for side in found.groups()) if found else ()
    if len(sides) != 2 or not all(64 <= side <= 8192 for side in sides):
        raise ArrayError(f"--size must be WIDTHxHEIGHT, 64 to 8192 pixels each, got {text!r}.")
    return sides[0], sides[1]
