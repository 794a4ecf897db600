"""An earlier ingest: what of a collection on disk can be used again, and what is to be removed."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from motionloom.errors import TableError
from motionloom.tables.collection.catalogue import (
    Catalogue,
    ClipRecord,
    Common,
    FileRecord,
    read_catalogue,
)
from motionloom.tables.collection.clips_to_pack import ClipToPack
from motionloom.tables.collection.generations import (
    CATALOGUE,
    LOCK,
    PART,
    before_file,
    discard_generations,
    free_generation,
    generations_before,
)
from motionloom.tables.collection.store import holds_rows

__all__ = [
    "begun_rows",
    "clear_after",
    "clear_unnamed",
    "earlier_catalogues",
    "is_complete",
    "rows_to_copy",
]


def earlier_catalogues(out: Path) -> tuple[Catalogue | None, Catalogue | None]:
    """The catalogue that is there and the one of an ingest that was stopped, if any."""
    if not any((out / name).exists() for name in (CATALOGUE, PART)):
        ours = (".rows", ".new", LOCK)
        strangers = [each.name for each in out.iterdir() if not each.name.endswith(ours)]
        if strangers:
            raise TableError(
                f"{out} is a folder with other things in it ({strangers[0]}, ...), and nothing is "
                "written over them. Choose another out=."
            )
    return _catalogues(out)


def _catalogues(out: Path) -> tuple[Catalogue | None, Catalogue | None]:
    found: list[Catalogue | None] = []
    for name in (CATALOGUE, PART):
        try:
            found.append(read_catalogue(out / name))
        except TableError:
            found.append(None)  # damaged or from another version: all of it can be read again
    return found[0], found[1]


def clear_after(out: Path, now: Catalogue, *, keep_before: bool) -> None:
    """Remove what a collection that is complete has no use for, unless somebody reads it."""
    with suppress(OSError):
        (out / PART).unlink(missing_ok=True)
        before_file(out, now.generation).unlink(missing_ok=True)  # it was never followed
        for name in (CATALOGUE, PART):
            (out / f".{name}.new").unlink(missing_ok=True)  # named so by older versions
    before = generations_before(out) if keep_before else []
    discard_generations(out, but=[now.generation, *before])


def clear_unnamed(out: Path) -> None:
    """Remove rows that no catalogue will ever name: a full disk has better uses for its space."""
    named = [each.generation for each in _catalogues(out) if each is not None]
    discard_generations(out, but=[*named, *generations_before(out)])


def is_complete(
    old: Catalogue, records: list[FileRecord], options: dict[str, object], out: Path
) -> bool:
    """Whether the old catalogue is that of the same files, read in the same way, and has rows."""
    have = {(record.file, record.key) for record in old.files}
    is_same = have == {(r.file, r.key) for r in records} and old.options == options
    return is_same and _has_rows(old, out)


def _has_rows(catalogue: Catalogue, out: Path) -> bool:
    n_joints = catalogue.common.skeleton.n_joints
    return holds_rows(out, catalogue.generation, n_joints, catalogue.n_rows)


def rows_to_copy(
    old: Catalogue | None, common: Common, out: Path
) -> dict[tuple[str, str, str], ClipRecord]:
    """Clips whose rows can be used again, by file, clip and key."""
    if old is None or old.common.json() != common.json() or not _has_rows(old, out):
        return {}
    return {(clip.file, clip.clip, clip.key): clip for clip in old.clips}


def begun_rows(
    clips: list[ClipToPack],
    plan: Catalogue,
    old: Catalogue | None,
    part: Catalogue | None,
    out: Path,
) -> tuple[tuple[ClipRecord, ...], int]:
    """Rows of a stopped ingest that stand already where they belong, and the generation to write.

    Never a generation that was published: its files stay as they are.
    """
    wanted = [(clip.id, clip.file.file, clip.found.clip, clip.file.key) for clip in clips]
    published = [] if old is None else [old.generation]
    if (
        part is not None
        and part.generation not in published
        and part.common.json() == plan.common.json()
    ):
        have = [(clip.id, clip.file, clip.clip, clip.key) for clip in part.clips]
        if _has_rows(part, out) and have == wanted[: len(have)]:
            return part.clips, part.generation
    with suppress(OSError):
        (out / PART).unlink()
    discard_generations(out, but=[*published, *generations_before(out)])
    return (), free_generation(out, published)
