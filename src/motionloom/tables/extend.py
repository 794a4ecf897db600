"""extend_table: a table after clips were added to its collection, without searching again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from motionloom._arrays import of_kind
from motionloom._paths import path_of
from motionloom.errors import TableError
from motionloom.tables.build_lock import locked
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.grown import forget_before
from motionloom.tables.index.growth import Growth, growth_of
from motionloom.tables.index.lookup import Lookup, find_lookup
from motionloom.tables.sources import relative_to
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_arrays import check_arrays
from motionloom.tables.table_file import TableFile, open_table_file, write_table_file
from motionloom.tables.table_header import TableHeader, check_duration, read_header
from motionloom.tables.window_index import grown_index

__all__ = ["extend_locked", "extend_table"]


def extend_table(
    table: str | Path, collection: Collection, *, out: str | Path | None = None
) -> TransitionTable:
    """The table with the clips that were added to its collection, in seconds.

    Representatives and recipes stay: clips added are looked up among them and can be left,
    arrived at, and found as captured windows. Where they hold new kinds of motion, that is far
    from every representative, so build anew once many such clips have come.

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
    forget_before(collection)
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
    check_arrays(file, header.length, starts)
    return growth


def _write(
    file: TableFile, header: TableHeader, collection: Collection, growth: Growth, target: Path
) -> None:
    arrays, length = dict(file.arrays), header.length
    medoids, fine = (
        growth.now[arrays[name].astype(np.int64)] for name in ("medoids", "fine_medoids")
    )
    before = Lookup.from_arrays(
        {name[7:]: array for name, array in arrays.items() if name.startswith("lookup.")}
    )
    lookup = find_lookup(
        collection.frames, medoids, fine, length=length, known=(before, growth.rows)
    )
    grown_index(collection, length, header.sources.digest, growth)
    said: dict[str, Any] = {"length": length, "settings": header.settings}
    said["ranking"] = {name: file.header["ranking"][name] for name in ("linear", "log")}
    said["collection"] = {
        "path": relative_to(collection.path, target.parent),
        "digest": collection.digest,
        "clips": list(collection.clip_digests.items()),
    }
    said["extended"] = header.extended + int(growth.is_new.sum())
    write_table_file(
        target,
        said,
        {
            **arrays,
            "medoids": medoids.astype(np.uint32),
            "fine_medoids": fine.astype(np.uint32),
            **{f"lookup.{name}": array for name, array in lookup.arrays().items()},
        },
    )
