"""A survey of a folder: every file read once, its clips at one rate and with rigid bones."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from motionloom.errors import MotionLoomError
from motionloom.features.glitches.repair import resample_repaired
from motionloom.findings import Finding, MotionLoomWarning
from motionloom.intake.ground import ground
from motionloom.intake.load import load
from motionloom.motion.motion import Motion
from motionloom.tables.collection.catalogue import FileRecord, Found
from motionloom.tables.collection.common_skeleton import make_rigid, skeleton_key
from motionloom.tables.collection.folder_clips import digest_file, names_in_file, rate_for

__all__ = ["Reading", "Stash", "read_clip", "survey_files"]

STASH_BYTES = 1 << 30
"""Clips read for the survey are kept up to this; beyond it they are read a second time."""
RECIPE = 5
"""Raised when the same file would give other rows or jumps: then everything is read again."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How the files of a folder are read."""

    fps: float
    """Rate of the collection."""
    source_fps: Mapping[str, float] | float | None = None
    unit: str | float | None = None
    up: str | None = None
    grounded: bool = False
    plants: str = "thresholds"
    keep_jumps: bool = False
    """Windows over frames that were captured wrong are used like any others."""
    repair_knees: bool = True
    """Knees captured bent backwards are bent forwards."""

    def key_of(self, folder: Path, file: str) -> str:
        """Digest of a file and of all that decides how it is read."""
        rate = rate_for(file, self.source_fps)
        said = (RECIPE, self.fps, rate, self.unit, self.up, self.grounded, self.plants)
        return digest_file(folder / file, repr((*said, self.repair_knees)))


@dataclass(slots=True)
class Stash:
    """Clips that were read and are wanted again soon, as many as may be kept."""

    room: int = STASH_BYTES
    clips: dict[tuple[str, str], Motion] = field(default_factory=dict)

    def keep(self, file: str, clip: str, motion: Motion) -> None:
        """Keep a clip if there is room."""
        size = motion.local_quats.nbytes + motion.root_positions.nbytes
        if size <= self.room:
            self.room -= size
            self.clips[file, clip] = motion

    def take(self, folder: Path, file: str, clip: str, reading: Reading) -> Motion:
        """The clip, kept or read again; it is not kept any longer."""
        kept = self.clips.pop((file, clip), None)
        if kept is None:
            return read_clip(folder, file, clip, reading)[0]
        self.room += kept.local_quats.nbytes + kept.root_positions.nbytes
        return kept


def survey_files(
    folder: Path,
    files: list[str],
    reading: Reading,
    known: Mapping[tuple[str, str], FileRecord],
    advance: Callable[[float], None],
) -> tuple[list[FileRecord], Stash]:
    """What every file holds, and the clips that were read for it.

    Files in ``known``, records of an earlier survey by file and key, are not read again.
    ``advance`` is told 1 for every file.
    """
    records, stash = [], Stash()
    for file in files:
        key = reading.key_of(folder, file)
        record = known.get((file, key))
        records.append(_read_file(folder, file, key, reading, stash) if record is None else record)
        advance(1.0)
    return records, stash


def _read_file(folder: Path, file: str, key: str, reading: Reading, stash: Stash) -> FileRecord:
    try:
        names = names_in_file(folder / file)
    except MotionLoomError as error:
        return FileRecord(file, key, (), _told(error, folder, file))
    found = []
    for name in names:
        try:
            motion, notes = read_clip(folder, file, name, reading)
        except MotionLoomError as error:
            found.append(Found(name, "", 0, (), _told(error, folder, file)))
            continue
        stash.keep(file, name, motion)
        found.append(Found(name, skeleton_key(motion.skeleton), motion.n_frames, notes))
    if len(found) == 1 and found[0].error:
        return FileRecord(file, key, (), found[0].error)
    return FileRecord(file, key, tuple(found))


def read_clip(
    folder: Path, file: str, clip: str, reading: Reading
) -> tuple[Motion, tuple[str, ...]]:
    """A clip of a file at the collection's rate, with rigid bones; and what was done, in words."""
    rate = rate_for(file, reading.source_fps)
    with warnings.catch_warnings():
        # What would be warned about is in the findings, and goes into the report.
        warnings.simplefilter("ignore", MotionLoomWarning)
        motion = load(folder / file, fps=rate, unit=reading.unit, up=reading.up, clip=clip or None)
        notes = [_note(finding, file) for finding in _worth_telling(motion)]
        if reading.grounded:
            motion = ground(motion)
    if abs(motion.fps - reading.fps) > 1e-3 * reading.fps:
        notes.append(f"resampled from {motion.fps:g} to {reading.fps:g} fps")
        motion, repaired = resample_repaired(motion, reading.fps)
        notes += repaired
    elif motion.fps != reading.fps:
        motion = motion.replace(fps=reading.fps)
    motion, made = make_rigid(motion)
    return motion, (*notes, *made)


def _worth_telling(motion: Motion) -> list[Finding]:
    found = motion.source.findings
    return [each for each in found if each.level == "warning" or "T-pose" in each.problem]


def _note(finding: Finding, file: str) -> str:
    if finding.level != "warning":
        return finding.problem.rstrip(".")
    better = re.search(r"fps=([\d.]+\d|\d)", finding.fix)
    if finding.where == "frame rate" and better:
        stem = Path(file).stem
        front, line, _ = stem.rpartition("_")
        pattern = f"{front}{line}*" if front else stem
        return (
            f"warning: {finding.problem} Say source_fps={{{pattern!r}: {better[1]}}} "
            "if that is the true rate."
        )
    return f"warning: {finding.where}: {finding.problem}"


def _told(error: MotionLoomError, folder: Path, file: str) -> str:
    """An error's text without the folder, which may be elsewhere tomorrow, and the file's name."""
    text = " ".join(str(error).replace(f"{folder}/", "").split())
    return text.removeprefix(f"{file}: ")
