"""Ingest: a folder of clips made into the rows and the catalogue of a collection; its report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from motionloom._progress import progress_bar
from motionloom._records import record
from motionloom.body.anatomy import foot_offsets
from motionloom.body.body_map import BodyMap
from motionloom.errors import MotionLoomError, TableError
from motionloom.features.glitches.glitch_frames import Glitch, find_glitches
from motionloom.features.glitches.repair import repair_capture
from motionloom.motion.motion import Motion, Skeleton
from motionloom.tables.collection.catalogue import (
    Catalogue,
    ClipRecord,
    Common,
    FileRecord,
    disk_errors,
    write_catalogue,
)
from motionloom.tables.collection.common_skeleton import (
    by_frames,
    common_of,
    make_rigid,
    onto_common,
    root_in_pelvis,
    skeleton_key,
)
from motionloom.tables.collection.folder_clips import (
    ClipToPack,
    Reading,
    Stash,
    check_kept,
    clips_to_pack,
    find_clip_files,
    fits_pattern,
    survey_files,
)
from motionloom.tables.collection.frames import ClipFrames, clip_frames
from motionloom.tables.collection.store import (
    CATALOGUE,
    PART,
    RowWriter,
    before_file,
    begun_rows,
    clear_after,
    clear_unnamed,
    digest_rows,
    earlier_catalogues,
    is_complete,
    rows_to_copy,
)

CHECKPOINT_S, CHECKPOINT_CLIPS = 5.0, 2000
"""A stopped ingest loses the work of at most this many seconds, in larger collections of this many
seconds for every 2000 clips: the catalogue of more clips takes longer to write."""


@dataclass(slots=True)
class _Job:
    """An ingest under way."""

    folder: Path
    out: Path
    reading: Reading
    stash: Stash
    common: Common
    example: Motion | Skeleton

    def rows(self, clip: ClipToPack) -> tuple[ClipFrames, tuple[str, ...], tuple[int, ...]]:
        """A clip's rows on the common skeleton, what was done to it, and frames that jump."""
        motion = self.stash.take(self.folder, clip.file.file, clip.entry.clip, self.reading)
        repaired = repair_capture(motion, knees=self.reading.repair_knees)
        fitted = onto_common(
            repaired.motion, self.common, self.example, plants_by_name=self.reading.plants
        )
        rows = clip_frames(
            fitted.motion,
            body=self.common.body,
            footplants=fitted.footplants,
            feet=self.common.feet,
        )
        jumps = find_glitches(fitted.motion, body=self.common.body)
        notes = (*repaired.notes, *fitted.notes, *([jumps_note(jumps)] if jumps else []))
        return rows, notes, tuple(jump.frame for jump in jumps)


def ingest_folder(
    folder: Path,
    out: Path,
    reading: Reading,
    *,
    skeleton: Motion | Skeleton | None = None,
    growing: bool = False,
    keep_before: bool = False,
    progress: bool = False,
) -> tuple[Catalogue, int]:
    """The catalogue of a folder's clips, with rows in ``out``; and how many files were read.

    Unchanged files are not read again, and files that are gone are dropped. The collection
    that was there stays valid until the new one is complete. Where it is ``growing``, its skeleton
    and all its clips stay, or nothing is written. With ``keep_before`` the generation before stays
    on disk, for tables that are still to be extended. Call it within :func:`.writing_collection`.
    """
    files = find_clip_files(folder, but=out)
    old, part = earlier_catalogues(out)
    read_before = {
        (record.file, record.key): record
        for catalogue in (old, part)
        if catalogue is not None
        for record in catalogue.files
    }
    with progress_bar("reading clips", len(files), shown=progress) as advance:
        records, stash = survey_files(folder, files, reading, read_before, advance)
    n_read = sum((record.file, record.key) not in read_before for record in records)
    clips = clips_to_pack(records, folder)
    options = _options(reading, skeleton)
    if growing and old is not None:
        check_kept(old, clips, folder)
        options = old.options
    if old is not None and n_read == 0 and is_complete(old, records, options, out):
        clear_after(out, old, keep_before=keep_before)
        return old, 0
    if growing and old is not None:
        common, example = old.common, skeleton or _example(old, folder, clips, reading, stash)
    else:
        common, example = _common(folder, clips, reading, stash, skeleton)
    job = _Job(folder, out, reading, stash, common, example)
    plan = Catalogue(
        _relative(folder, out),
        reading.fps,
        options,
        common,
        0,
        (),
        tuple(records),
    )
    with disk_errors(out, "What was there before is unchanged."):
        try:
            with progress_bar("packing clips", len(clips), shown=progress) as advance:
                done = _write(job, clips, plan, old, part, advance)
            if old is not None and keep_before:
                write_catalogue(before_file(out, old.generation), old)
            write_catalogue(out / CATALOGUE, done)
        except BaseException:
            clear_unnamed(out)
            raise
        clear_after(out, done, keep_before=keep_before)
    return done, n_read


