"""The clips of a folder: which files can hold one, each read once at one rate, and their ids."""

from __future__ import annotations

import fnmatch
import hashlib
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from motionloom._arrays import flag, one_of
from motionloom.errors import ArrayError, FormatError, MotionLoomError, TableError
from motionloom.features.glitches.repair import resample_repaired
from motionloom.files.limits import Limits
from motionloom.files.reading import ReadingErrors, open_file, printable
from motionloom.findings import Finding, MotionLoomWarning
from motionloom.formats.acclaim.amc import find_skeleton
from motionloom.formats.file_clip import ReadOptions
from motionloom.formats.registry import can_hold_several, format_for_reading, known_formats
from motionloom.intake.clip_names import find_target, is_clip, opened
from motionloom.intake.floor import ground
from motionloom.intake.load import load
from motionloom.motion.motion import Motion
from motionloom.tables.collection.catalogue import Catalogue, ClipEntry, FileRecord, checked_rate
from motionloom.tables.collection.common_skeleton import make_rigid, skeleton_key
from motionloom.tables.collection.learned_plants import METHODS

OURS = (".mlc", ".part")
NO_OTHERS = (".asf", ".mlt")
"""Suffixes of files that belong to clips and collections without being clips."""
STASH_BYTES = 1 << 30
"""Clips read for the survey are kept up to this; beyond it they are read a second time."""
RECIPE = 5
"""Raised when the same file would give other rows or jumps: then everything is read again."""


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


@dataclass(frozen=True, slots=True)
class Reading:
    """How the files of a folder are read."""

    fps: float
    """Rate of the collection."""
    source_fps: Mapping[str, float] | float | None
    unit: str | float | None
    up: str | None
    ground: bool
    plants: str
    keep_glitches: bool
    """Windows with a capture glitch are used like any others."""
    repair_knees: bool
    """Knees captured bent backwards are bent forwards."""

    def __post_init__(self) -> None:
        one_of(self.plants, METHODS, "plants")
        for name in ("ground", "keep_glitches", "repair_knees"):
            flag(getattr(self, name), name)
        object.__setattr__(self, "fps", checked_rate(self.fps, "fps"))
        rates = self.source_fps
        if isinstance(rates, Mapping):
            for key in rates:
                if not isinstance(key, str):
                    raise ArrayError(
                        "`source_fps` must name files by patterns, as {'143_*': 60}, got the key "
                        f"{key!r}."
                    )
            rates = {key: checked_rate(rate, f"source_fps[{key!r}]") for key, rate in rates.items()}
        elif rates is not None:
            rates = checked_rate(rates, "source_fps")
        object.__setattr__(self, "source_fps", rates)

    def key_of(self, folder: Path, file: str) -> str:
        """Digest of a file and of all that decides how it is read."""
        rate = rate_for(file, self.source_fps)
        options = (RECIPE, self.fps, rate, self.unit, self.up, self.ground, self.plants)
        return digest_file(folder / file, repr((*options, self.repair_knees)))


@dataclass(slots=True)
class Stash:
    """Clips that were read and are wanted again soon, as many as may be kept."""

    free_bytes: int = STASH_BYTES
    clips: dict[tuple[str, str], Motion] = field(default_factory=dict)

    def keep(self, file: str, clip: str, motion: Motion) -> None:
        """Keep a clip if it fits."""
        size = motion.local_quats.nbytes + motion.root_positions.nbytes
        if size <= self.free_bytes:
            self.free_bytes -= size
            self.clips[file, clip] = motion

    def take(self, folder: Path, file: str, clip: str, reading: Reading) -> Motion:
        """The clip, kept or read again; it is not kept any longer."""
        motion = self.clips.pop((file, clip), None)
        if motion is None:
            return read_clip(folder, file, clip, reading)[0]
        self.free_bytes += motion.local_quats.nbytes + motion.root_positions.nbytes
        return motion


def survey_files(
    folder: Path,
    files: list[str],
    reading: Reading,
    before: Mapping[tuple[str, str], FileRecord],
    advance: Callable[[float], None],
) -> tuple[list[FileRecord], Stash]:
    """What every file holds, and the clips that were read for it.

    Files in ``known``, records of an earlier survey by file and key, are not read again.
    ``advance`` gets 1 for every file.
    """
    records, stash = [], Stash()
    for file in files:
        key = reading.key_of(folder, file)
        record = before.get((file, key))
        records.append(_read_file(folder, file, key, reading, stash) if record is None else record)
        advance(1.0)
    return records, stash


def _read_file(folder: Path, file: str, key: str, reading: Reading, stash: Stash) -> FileRecord:
    try:
        names = names_in_file(folder / file)
    except MotionLoomError as error:
        return FileRecord(file, key, (), _error_text(error, folder, file))
    clips = []
    for name in names:
        try:
            motion, notes = read_clip(folder, file, name, reading)
        except MotionLoomError as error:
            clips.append(ClipEntry(name, "", 0, (), _error_text(error, folder, file)))
            continue
        stash.keep(file, name, motion)
        clips.append(ClipEntry(name, skeleton_key(motion.skeleton), motion.n_frames, notes))
    if len(clips) == 1 and clips[0].error:
        return FileRecord(file, key, (), clips[0].error)
    return FileRecord(file, key, tuple(clips))


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


def read_clip(
    folder: Path, file: str, clip: str, reading: Reading
) -> tuple[Motion, tuple[str, ...]]:
    """A clip of a file at the collection's rate, with rigid bones; and what was done, in words."""
    rate = rate_for(file, reading.source_fps)
    with warnings.catch_warnings():
        # What would be warned about is in the findings, and goes into the report.
        warnings.simplefilter("ignore", MotionLoomWarning)
        motion = load(folder / file, fps=rate, unit=reading.unit, up=reading.up, clip=clip or None)
        notes = [_note(finding, file) for finding in _findings_to_report(motion)]
        if reading.ground:
            motion = ground(motion)
    if abs(motion.fps - reading.fps) > 1e-3 * reading.fps:
        notes.append(f"resampled from {motion.fps:g} to {reading.fps:g} fps")
        motion, repaired = resample_repaired(motion, reading.fps)
        notes += repaired
    elif motion.fps != reading.fps:
        motion = motion.replace(fps=reading.fps)
    motion, changes = make_rigid(motion)
    return motion, (*notes, *changes)


def _findings_to_report(motion: Motion) -> list[Finding]:
    findings = motion.source.findings
    return [each for each in findings if each.level == "warning" or "T-pose" in each.problem]


def _note(finding: Finding, file: str) -> str:
    if finding.level != "warning":
        return finding.problem.rstrip(".")
    better = re.search(r"fps=([\d.]+\d|\d)", finding.fix)
    if finding.where == "frame rate" and better:
        stem = Path(file).stem
        front, line, _ = stem.rpartition("_")
        pattern = f"{front}{line}*" if front else stem
        return (
            f"warning: {finding.problem} If that is the true rate, pass "
            f"source_fps={{{pattern!r}: {better[1]}}}."
        )
    return f"warning: {finding.where}: {finding.problem}"


def _error_text(error: MotionLoomError, folder: Path, file: str) -> str:
    """An error's text without the folder, which may move, and the file's name."""
    text = " ".join(str(error).replace(f"{folder}/", "").split())
    return text.removeprefix(f"{file}: ")


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
