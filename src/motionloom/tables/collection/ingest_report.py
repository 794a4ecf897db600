"""What became of the files of a folder: retargeted, resampled, left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from motionloom._records import record
from motionloom.features.glitches.glitch_frames import Glitch
from motionloom.tables.collection.catalogue import Catalogue
from motionloom.tables.collection.folder_clips import fits_pattern

__all__ = ["IngestReport", "report_of"]

NAMED = 5
"""Clips named one by one where many have the same note."""


@dataclass(frozen=True, slots=True)
@record
class IngestReport:
    """What a collection was made of. ``print(report)`` tells it in lines."""

    clips: int
    frames: int
    fps: float
    notes: tuple[tuple[str, str], ...]
    """Clip id and what was noticed or done, in the order of the clips."""
    left_out: tuple[tuple[str, str], ...]
    """File (with ``#clip`` in a file of several) and why it is not in the collection."""
    read: int = 0
    """Files that were read in this run; the rest was the same as before."""
    remarks: tuple[str, ...] = ()
    """What was said about reading and fitted no file."""

    def noted(self, word: str) -> tuple[str, ...]:
        """Ids of the clips with a note that contains ``word``, such as ``"retargeted"``."""
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
        """Clips with frames that were captured wrong."""
        return self.noted("captured wrong")

    @property
    def warnings(self) -> tuple[tuple[str, str], ...]:
        """Clip id and text of every fault that was read around."""
        return tuple((clip, note) for clip, note in self.notes if note.startswith("warning"))

    def __str__(self) -> str:
        lines = [
            f"{self.clips} clips, {self.frames} frames at {self.fps:g} fps "
            f"({self.frames / self.fps:.0f} s)"
        ]
        often = Counter(note for _, note in self.notes)
        for note, count in often.items():
            ids = [clip for clip, each in self.notes if each == note]
            named = ", ".join(ids[:NAMED]) + (f" and {count - NAMED} more" * (count > NAMED))
            lines.append(f"{named}: {note}")
        lines += [f"left out: {file}: {reason}" for file, reason in self.left_out]
        lines += self.remarks
        return "\n".join(lines)


def jumps_note(jumps: Sequence[Glitch]) -> str:
    """What is said of frames that were captured wrong."""
    told = ", ".join(f"{jump.frame} ({jump.joint})" for jump in jumps[:NAMED])
    more = f" and {len(jumps) - NAMED} more" if len(jumps) > NAMED else ""
    frames = "frame jumps" if len(jumps) == 1 else "frames jump"
    return f"captured wrong: {len(jumps)} {frames}: {told}{more}"


def report_of(
    catalogue: Catalogue,
    *,
    read: int = 0,
    source_fps: Mapping[str, float] | float | None = None,
) -> IngestReport:
    """The report of a catalogue, and which patterns of ``source_fps`` fitted no file."""
    names = [file.file for file in catalogue.files]
    idle = [
        f"warning: source_fps[{pattern!r}] fits the name of no file"
        for pattern in (source_fps if isinstance(source_fps, Mapping) else ())
        if not any(fits_pattern(name, pattern) for name in names)
    ]
    found = {(file.file, each.clip): each for file in catalogue.files for each in file.clips}
    notes, there = [], set()
    for clip in catalogue.clips:
        there.add((clip.file, clip.clip))
        notes += [(clip.id, note) for note in (*found[clip.file, clip.clip].notes, *clip.notes)]
    left_out = []
    for file in catalogue.files:
        if file.error:
            left_out.append((file.file, file.error))
        for each in file.clips:
            if (file.file, each.clip) not in there:
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
    )