def _write(
    job: _Job,
    clips: list[ClipToPack],
    plan: Catalogue,
    old: Catalogue | None,
    part: Catalogue | None,
    advance: Callable[[float], None],
) -> Catalogue:
    """Write the rows of all clips, copying those that are stored already; return the catalogue."""
    reusable = rows_to_copy(old, plan.common, job.out)
    begun, generation = begun_rows(clips, plan, old, part, job.out)
    records = list(begun)
    left_out: dict[tuple[str, str], str] = {}
    n_rows = records[-1].first + records[-1].frames if records else 0
    saved = time.monotonic()
    with RowWriter(job.out, generation, plan.common.skeleton.n_joints, n_rows) as writer:
        advance(float(len(records)))
        done = {(record.file, record.clip) for record in records}
        for clip in clips:
            place = (clip.file.file, clip.entry.clip)
            if place in done:
                continue
            was = reusable.get((*place, clip.file.key))
            if was is not None and old is not None:
                first = writer.copy(old.generation, was.first, was.frames)
                records.append(was._replace(id=clip.id, first=first))
            else:
                try:
                    rows, notes, jumps = job.rows(clip)
                except MotionLoomError as error:
                    left_out[place] = " ".join(str(error).split())
                    advance(1.0)
                    continue
                first, count = writer.append(rows), len(rows.heading)
                key, digest = clip.file.key, digest_rows(rows)
                records.append(ClipRecord(clip.id, *place, key, first, count, digest, notes, jumps))
            advance(1.0)
            pause = CHECKPOINT_S * max(1.0, len(records) / CHECKPOINT_CLIPS)
            if time.monotonic() - saved > pause:
                writer.flush()
                so_far = replace(plan, generation=generation, clips=tuple(records))
                write_catalogue(job.out / PART, so_far)
                saved = time.monotonic()
        writer.flush()
    if not records:
        reasons = "; ".join(f"{file}: {why}" for (file, _), why in list(left_out.items())[:3])
        raise TableError(f"{job.folder} holds no clip that can be used. {reasons}")
    return replace(
        plan,
        generation=generation,
        clips=tuple(records),
        files=tuple(_with_errors(record, left_out) for record in plan.files),
    )


def _common(
    folder: Path,
    clips: list[ClipToPack],
    reading: Reading,
    stash: Stash,
    given: Motion | Skeleton | None,
) -> tuple[Common, Motion | Skeleton]:
    """Skeleton, roles and feet that all clips share, and the clip or skeleton they are from."""
    if isinstance(given, Motion):
        rigid = make_rigid(given)[0]
        return common_of(rigid), rigid
    if isinstance(given, Skeleton):
        given = root_in_pelvis(given)
        body = BodyMap.guess(given)
        return Common(given, body, foot_offsets(given, body)), given
    first_error: MotionLoomError | None = None
    # A skeleton without hips or feet can carry no collection: the next one is tried.
    for key in by_frames((clip.entry.skeleton, clip.entry.frames) for clip in clips):
        clip = next(clip for clip in clips if clip.entry.skeleton == key)
        motion = stash.take(folder, clip.file.file, clip.entry.clip, reading)
        stash.keep(clip.file.file, clip.entry.clip, motion)
        try:
            return common_of(motion), motion
        except MotionLoomError as error:
            first_error = first_error or error
    raise TableError(f"{folder} holds no clip of a body with hips and feet. {first_error}")


def _example(
    old: Catalogue, folder: Path, clips: list[ClipToPack], reading: Reading, stash: Stash
) -> Motion | Skeleton:
    """The clip that a collection's skeleton was taken from; where it was given, the skeleton."""
    key = skeleton_key(old.common.skeleton)
    held = {clip.id for clip in old.clips}
    for clip in clips:
        if clip.id in held and clip.entry.skeleton == key and not old.options.get("skeleton"):
            motion = stash.take(folder, clip.file.file, clip.entry.clip, reading)
            stash.keep(clip.file.file, clip.entry.clip, motion)
            return motion
    return old.common.skeleton


def _options(reading: Reading, skeleton: Motion | Skeleton | None) -> dict[str, object]:
    named = skeleton.skeleton if isinstance(skeleton, Motion) else skeleton
    return {
        "plants": reading.plants,
        "grounded": reading.ground,
        "keep_jumps": reading.keep_glitches,  # the name in files of every version
        "repair_knees": reading.repair_knees,
        "skeleton": "" if named is None else skeleton_key(named),
    }


def _with_errors(record: FileRecord, left_out: dict[tuple[str, str], str]) -> FileRecord:
    clips = tuple(
        entry._replace(error=left_out.get((record.file, entry.clip), entry.error))
        for entry in record.clips
    )
    return record._replace(clips=clips)


def _relative(folder: Path, out: Path) -> str:
    """The folder as seen from where the collection lies, so that both can be moved together."""
    return Path(os.path.relpath(folder.resolve(), out.resolve().parent)).as_posix()


NAMED = 5
"""Clips that are named one by one where many have the same note."""


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


def jumps_note(jumps: Sequence[Glitch]) -> str:
    """The note about frames with a capture glitch."""
    listed = _few([f"{jump.frame} ({jump.joint})" for jump in jumps])
    frames = "frame jumps" if len(jumps) == 1 else "frames jump"
    return f"capture glitch: {len(jumps)} {frames}: {listed}"


def _few(names: Sequence[str]) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
