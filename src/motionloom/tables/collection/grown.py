"""A collection with clips added to it, while those that it holds stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from motionloom._arrays import of_kind
from motionloom._paths import path_of
from motionloom.errors import TableError
from motionloom.intake.load import load
from motionloom.tables.collection.catalogue import Catalogue, read_catalogue
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.common_skeleton import make_rigid, skeleton_key
from motionloom.tables.collection.generations import (
    CATALOGUE,
    discard_generations,
    generations_before,
    writing_collection,
)
from motionloom.tables.collection.ingest import ingest_folder
from motionloom.tables.collection.survey import Reading, report_of

__all__ = ["forget_before", "grow_collection"]


def grow_collection(
    collection: Collection,
    folder: str | Path,
    *,
    source_fps: Mapping[str, float] | float | None = None,
    unit: str | float | None = None,
    up: str | None = None,
    expected: Mapping[str, Any] | None = None,
    keep_before: bool = False,
    progress: bool = False,
) -> Collection:
    """The collection with the clips that were added to its folder, on its skeleton and rate.

    Options are those of :meth:`Collection.ingest`. ``source_fps``, ``unit`` and ``up`` are not
    stored, so they must be given again. ``expected`` holds other options by name, which must be as
    they were when the collection was made. With ``keep_before`` tables that were built on the
    collection open in the state before, until :func:`forget_before`.

    Raises
    ------
    TableError
        An option differs from what the collection was made with, or clips that it holds have
        changed or are gone. It is then as it was.
    """
    of_kind(collection, Collection, "collection")
    folder = path_of(folder, "folder")
    with writing_collection(folder, collection.path):
        was = read_catalogue(collection.path / CATALOGUE)
        known, given = _options_of(was), dict(expected or {})
        example = None
        if given.get("skeleton") is not None:
            example = make_rigid(load(path_of(given["skeleton"], "skeleton")))[0]
            given["skeleton"] = skeleton_key(example.skeleton)
        for name, value in given.items():
            if value is not None and value != known[name]:
                differs = "another one" if name == "skeleton" else f"{known[name]!r}, not {value!r}"
                raise TableError(
                    f"Clips are added as {collection.path} was made: its `{name}` is {differs}. "
                    f"Leave `{name}` out, or build the table again."
                )
        reading = Reading(
            was.fps,
            source_fps,
            unit,
            up,
            bool(known["ground"]),
            str(known["plants"]),
            bool(known["keep_jumps"]),
            bool(known["repair_knees"]),
        )
        grown, read = ingest_folder(
            folder,
            collection.path,
            reading,
            skeleton=example,
            growing=True,
            keep_before=keep_before,
            progress=progress,
        )
        return Collection(
            collection.path, grown, report_of(grown, read=read, source_fps=source_fps)
        )


def forget_before(collection: Collection) -> None:
    """Remove the states before the collection grew: the tables built on them are extended."""
    path = collection.path
    if not generations_before(path):
        return
    with suppress(TableError), writing_collection(collection.source_folder, path):
        now = read_catalogue(path / CATALOGUE)
        discard_generations(path, but=[now.generation])


def _options_of(was: Catalogue) -> dict[str, object]:
    """What a collection was made with, by the names of the options."""
    return {
        "fps": was.fps,
        "skeleton": skeleton_key(was.common.skeleton),
        "ground": bool(was.options.get("grounded", False)),
        "plants": was.options.get("plants", "thresholds"),
        "keep_jumps": bool(was.options.get("keep_jumps", False)),
        "repair_knees": bool(was.options.get("repair_knees", False)),
    }
