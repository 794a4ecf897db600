"""Clips added later: a collection that grows, and tables that are extended without a new search."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from motionloom._arrays import of_kind, positive
from motionloom.errors import TableError
from motionloom.files.reading import path_of
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.tables.build_parts import locked
from motionloom.tables.collection.catalogue import Catalogue, read_catalogue
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.common_skeleton import (
    given_skeleton,
    make_rigid,
    root_in_pelvis,
    skeleton_key,
)
from motionloom.tables.collection.folder_clips import find_other_files
from motionloom.tables.collection.generations import (
    CATALOGUE,
    forget_before,
    writing_collection,
)
from motionloom.tables.collection.ingest import ingest_folder
from motionloom.tables.collection.survey import Reading, report_of
from motionloom.tables.index.index_build import Growth, growth_of
from motionloom.tables.index.lookup import find_lookup
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_arrays import TableArrays, check_arrays
from motionloom.tables.table_file import TableFile, open_table_file, write_table_file
from motionloom.tables.table_header import TableHeader, check_duration, read_header, relative_to
from motionloom.tables.window_index import grown_index


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
    """Refuse options that differ from those that a collection was made with; None is as it was.

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
    """What a collection was made with, by the names of the options."""
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
