"""Clips added later: a collection that grows, and tables that are extended without a new search."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from motionloom._arrays import flag, of_kind, positive
from motionloom.errors import ArrayError, TableError
from motionloom.files.reading import path_of
from motionloom.motion.motion import Motion, Skeleton
from motionloom.tables.collection.catalogue import Catalogue, read_catalogue
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.common_skeleton import (
    given_skeleton,
    make_rigid,
    root_in_pelvis,
    skeleton_key,
)
from motionloom.tables.collection.folder_clips import Reading, find_other_files
from motionloom.tables.collection.ingest import ingest_folder, report_of
from motionloom.tables.collection.labels import read_labels
from motionloom.tables.collection.store import (
    CATALOGUE,
    forget_before,
    writing_collection,
)
from motionloom.tables.index.clusters import find_lookup
from motionloom.tables.index.index_build import Growth, grown_index, growth_of
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_contents import (
    TableArrays,
    TableHeader,
    check_arrays,
    check_duration,
    find_collection,
    read_header,
    relative_to,
)
from motionloom.tables.table_file import TableFile, locked, open_table_file, write_table_file


def add_clips(
    table: str | Path,
    folder: str | Path,
    *,
    collection: str | Path | None = None,
    labels: str | Path | None = None,
    source_fps: Mapping[str, float] | float | None = None,
    unit: str | float | None = None,
    up: str | None = None,
    fps: float | None = None,
    skeleton: Skeleton | Motion | str | Path | None = None,
    ground: bool | None = None,
    plants: str | None = None,
    keep_glitches: bool | None = None,
    repair_knees: bool | None = None,
    progress: bool = True,
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
    expected = {
        "fps": fps, "skeleton": skeleton, "ground": ground, "plants": plants,
        "keep_glitches": keep_glitches, "repair_knees": repair_knees,
    }  # fmt: skip
    added = [] if labels is None else read_labels(path_of(labels, "labels"))
    with locked(target):  # before the collection grows: both are written by one process
        if (source / CATALOGUE).is_file():
            again = {"source_fps": source_fps, "unit": unit, "up": up}
            lib = _grown_already(source, again, expected)
        else:
            lib = grow_collection(
                # No reference stays: files of the old state go when no process has them mapped.
                find_collection(open_table_file(target), collection),
                source,
                source_fps=source_fps,
                unit=unit,
                up=up,
                expected=expected,
                keep_before=True,
                progress=flag(progress, "progress"),
            )
        grown = extend_locked(target, lib, target)
    # Last: a label that is refused must not part the table from its collection.
    if added:
        lib.add_labels(added)
    return grown


def _grown_already(
    path: Path, again: Mapping[str, object], expected: Mapping[str, object]
) -> Collection:
    """The collection in a folder that has grown already; refuse options other than its own."""
    for name, value in again.items():
        if value is not None:
            raise ArrayError(
                f"`{name}` says how files are read, and `folder` ({path}) is a collection that is "
                f"read already. Leave `{name}` out, or name the folder of the clips."
            )
    check_options(path, read_catalogue(path / CATALOGUE), expected)
    return Collection.open(path)


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
        options = _options_of(was)
        example = check_options(collection.path, was, expected or {})
        reading = Reading(
            was.fps,
            source_fps,
            unit,
            up,
            bool(options["ground"]),
            str(options["plants"]),
            bool(options["keep_glitches"]),
            bool(options["repair_knees"]),
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
        skipped = find_other_files(folder, grown, but=collection.path)
        return Collection(
            collection.path,
            grown,
            report_of(grown, read=read, source_fps=source_fps, skipped=skipped),
        )


def check_options(path: Path, was: Catalogue, expected: Mapping[str, Any]) -> Motion | None:
    """Refuse options other than those of the collection's ingest; None stands for the same.

    Returns the clip of ``skeleton``, where one was given.
    """
    options, given = _options_of(was), dict(expected)
    skeleton = given_skeleton(given.pop("skeleton", None))
    example = make_rigid(skeleton)[0] if isinstance(skeleton, Motion) else None
    own = root_in_pelvis(skeleton) if isinstance(skeleton, Skeleton) else None
    if example is not None:
        own = example.skeleton
    if own is not None and skeleton_key(own) != options["skeleton"]:
        raise _other_option(path, "skeleton", "another one")
    for name, value in given.items():
        if value is None:
            continue
        kind = float if name == "fps" else type(options[name])
        same = positive(value, name) if kind is float else of_kind(value, kind, name)
        if same != options[name]:
            raise _other_option(path, name, f"{options[name]!r}, not {value!r}")
    return example


def _other_option(path: Path, name: str, differs: str) -> TableError:
    return TableError(
        f"Clips are added as {path} was made: its `{name}` is {differs}. Leave `{name}` out, or "
        "build the table again."
    )


def _options_of(was: Catalogue) -> dict[str, object]:
    """Options of a collection's ingest, by name."""
    return {
        "fps": was.fps,
        "skeleton": skeleton_key(was.common.skeleton),
        "ground": bool(was.options.get("grounded", False)),
        "plants": was.options.get("plants", "thresholds"),
        "keep_glitches": bool(was.options.get("keep_jumps", False)),
        "repair_knees": bool(was.options.get("repair_knees", False)),
    }


