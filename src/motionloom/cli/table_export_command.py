"""motionloom table export and page: a table for engines and browsers, and a page to play with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import motionloom as ml
from motionloom.cli.output import AsJson, note, print_json, printable
from motionloom.cli.output_paths import Force, check_target
from motionloom.cli.table_query_command import CollectionAt, File


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

    The run time of the C core opens it: from C, C#, JavaScript or any language that calls C.
    """
    check_target(output, [file], force=force, pipe=False)
    for name in ("motionloom.wasm", "motionloom.mjs") if web else ():
        check_target(str(Path(output).with_name(name)), [file], force=force)
    table = ml.TransitionTable.open(file, collection=collection)
    size = ml.save_runtime(table, output)
    if web:
        ml.save_web_files(Path(output).parent)
    _report(table, output, size, as_json=as_json)


def page(
    file: File,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PLAY.html", help="The page to write.")
    ],
    title: Annotated[
        str | None, typer.Option("--title", help="Of the page; the table's name by default.")
    ] = None,
    plain: Annotated[
        bool,
        typer.Option("--plain", help="Leave data uncompressed, for browsers from before 2023."),
    ] = False,
    collection: CollectionAt = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a page on which a live character of the table is steered, without a server.

    Everything is in one file, which opens from disk in current browsers: labels are buttons, with
    the keys 1 to 9, and clips are targets too.
    """
    if Path(output).suffix.lower() not in (".html", ".htm"):
        raise ml.FormatError("A page must end in .html.", path=output, fix="Add .html.")
    check_target(output, [file], force=force, pipe=False)
    table = ml.TransitionTable.open(file, collection=collection)
    size = ml.save_play_page(table, output, title=title or Path(file).stem, plain=plain)
    _report(table, output, size, as_json=as_json)
    note(f"open {output} in a browser")


def _report(table: ml.TransitionTable, output: str, size: int, *, as_json: bool) -> None:
    """Print what was written, and what is in it."""
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
