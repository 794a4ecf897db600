"""motionloom studio: the web studio on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["studio"]


def studio(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="Folder of clips; the embedded ones if not said."),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Any that is free if not said.")
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address.")
    ] = False,
    project: Annotated[
        Path | None, typer.Option("--project", help="File that keeps the page's state.")
    ] = None,
) -> None:
    """Open the studio in a browser: join, blend and splice clips by hand and eye.

    Serves this machine only. The address, printed first, holds a secret token: whoever has it can
    use the studio. Stop with Ctrl-C.
    """
    import webbrowser

    from motionloom.studio.server.server import Studio

    served = Studio(folder, port=port, project=project)
    typer.echo(served.address)
    if not no_browser:
        webbrowser.open(served.address)
    served.run()
