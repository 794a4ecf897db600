"""The sources of a table: the collection it was built on, found again and held against it."""

from __future__ import annotations

import os
from pathlib import Path

from motionloom.errors import TableError
from motionloom.tables.collection.collection import Collection
from motionloom.tables.table_file import TableFile
from motionloom.tables.table_header import read_sources

__all__ = ["check_sources", "find_collection", "relative_to"]


def find_collection(file: TableFile, said: str | Path | None) -> Collection:
    """The collection where it is said to be, else where it was, as seen from the table."""
    if said is not None:
        return _in_its_state(file, Collection.open(said))
    path = read_sources(file).path
    seen_from = dict.fromkeys((file.path.parent.resolve(), file.path.resolve().parent))
    try:
        places = [(folder / path).resolve() for folder in seen_from]
        # Through a link: next to the link first, then next to the file that it leads to.
        place = next((each for each in places if each.is_dir()), places[-1])
    except (OSError, ValueError, RuntimeError) as error:  # names that no disk has, loops of links
        raise file.damaged(f"its collection cannot be at {path[:80]!r}") from error
    try:
        return _in_its_state(file, Collection.open(place))
    except TableError as error:
        raise TableError(
            f"{file.path} needs the collection it was built on. {error} "
            "Say where it is with collection=."
        ) from error


def _in_its_state(file: TableFile, now: Collection) -> Collection:
    """The collection as the table knows it, while the table is still to be extended."""
    digest = read_sources(file).digest
    if now.digest == digest:
        return now
    return Collection.open_before(now.path, digest) or now


def check_sources(file: TableFile, collection: Collection) -> None:
    """Refuse a collection that is not the one that the table was built on, and say what changed."""
    sources = read_sources(file)
    was, now = sources.clips, collection.clip_digests
    if sources.digest == collection.digest:
        if was != now or list(was) != list(now):
            raise file.damaged("the clips that it names are not those that it was built on")
        return
    told = [
        f"{what}: {', '.join(name[:80] for name in ids[:5])}{' and more' if len(ids) > 5 else ''}"
        for what, ids in (
            ("changed", [clip for clip in was if clip in now and now[clip] != was[clip]]),
            ("gone", [clip for clip in was if clip not in now]),
            ("new", [clip for clip in now if clip not in was]),
        )
        if ids
    ]
    raise TableError(
        f"{file.path} was built on another state of {collection.path}: "
        f"{'; '.join(told) or 'its skeleton or rate changed'}. Build the table again, or pass the "
        "collection that it was built on."
    )


def relative_to(path: Path, folder: Path) -> str:
    """A path as seen from a folder, with slashes, so that both can be moved together."""
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