def extend_table(
    table: str | Path, collection: Collection, *, out: str | Path | None = None
) -> TransitionTable:
    """Add the clips that were added to a table's collection, in seconds.

    Representatives and recipes stay: clips added are looked up among them and can be left,
    arrived at, and found as captured windows. Motion that is far from every representative fits
    badly: build the table again after adding many such clips.

    Parameters
    ----------
    table
        File of the table, built before clips were added.
    collection
        The collection as it is now, with all the clips that the table was built on unchanged.
    out
        The file of the new table; by default it takes the place of the old one.

    Returns
    -------
    TransitionTable
        The new table, open.

    Raises
    ------
    TableError
        Clips that the table was built on have changed or are gone.

    Examples
    --------
    >>> import tempfile
    >>> import motionloom as ml
    >>> with tempfile.TemporaryDirectory() as place:
    ...     clips, out = Path(place) / "clips", Path(place) / "lib.mlc"
    ...     clips.mkdir()
    ...     for kind in ("walk", "run"):
    ...         ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion,
    ...                 clips / f"{kind}.bvh")
    ...     lib = ml.Collection.ingest(clips, out=out, fps=20)
    ...     table = ml.build_table(lib, length_s=0.5, clusters=3, progress=False)
    ...     ml.save(ml.synthetic.clip("jog", duration_s=1.5, fps=20).motion, clips / "jog.bvh")
    ...     grown = ml.Collection.ingest(clips, out=out, fps=20)
    ...     extend_table(table.file, grown).info()["clips_added"]
    1
    """
    of_kind(collection, Collection, "collection")
    path = path_of(table, "table")
    target = path if out is None else path_of(out, "out")
    if target.is_dir():
        raise TableError(f"{target} must be a file to write, but is a folder. Add a file name.")
    with locked(target):
        return extend_locked(path, collection, target)


def extend_locked(path: Path, collection: Collection, target: Path) -> TransitionTable:
    """What :func:`extend_table` does, for a caller that holds the target's lock."""
    file = open_table_file(path)
    header = read_header(file)
    check_duration(file, header.length, collection.fps)
    growth = _growth(file, header, collection)
    if growth.is_new.any() or target != path:
        _write(file, header, collection, growth, target)
    forget_before(collection.source_folder, collection.path)
    return TransitionTable.open(target, collection=collection)


def _growth(file: TableFile, header: TableHeader, collection: Collection) -> Growth:
    """What was added; refused where something else has changed too."""
    now, before = collection.clip_digests, header.sources.clips
    other = [clip for clip, digest in before.items() if now.get(clip) != digest]
    if other:
        many = f" and {len(other) - 1} more" if len(other) > 1 else ""
        raise TableError(
            f"A table can be extended while the clips that it was built on stay as they are, but "
            f"{other[0][:80]!r}{many} {'changed or are' if many else 'changed or is'} gone. "
            "Build the table again."
        )
    growth = growth_of(collection.frames, list(before))
    lengths = dict(zip(collection.ids, np.diff(collection.frames.starts), strict=True))
    starts = np.cumsum([0, *(lengths[clip] for clip in before)], dtype=np.int64)
    check_arrays(file, header.length, starts, method=header.method)
    return growth


def _write(
    file: TableFile, header: TableHeader, collection: Collection, growth: Growth, target: Path
) -> None:
    arrays, length = dict(file.arrays), header.length
    medoids, fine = (
        growth.now[arrays[name].astype(np.int64)] for name in ("medoids", "fine_medoids")
    )
    before = TableArrays.of_file(arrays).lookup
    lookup = find_lookup(
        collection.frames, medoids, fine, length=length, before=(before, growth.rows)
    )
    grown_index(collection, length, header.sources.digest, growth)
    new_header: dict[str, Any] = {"length": length, "settings": header.settings}
    new_header["ranking"] = {name: file.header["ranking"][name] for name in ("linear", "log")}
    new_header["collection"] = {
        "path": relative_to(collection.path, target.parent),
        "digest": collection.digest,
        "clips": list(collection.clip_digests.items()),
    }
    new_header["extended"] = header.extended + int(growth.is_new.sum())
    write_table_file(
        target,
        new_header,
        {
            **arrays,
            "medoids": medoids.astype(np.uint32),
            "fine_medoids": fine.astype(np.uint32),
            **{f"lookup.{name}": array for name, array in lookup.arrays().items()},
        },
    )
