"""motionloom demo: the whole house shown on embedded clips."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from motionloom.cli.output import track
from motionloom.saving.whole_file import write_bytes

__all__ = ["demo"]


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for everything made.")
    ] = Path("demo-out"),
) -> None:
    """Make clips, pictures and a report page.

    Needs no data: the clips are embedded. Open report.html when it is done.

    The folder must be new, empty, or that of an earlier demo, whose files are replaced.
    """
    from motionloom.demo.chapters import CHAPTERS, Tour
    from motionloom.errors import FormatError

    started = time.monotonic()
    if output.is_dir() and any(output.iterdir()) and not (output / "report.html").is_file():
        raise FormatError(
            "The folder holds files that are not of an earlier demo.",
            path=output,
            fix="Choose a new or empty folder with -o.",
        )
    output.mkdir(parents=True, exist_ok=True)
    tour = Tour(output)
    steps = [step for chapter in CHAPTERS for step in chapter(tour)]
    for step in track(steps, "motionloom demo"):
        step()
    page = tour.report.html().encode()
    write_bytes(tour.wrote("report.html"), page)
    typer.echo(f"wrote {len(tour.files)} files to {output} in {time.monotonic() - started:.1f} s")
    typer.echo(f"open  {output / 'report.html'}")
