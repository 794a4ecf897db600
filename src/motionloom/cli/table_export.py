"""motionloom table export and page: a table for engines and browsers, and one to play with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionloom.cli.output import AsJson, note, print_json, printable
from motionloom.cli.output_paths import Force, check_target
from motionloom.cli.table_result import CollectionAt, File

if TYPE_CHECKING:
    from motionloom.tables.table import TransitionTable

__all__ = ["export", "page"]


def export(
    file: File,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="LIB.mlr", help="The file to write.")
    ],
    web: Annotated[
        bool,
        typer.Option("--web", help="Put motionloom.wasm and motionloom.mjs next to it as well."),
    ] = False,
    collection: CollectionAt = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a table and the poses of its clips into one file, for engines and browsers.

    The run time of the C core opens it: in C, C#, JavaScript or whatever else can call C.
    """
    import motionloom as ml
    from motionloom.saving.whole_file import write_bytes
    from motionloom.tables.runtime_file import save_runtime

    check_target(output, [file], force=force)
    more = {}
    if web:
        from motionloom.studio.play_page import web_files

        more = {Path(output).with_name(name): data for name, data in web_files().items()}
        for path in more:
            check_target(str(path), [file], force=force)
    table = ml.TransitionTable.open(file, collection=collection)
    size = save_runtime(table, output)
    for path, data in more.items():
        write_bytes(path, data)
    _tell(table, output, size, as_json=as_json)


def page(
    file: File,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PLAY.html", help="The page to write.")
    ],
    title: Annotated[
        str | None, typer.Option("--title", help="Of the page; the table's name if not given.")
    ] = None,
    plain: Annotated[
        bool,
        typer.Option("--plain", help="Leave data uncompressed, for browsers from before 2023."),
    ] = False,
    collection: CollectionAt = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a page in which anyone steers a live character of the table, without a server.

    Everything is in one file, which opens from disk in any browser of today: labels are buttons,
    with the keys 1 to 9, and clips can be gone to as well.
    """
    import motionloom as ml
    from motionloom.saving.whole_file import write_bytes
    from motionloom.studio.play_page import play_page

    check_target(output, [file], force=force)
    table = ml.TransitionTable.open(file, collection=collection)
    page = play_page(table, title=title or Path(file).stem, plain=plain)
    made = page.encode(errors="replace")  # a title may hold what no text has
    write_bytes(Path(output), made)
    _tell(table, output, len(made), as_json=as_json)
    note(f"open {output} in a browser")


def _tell(table: TransitionTable, output: str, size: int, *, as_json: bool) -> None:
    """What was written, and what is in it."""
    frames = table.frames
    labels = sorted({each.label for each in table.collection.labels})
    facts: dict[str, Any] = {
        "file": output,
        "bytes": size,
        "clips": frames.n_clips,
        "frames": frames.n_rows,
        "fps": frames.fps,
        "joints": frames.skeleton.n_joints,
        "length_s": table.length / frames.fps,
        "labels": labels,
    }
    if as_json:
        print_json(facts)
        return
    lines = [
        f"{output}  {size / 1e6:.2f} MB",
        f"{facts['clips']} clips, {facts['frames']} frames at {frames.fps:g} fps, "
        f"{facts['joints']} joints; transitions of {facts['length_s']:g} s",
        f"labels  {', '.join(labels) or 'none'}",
    ]
    for line in lines:
        typer.echo(printable(line))
