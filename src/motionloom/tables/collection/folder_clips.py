"""The clips of a folder: which files can hold one, what clips a file holds, and their ids."""

from __future__ import annotations

import fnmatch
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from motionloom.errors import FormatError, TableError
from motionloom.files.limits import Limits
from motionloom.files.reading import ReadingErrors, open_file, printable
from motionloom.formats.acclaim.amc import find_skeleton
from motionloom.formats.file_clip import ReadOptions
from motionloom.formats.registry import can_hold_several, format_for_reading, known_formats
from motionloom.intake.clip_names import find_target, is_clip, opened
from motionloom.tables.collection.catalogue import Catalogue, ClipEntry, FileRecord

OURS = (".mlc", ".part")
NO_OTHERS = (".asf", ".mlt")
"""Suffixes of files that belong to clips and collections without being clips."""


def find_clip_files(folder: Path, *, but: Path | None = None) -> list[str]:
    """Paths in the folder, with slashes, of every file that can hold a clip; sorted.

    Collections that lie in it are no clips, nor is anything in the folder ``but``.
    """
    if not folder.is_dir():
        raise TableError(
            f"{folder} must be a folder with clips, but "
            + ("is a file. Name its folder." if folder.exists() else "is not there.")
        )
    names = [
        _name_of(inside, folder)
        for inside in _files_of_others(folder, but)
        if _may_hold_clip(folder / inside)
    ]
    if not names:
        raise TableError(
            f"{folder} holds no clip that can be read. Readable are: "
            f"{', '.join(dict.fromkeys(s for each in known_formats() for s in each.suffixes))}."
        )
    return sorted(names)


def find_other_files(
    folder: Path, catalogue: Catalogue, *, but: Path | None = None
) -> tuple[str, ...]:
    """Paths in the folder, with slashes, of files that are no clips; sorted.

    Hidden files, collections, tables and the skeletons of clips are not among them.
    """
    clips = {record.file for record in catalogue.files}
    return tuple(
        sorted(
            printable(name)
            for inside in _files_of_others(folder, but)
            if (name := inside.as_posix()) not in clips
            and inside.suffix.lower() not in NO_OTHERS
            and (folder / inside).is_file()
        )
    )


def _files_of_others(folder: Path, but: Path | None) -> Iterator[Path]:
    """Paths in the folder that are neither hidden nor part of a collection, nor in ``but``."""
    own = None if but is None else but.resolve()
    for file in _files_below(folder):
        inside = file.relative_to(folder)
        if any(part.endswith(OURS) or part.startswith(".") for part in inside.parts):
            continue
        if own is None or own not in (folder.resolve() / inside).parents:
            yield inside


def _files_below(folder: Path) -> Iterator[Path]:
    try:
        yield from folder.rglob("*")
    except OSError as error:  # a folder that is removed meanwhile, or a path that gets too long
        raise TableError(
            f"{folder} cannot be searched for clips ({error.strerror}). Try again when no program "
            "changes its folders."
        ) from error


def _name_of(inside: Path, folder: Path) -> str:
    """A file's path in the folder, with slashes."""
    name = inside.as_posix()
    if printable(name) != name:
        raise TableError(
            f"The names of clips must be UTF-8, and that of {name!r} in {folder} is not. "
            "Rename the file or its folder."
        )
    return name


def _may_hold_clip(file: Path) -> bool:
    try:
        return is_clip(file)
    except FormatError:
        return True  # reported as unreadable


def names_in_file(path: Path) -> tuple[str, ...]:
    """Names of the clips in a file that holds several; one empty name for a file that is a clip."""
    if can_hold_several(path) is None:
        return ("",)
    limits = Limits()
    with opened(find_target(path, ""), limits) as (head, stream):
        reader = format_for_reading(head, path)
        assert reader.read is not None
        try:
            clips = reader.read(stream, ReadOptions(path=path, limits=limits)).clips
        except FormatError as error:
            raise error.at(path) from error
    return clips if len(clips) > 1 else ("",)


def clip_ids(files: Iterable[tuple[str, tuple[str, ...]]]) -> dict[tuple[str, str], str]:
    """The id of every clip, by its file and its name in it.

    The path without suffix; with it where two files differ in nothing else. Clips of a file of
    several have their name after a ``#``.
    """
    listed = list(files)
    often = Counter(_stem(file) for file, _ in listed)
    ids = {}
    for file, names in listed:
        base = _stem(file) if often[_stem(file)] == 1 else file
        for name in names:
            ids[file, name] = f"{base}#{name}" if name else base
    return ids


def _stem(file: str) -> str:
    return Path(file).with_suffix("").as_posix()


def digest_file(path: Path, options: str) -> str:
    """Digest of a file, its skeleton's file where that is separate, and the options of reading."""
    digest = hashlib.blake2b(options.encode("utf-8"), digest_size=16)
    parts = [path]
    if path.suffix.lower() == ".amc":
        try:
            parts.append(find_skeleton(path))
        except FormatError:
            digest.update(b"no skeleton")
    for part in parts:
        try:
            with open_file(part, 0) as stream, ReadingErrors(part):
                content = hashlib.blake2b()
                while block := stream.read(1 << 20):
                    content.update(block)
                digest.update(content.digest())
        except FormatError as error:
            digest.update(f"unreadable {error.problem}".encode())
    return digest.hexdigest()


def rate_for(file: str, source_fps: Mapping[str, float] | float | None) -> float | None:
    """The rate given for a file: one for all, or that of the last pattern that fits its name."""
    if source_fps is None or isinstance(source_fps, int | float):
        return source_fps
    rates = [rate for pattern, rate in source_fps.items() if fits_pattern(file, pattern)]
    return rates[-1] if rates else None


def fits_pattern(file: str, pattern: str) -> bool:
    """Whether a pattern fits a file's path or its name, with or without suffix."""
    path = Path(file)
    forms = (file, path.name, path.stem, _stem(file))
    return any(fnmatch.fnmatchcase(name, pattern) for name in forms)


class ClipToPack(NamedTuple):
    """A clip that is to be in the collection."""

    id: str
    file: FileRecord
    entry: ClipEntry


def clips_to_pack(records: list[FileRecord], folder: Path) -> list[ClipToPack]:
    """Every clip that can be used, sorted by id."""
    ids = clip_ids(
        (record.file, tuple(entry.clip for entry in record.clips) or ("",)) for record in records
    )
    clips = [
        ClipToPack(ids[record.file, entry.clip], record, entry)
        for record in records
        for entry in record.clips
        if entry.skeleton
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
    present = {(clip.id, clip.file.file, clip.entry.clip, clip.file.key) for clip in clips}
    other = [c.id for c in old.clips if (c.id, c.file, c.clip, c.key) not in present]
    if other:
        many = f" and {len(other) - 1} more" if len(other) > 1 else ""
        raise TableError(
            f"Clips can be added while those that are there stay as they are, but in {folder} "
            f"{other[0]!r}{many} changed, would be read otherwise, or cannot be found. Name the "
            "folder that holds old and new clips, and give source_fps, unit and up as before; or "
            "build the table again. Nothing was changed."
        )
