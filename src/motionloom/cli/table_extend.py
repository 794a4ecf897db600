"""motionloom table build --extend: clips added to a table and to its collection."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motionloom.cli.clip_arguments import Reading
from motionloom.errors import ArrayError

if TYPE_CHECKING:
    import typer

    from motionloom.tables.table import TransitionTable

__all__ = ["extend_built", "given_options"]

OF_A_SEARCH = (
    "length", "clusters", "ways", "score", "weights", "lookup", "seed", "jobs", "device", "dask",
)  # fmt: skip
OF_INGEST = ("fps", "skeleton", "ground", "plants", "keep_jumps")


def given_options(context: typer.Context) -> dict[str, Any]:
    """Options that were said, by name, without those that are defaults."""
    return {
        name: value
        for name, value in context.params.items()
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }


def extend_built(
    folder: str,
    output: str,
    *,
    collection: str | None,
    labels: Path | None,
    given: Mapping[str, Any],
) -> TransitionTable:
    """The table with the folder's new clips; where that is refused, all is as it was."""
    import motionloom as ml
    from motionloom.tables.build_parts import locked
    from motionloom.tables.collection.labels import read_labels
    from motionloom.tables.extend import extend_locked, grow_collection
    from motionloom.tables.table_file import open_table_file
    from motionloom.tables.table_header import find_collection

    if not Path(output).is_file():
        raise ArrayError(
            f"--extend needs a table to add to, but there is no {output}. Build it without."
        )
    idle = [f"--{name}" for name in OF_A_SEARCH if name in given]
    if idle:
        raise ArrayError(
            f"--extend searches nothing again, so {', '.join(idle)} would change nothing. Leave "
            "that out, or build the table again with --force."
        )
    said = [] if labels is None else read_labels(labels)
    with locked(Path(output)):  # before the collection grows: both are written by one process
        if Path(folder, "catalogue.json").is_file():
            lib = ml.Collection.open(folder)
        else:
            rates = Reading.of(source_fps=given.get("source_fps")).source_fps
            lib = grow_collection(
                # Not kept: files of the state before go when nobody has them mapped.
                find_collection(open_table_file(Path(output)), collection),
                folder,
                source_fps=dict(rates) or None,
                keep_before=True,
                progress=True,
                unit=given.get("unit"),
                up=given.get("up"),
                expected={name: given[name] for name in OF_INGEST if name in given},
            )
        table = extend_locked(Path(output), lib, Path(output))
    # Last: a label that is refused must not part the table from its collection.
    if said:
        lib.add_labels(said)
    return table
