"""A survey of a folder: every file read once, its clips at one rate; and the ingest report."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from motionloom._arrays import flag, one_of
from motionloom._records import record
from motionloom.errors import ArrayError, MotionLoomError
from motionloom.features.glitches.glitch_frames import Glitch
from motionloom.features.glitches.repair import resample_repaired
from motionloom.findings import Finding, MotionLoomWarning
from motionloom.intake.floor import ground
from motionloom.intake.load import load
from motionloom.motion.motion import Motion
from motionloom.tables.collection.catalogue import Catalogue, ClipEntry, FileRecord
from motionloom.tables.collection.catalogue_check import checked_rate
from motionloom.tables.collection.common_skeleton import make_rigid, skeleton_key
from motionloom.tables.collection.folder_clips import (
    digest_file,
    fits_pattern,
    names_in_file,
    rate_for,
)
from motionloom.tables.collection.learned_plants import METHODS

STASH_BYTES = 1 << 30
"""Clips read for the survey are kept up to this; beyond it they are read a second time."""
RECIPE = 5
"""Raised when the same file would give other rows or jumps: then everything is read again."""


class ReadingOptions(TypedDict, total=False):
    """Keyword arguments of :meth:`Collection.ingest` that few callers need."""

    source_fps: Mapping[str, float] | float | None
    unit: str | float | None
    up: str | None
    ground: bool
    plants: str
    keep_glitches: bool
    repair_knees: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """How the files of a folder are read."""

    fps: float
    """Rate of the collection."""
    source_fps: Mapping[str, float] | float | None = None
    unit: str | float | None = None
    up: str | None = None
    ground: bool = False
    plants: str = "thresholds"
    keep_glitches: bool = False
    """Windows with a capture glitch are used like any others."""
    repair_knees: bool = True
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


NAMED = 5
"""Clips named one by one where many have the same note."""


@dataclass(frozen=True, slots=True)
@record
class IngestReport:
    """What a collection consists of; ``print(report)`` lists it.

    Attributes
    ----------
    clips : int
        Number of clips.
    frames : int
        Number of frames.
    fps : float
        Frames per second.
    notes : tuple
        Clip id and what was noticed or done, in the order of the clips.
    left_out : tuple
        File (with ``#clip`` in a file of several) and why it is not in the collection.
    read : int
        Files that were read in this run; the rest was the same as before.
    remarks : tuple of str
        Patterns of ``source_fps`` that match no file.
    skipped : tuple of str
        Files of the folder that are no clips, when it was ingested; not stored.
    """

    clips: int
    frames: int
    fps: float
    notes: tuple[tuple[str, str], ...]
    left_out: tuple[tuple[str, str], ...]
    read: int = 0
    remarks: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()

    def noted(self, word: str) -> tuple[str, ...]:
        """Ids of the clips with a note that contains ``word``, such as ``"retargeted"``.

        Returns
        -------
        tuple of str
            Ids of clips.
        """
        return tuple(dict.fromkeys(clip for clip, note in self.notes if word in note))

    @property
    def retargeted(self) -> tuple[str, ...]:
        """Clips that came on another skeleton."""
        return self.noted("retargeted")

    @property
    def resampled(self) -> tuple[str, ...]:
        """Clips that came at another rate."""
        return self.noted("resampled")

    @property
    def jumping(self) -> tuple[str, ...]:
        """Clips with a capture glitch."""
        return self.noted("frame jumps") + self.noted("frames jump")

    @property
    def warnings(self) -> tuple[tuple[str, str], ...]:
        """Clip id and text of every fault in spite of which a file could be read."""
        return tuple((clip, note) for clip, note in self.notes if note.startswith("warning"))

    def __str__(self) -> str:
        lines = [
            f"{self.clips} clips, {self.frames} frames at {self.fps:g} fps "
            f"({self.frames / self.fps:.0f} s)"
        ]
        for note in dict.fromkeys(note for _, note in self.notes):
            ids = [clip for clip, each in self.notes if each == note]
            lines.append(f"{_few(ids)}: {note}")
        lines += [f"left out: {file}: {reason}" for file, reason in self.left_out]
        if self.skipped:
            lines.append(f"skipped, not clips: {_few(self.skipped)}")
        lines += self.remarks
        return "\n".join(lines)


def _few(names: Sequence[str]) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def jumps_note(jumps: Sequence[Glitch]) -> str:
    """The note about frames with a capture glitch."""
    listed = _few([f"{jump.frame} ({jump.joint})" for jump in jumps])
    frames = "frame jumps" if len(jumps) == 1 else "frames jump"
    return f"capture glitch: {len(jumps)} {frames}: {listed}"


def report_of(
    catalogue: Catalogue,
    *,
    read: int = 0,
    source_fps: Mapping[str, float] | float | None = None,
    skipped: tuple[str, ...] = (),
) -> IngestReport:
    """The report of a catalogue, and which patterns of ``source_fps`` fitted no file."""
    names = [file.file for file in catalogue.files]
    idle = [
        f"warning: source_fps[{pattern!r}] fits the name of no file"
        for pattern in (source_fps if isinstance(source_fps, Mapping) else ())
        if not any(fits_pattern(name, pattern) for name in names)
    ]
    entries = {(file.file, each.clip): each for file in catalogue.files for each in file.clips}
    notes, present = [], set()
    for clip in catalogue.clips:
        present.add((clip.file, clip.clip))
        notes += [(clip.id, note) for note in (*entries[clip.file, clip.clip].notes, *clip.notes)]
    left_out = []
    for file in catalogue.files:
        if file.error:
            left_out.append((file.file, file.error))
        for each in file.clips:
            if (file.file, each.clip) not in present:
                name = f"{file.file}#{each.clip}" if each.clip else file.file
                left_out.append((name, each.error))
    return IngestReport(
        len(catalogue.clips),
        catalogue.n_rows,
        catalogue.fps,
        tuple(notes),
        tuple(left_out),
        read,
        tuple(idle),
        skipped,
    )
