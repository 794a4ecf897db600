"""The result of an operation: refused if it fails its quality check, written, described."""

from __future__ import annotations

import dataclasses
import io
import sys
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

import motionloom as ml
from motionloom.cli.character_option import Wearer
from motionloom.cli.engine_option import NO_LAYOUT, Layout
from motionloom.cli.output import printable

Raw = Annotated[bool, typer.Option("--raw", help="Do not hold planted feet.")]
AllowFlawed = Annotated[
    bool,
    typer.Option(
        "--allow-flawed", "--anyway", help="Also write a result that fails its quality check."
    ),
]


class Result(Protocol):
    """What every operation returns."""

    @property
    def motion(self) -> ml.Motion:
        """The result."""

    @property
    def span(self) -> tuple[int, int]:
        """First and last frame of what is new."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of it."""

    @property
    def verification(self) -> ml.Verification:
        """Its quality check."""

    @property
    def cleanup(self) -> ml.CleanupReport | None:
        """What holding its feet changed."""


class Joined(Result, Protocol):
    """What is made of several clips."""

    @property
    def provenance(self) -> ml.Provenance:
        """Where every frame comes from."""


def result_json(result: Result) -> dict[str, Any]:
    """What every result has, under the same keys in every command, as values for JSON."""
    cleanup = None if result.cleanup is None else result.cleanup.json()
    return {
        "frames": result.motion.n_frames,
        "fps": result.motion.fps,
        "span": list(result.span),
        "notes": list(result.notes),
        "verification": result.verification.json(),
        "cleanup": cleanup,
    }


def joined_json(joined: Joined) -> dict[str, Any]:
    """What every result made of clips has, as values for JSON."""
    return {**result_json(joined), "provenance": joined.provenance.json()}


def refuse_flawed(
    verification: ml.Verification, output: str, *, allowed: bool, advice: str = ""
) -> None:
    """Refuse to write a result that fails its quality check, unless the user allows it.

    ``advice`` says what else to try, and ends in a comma.
    """
    if verification.passed or allowed:
        return
    how = f"{advice} or write it" if advice else "Write it"
    raise ml.FlawedResultError(
        f"{output} was not written: the result fails its quality check "
        f"({verification.describe()}). {how} with --allow-flawed."
    )


def write_clip(
    motion: ml.Motion,
    output: str,
    to: str | None,
    *,
    unit: str | None = None,
    up: str | None = None,
    wearer: Wearer | None = None,
    layout: Layout = NO_LAYOUT,
    provenance: ml.Provenance | None = None,
) -> None:
    """Write a clip whole or not at all; ``-`` is standard output, which needs a format.

    ``wearer`` is the character to put it on, ``layout`` how its root and bones are laid out.
    ``provenance`` goes into the formats that hold it.
    """
    to = _format(output, to, layout)
    options: dict[str, Any] = {"unit": unit, "up": up, "provenance": provenance}
    if wearer is not None:
        motion = wearer.put_on(motion, output, to)
        options["character"] = wearer.character
        layout = dataclasses.replace(layout, body=None)  # its roles are those of the clip's joints
    motion = layout.with_root(motion)
    options["engine"] = layout.export(motion)
    if output != "-":
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        ml.save(motion, output, format=to, **options)
        return
    if to is None:
        raise ml.FormatError(
            "Standard output has no suffix to pick a format by.", fix="Add --to bvh (or another)."
        )
    buffer = io.BytesIO()  # whole or not at all, also into a pipe
    ml.save(motion, buffer, format=to, **options)
    sys.stdout.buffer.write(buffer.getvalue())
    sys.stdout.buffer.flush()


def _format(output: str, to: str | None, layout: Layout) -> str | None:
    """Format of a result: the layout's where neither --to nor a suffix says one."""
    return layout.format if to is None and output == "-" else to


def wrote_line(motion: ml.Motion, target: str) -> str:
    """What was written, in one line."""
    return printable(
        f"wrote  {target}  {motion.n_frames} frames at {motion.fps:g} fps, "
        f"{motion.duration_s:.2f} s"
    )


def print_check(verification: ml.Verification, *, most: int = 8) -> None:
    """Print the verdict of the quality check, then a line per failed check."""
    if verification.passed:
        typer.echo(f"check  {typer.style('passed', fg=typer.colors.GREEN)}")
        return
    typer.echo(f"check  {typer.style('FAILED', fg=typer.colors.RED)}")
    failed = [str(each) for each in (*verification.unsound, *verification.failed)]
    for text in failed[:most]:
        typer.echo(f"       {printable(text)}")
    if len(failed) > most:
        typer.echo(f"       and {len(failed) - most} more")
