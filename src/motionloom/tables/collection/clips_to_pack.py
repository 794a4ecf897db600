"""Clips to pack: those of a folder that can be in a collection, with their ids."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from motionloom.errors import TableError
from motionloom.tables.collection.catalogue import Catalogue, FileRecord, Found
from motionloom.tables.collection.folder_clips import clip_ids

__all__ = ["ClipToPack", "check_kept", "clips_to_pack"]


class ClipToPack(NamedTuple):
    """A clip that is to be in the collection."""

    id: str
    file: FileRecord
    found: Found


def clips_to_pack(records: list[FileRecord], folder: Path) -> list[ClipToPack]:
    """Every clip that can be used, sorted by id."""
    ids = clip_ids(
        (record.file, tuple(found.clip for found in record.clips) or ("",)) for record in records
    )
    clips = [
        ClipToPack(ids[record.file, found.clip], record, found)
        for record in records
        for found in record.clips
        if found.skeleton
    ]
    if not clips:
        why = next(
            (
                text
                for record in records
                for text in (record.error, *(f.error for f in record.clips))
                if text
            ),
            "",
        )
        raise TableError(f"{folder} holds {len(records)} files and no readable clip. {why}")
    return sorted(clips, key=lambda clip: clip.id)


def check_kept(old: Catalogue, clips: list[ClipToPack], folder: Path) -> None:
    """Refuse where clips of a collection would change or go."""
    there = {(clip.id, clip.file.file, clip.found.clip, clip.file.key) for clip in clips}
    other = [c.id for c in old.clips if (c.id, c.file, c.clip, c.key) not in there]
    if other:
        many = f" and {len(other) - 1} more" if len(other) > 1 else ""
        raise TableError(
            f"Clips can be added while those that are there stay as they are, but in {folder} "
            f"{other[0]!r}{many} changed, would be read otherwise, or cannot be found. Name the "
            "folder that holds old and new clips, and say source_fps, unit and up as they were "
            "said before; or build the table again. Nothing was changed."
        )
