"""motionloom demo: everything shown on embedded clips."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from motionloom.cli.output import track


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for all files.")
    ] = Path("demo-out"),
) -> None:
    """Make clips, pictures and a report page.

    Needs no data: the clips are embedded. Open report.html when it is done.

    The folder must be new, empty, or that of an earlier demo, whose files are replaced.
    """
    import motionloom as ml

    started = time.monotonic()
    files = ml.write_demo(output, track=lambda steps: track(steps, "motionloom demo"))
    typer.echo(f"wrote {len(files)} files to {output} in {time.monotonic() - started:.1f} s")
    typer.echo(f"open  {output / files[-1]}")
