"""motionloom studio: the web studio on this machine."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

import motionloom as ml


def studio(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="Folder of clips; the embedded ones by default."),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Any free one by default.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address.")
    ] = False,
    project: Annotated[
        Path | None, typer.Option("--project", help="File that stores the state of the page.")
    ] = None,
) -> None:
    """Open the studio in a browser: join, blend and splice clips interactively.

    Serves this machine only. The address, printed first, contains a secret token: everyone who has
    it can use the studio. Stop with Ctrl-C.
    """
    served = ml.Studio(folder, port=port, project=project)
    typer.echo(served.address)
    if not no_browser:
        webbrowser.open(served.address)
    served.run()
