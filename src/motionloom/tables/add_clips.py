"""add_clips(): a table and its collection with the new clips of a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

from motionloom._arrays import flag, known_options
from motionloom.errors import ArrayError
from motionloom.files.reading import path_of
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.tables.build_parts import locked
from motionloom.tables.collection.catalogue import read_catalogue
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.generations import CATALOGUE
from motionloom.tables.collection.labels import read_labels
from motionloom.tables.extend import check_options, extend_locked, grow_collection
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_file import open_table_file
from motionloom.tables.table_header import find_collection

NOT_STORED = ("source_fps", "unit", "up")
"""Options of an ingest that a collection does not store."""


class AddedClipOptions(TypedDict, total=False):
    """Keyword arguments of :func:`add_clips`: those of :meth:`Collection.ingest`."""

    source_fps: Mapping[str, float] | float | None
    unit: str | float | None
    up: str | None
    fps: float | None
    skeleton: Skeleton | Motion | str | Path | None
    ground: bool | None
    plants: str | None
    keep_glitches: bool | None
    repair_knees: bool | None


@dataclass(frozen=True, slots=True)
class _AddedClips:
    """How clips are added; :func:`add_clips` describes it."""

    source_fps: Mapping[str, float] | float | None = None
    unit: str | float | None = None
    up: str | None = None
    fps: float | None = None
    skeleton: Skeleton | Motion | str | Path | None = None
    ground: bool | None = None
    plants: str | None = None
    keep_glitches: bool | None = None
    repair_knees: bool | None = None


def add_clips(
    table: str | Path,
    folder: str | Path,
    *,
    collection: str | Path | None = None,
    labels: str | Path | None = None,
    progress: bool = True,
    **options: Unpack[AddedClipOptions],
) -> TransitionTable:
    """Add the new clips of a folder to a table, without searching it again.

    Where a clip or an option is refused, table and collection stay as they were.

    Parameters
    ----------
    table
        File of the table, which is replaced.
    folder
        Folder of clips, the old and the new ones, or a collection that has grown already.
    collection
        The table's collection, if it was moved.
    labels
        CSV file with labels to add: clip, label, first, last.
    progress
        Whether to draw bars with the time left, if standard error is a terminal.
    source_fps, unit, up
        As of :meth:`Collection.ingest`. A collection does not store them: pass again what it was
        made with. A folder that is a collection already takes none.
    fps, skeleton, ground, plants, keep_glitches, repair_knees
        As of :meth:`Collection.ingest`. None, the default, uses what the collection was made with;
        another value raises an error.

    Returns
    -------
    TransitionTable
        The extended table, open.

    Raises
    ------
    TableError
        Clips that the table was built on have changed or are gone, or an option differs from the
        one that the collection was made with.

    Examples
    --------
    >>> import tempfile
    >>> import motionloom as ml
    >>> with tempfile.TemporaryDirectory() as place:
    ...     clips = Path(place) / "clips"
    ...     clips.mkdir()
    ...     for kind in ("walk", "run"):
    ...         ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion,
    ...                 clips / f"{kind}.bvh")
    ...     lib = ml.Collection.ingest(clips, fps=20)
    ...     table = ml.build_table(lib, length_s=0.5, clusters=3, progress=False)
    ...     ml.save(ml.synthetic.clip("jog", duration_s=1.5, fps=20).motion, clips / "jog.bvh")
    ...     ml.add_clips(table.file, clips, progress=False).collection.ids
    ('jog', 'run', 'walk')
    """
    target, source = path_of(table, "table"), path_of(folder, "folder")
    if not target.is_file():
        raise ArrayError(f"`table` must be a table to add clips to, and there is no {target}.")
    expected: dict[str, Any] = dict(options)
    known_options("add_clips", _AddedClips, expected)
    again = {name: expected.pop(name) for name in NOT_STORED if name in expected}
    added = [] if labels is None else read_labels(path_of(labels, "labels"))
    with locked(target):  # before the collection grows: both are written by one process
        if (source / CATALOGUE).is_file():
            lib = _grown_already(source, again, expected)
        else:
            lib = grow_collection(
                # No reference stays: files of the old state go when no process has them mapped.
                find_collection(open_table_file(target), collection),
                source,
                keep_before=True,
                progress=flag(progress, "progress"),
                expected=expected,
                **again,
            )
        grown = extend_locked(target, lib, target)
    # Last: a label that is refused must not part the table from its collection.
    if added:
        lib.add_labels(added)
    return grown


def _grown_already(
    path: Path, again: Mapping[str, object], expected: Mapping[str, object]
) -> Collection:
    """The collection in a folder, if the options are those that it was made with."""
    for name, value in again.items():
        if value is not None:
            raise ArrayError(
                f"`{name}` says how files are read, and `folder` ({path}) is a collection that is "
                f"read already. Leave `{name}` out, or name the folder of the clips."
            )
    check_options(path, read_catalogue(path / CATALOGUE), expected)
    return Collection.open(path)
