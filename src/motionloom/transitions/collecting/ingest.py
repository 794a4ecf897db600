"""Ingest: a folder of clips made into the rows and the catalogue of a collection."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from motionloom.errors import MotionLoomError, TableError
from motionloom.features.jumps import find_jumps
from motionloom.features.repair import repair_capture
from motionloom.motion.body import BodyMap
from motionloom.motion.feet import foot_offsets
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.transitions.collecting.catalogue import (
    Catalogue,
    ClipRecord,
    Common,
    FileRecord,
    Found,
    read_catalogue,
    write_catalogue,
)
from motionloom.transitions.collecting.clip_files import clip_ids, find_clip_files
from motionloom.transitions.collecting.common_skeleton import (
    by_frames,
    common_of,
    make_rigid,
    onto_common,
    root_in_pelvis,
    skeleton_key,
)
from motionloom.transitions.collecting.frames import ClipFrames, clip_frames
from motionloom.transitions.collecting.generations import (
    CATALOGUE,
    LOCK,
    PART,
    before_file,
    discard_generations,
    free_generation,
    generations_before,
)
from motionloom.transitions.collecting.ingest_report import jumps_note
from motionloom.transitions.collecting.progress import progress_bar
from motionloom.transitions.collecting.store import (
    RowWriter,
    digest_rows,
    disk_errors,
    holds_rows,
)
from motionloom.transitions.collecting.survey import Reading, Stash, survey_files

__all__ = ["ingest_folder"]

CHECKPOINT_S, CHECKPOINT_CLIPS = 5.0, 2000
"""A stopped ingest loses no more work than this, in large collections for every so many clips: to
write down where it is takes longer the more there are."""


class _Clip(NamedTuple):
    """A clip that is to be in the collection."""

    id: str
    file: FileRecord
    found: Found


@dataclass(slots=True)
class _Job:
    """An ingest under way."""

    folder: Path
    out: Path
    reading: Reading
    stash: Stash
    common: Common
    example: Motion | Skeleton

    def rows(self, clip: _Clip) -> tuple[ClipFrames, tuple[str, ...], tuple[int, ...]]:
        """A clip's rows on the common skeleton, what was done to it, and frames that jump."""
        motion = self.stash.take(self.folder, clip.file.file, clip.found.clip, self.reading)
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
        jumps = find_jumps(fitted.motion, body=self.common.body)
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

    Files that are as they were are not read again, those that are gone are dropped. The collection
    that was there stays valid until the new one is complete. Where it is ``growing``, its skeleton
    and all its clips stay, or nothing is written. With ``keep_before`` the generation before stays
    on disk, for tables that are still to be extended. Call it within :func:`.writing_collection`.
    """
    files = find_clip_files(folder, but=out)
    old, part = _earlier(out)
    known = {
        (record.file, record.key): record
        for catalogue in (old, part)
        if catalogue is not None
        for record in catalogue.files
    }
    with progress_bar("reading clips", len(files), shown=progress) as advance:
        records, stash = survey_files(folder, files, reading, known, advance)
    n_read = sum((record.file, record.key) not in known for record in records)
    clips = _clips_of(records, folder)
    options = _options(reading, skeleton)
    if growing and old is not None:
        _check_kept(old, clips, folder)
        options = old.options
    if old is not None and n_read == 0 and _is_complete(old, records, options, out):
        _clear(out, old, keep_before=keep_before)
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
            _clear_unnamed(out)
            raise
        _clear(out, done, keep_before=keep_before)
    return done, n_read


def _write(
    job: _Job,
    clips: list[_Clip],
    plan: Catalogue,
    old: Catalogue | None,
    part: Catalogue | None,
    advance: Callable[[float], None],
) -> Catalogue:
    """Write the rows of all clips, those that are there already by copying; the catalogue of it."""
    known = _rows_of(old, plan.common, job.out)
    begun, generation = _begun(clips, plan, old, part, job.out)
    records = list(begun)
    left_out: dict[tuple[str, str], str] = {}
    n_rows = records[-1].first + records[-1].frames if records else 0
    saved = time.monotonic()
    with RowWriter(job.out, generation, plan.common.skeleton.n_joints, n_rows) as writer:
        advance(float(len(records)))
        done = {(record.file, record.clip) for record in records}
        for clip in clips:
            place = (clip.file.file, clip.found.clip)
            if place in done:
                continue
            was = known.get((*place, clip.file.key))
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
                first = writer.append(rows)
                records.append(
                    ClipRecord(
                        clip.id,
                        *place,
                        clip.file.key,
                        first,
                        len(rows.heading),
                        digest_rows(rows),
                        notes,
                        jumps,
                    )
                )
            advance(1.0)
            pause = CHECKPOINT_S * max(1.0, len(records) / CHECKPOINT_CLIPS)
            if time.monotonic() - saved > pause:
                writer.flush()
                so_far = replace(plan, generation=generation, clips=tuple(records))
                write_catalogue(job.out / PART, so_far)
                saved = time.monotonic()
        writer.flush()
    if not records:
        told = "; ".join(f"{file}: {why}" for (file, _), why in list(left_out.items())[:3])
        raise TableError(f"{job.folder} holds no clip that can be used. {told}")
    return replace(
        plan,
        generation=generation,
        clips=tuple(records),
        files=tuple(_with_errors(record, left_out) for record in plan.files),
    )


def _earlier(out: Path) -> tuple[Catalogue | None, Catalogue | None]:
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


def _clear(out: Path, now: Catalogue, *, keep_before: bool) -> None:
    """Remove what a collection that is complete has no use for, unless somebody reads it."""
    with suppress(OSError):
        (out / PART).unlink(missing_ok=True)
        before_file(out, now.generation).unlink(missing_ok=True)  # it was never followed
        for name in (CATALOGUE, PART):
            (out / f".{name}.new").unlink(missing_ok=True)  # named so by older versions
    before = generations_before(out) if keep_before else []
    discard_generations(out, but=[now.generation, *before])


def _clear_unnamed(out: Path) -> None:
    """Remove rows that no catalogue will ever name: a full disk has better uses for its space."""
    named = [each.generation for each in _catalogues(out) if each is not None]
    discard_generations(out, but=[*named, *generations_before(out)])


def _clips_of(records: list[FileRecord], folder: Path) -> list[_Clip]:
    """Every clip that can be used, sorted by id."""
    ids = clip_ids(
        (record.file, tuple(found.clip for found in record.clips) or ("",)) for record in records
    )
    clips = [
        _Clip(ids[record.file, found.clip], record, found)
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


def _common(
    folder: Path,
    clips: list[_Clip],
    reading: Reading,
    stash: Stash,
    said: Motion | Skeleton | None,
) -> tuple[Common, Motion | Skeleton]:
    """What all clips will share, and the clip (or skeleton) that it is taken from."""
    if isinstance(said, Motion):
        rigid = make_rigid(said)[0]
        return common_of(rigid), rigid
    if isinstance(said, Skeleton):
        said = root_in_pelvis(said)
        body = BodyMap.guess(said)
        return Common(said, body, foot_offsets(said, body)), said
    first_error: MotionLoomError | None = None
    # A skeleton without hips or feet can carry no collection: the next one is tried.
    for key in by_frames((clip.found.skeleton, clip.found.frames) for clip in clips):
        clip = next(clip for clip in clips if clip.found.skeleton == key)
        motion = stash.take(folder, clip.file.file, clip.found.clip, reading)
        stash.keep(clip.file.file, clip.found.clip, motion)
        try:
            return common_of(motion), motion
        except MotionLoomError as error:
            first_error = first_error or error
    raise TableError(f"{folder} holds no clip of a body with hips and feet. {first_error}")


def _check_kept(old: Catalogue, clips: list[_Clip], folder: Path) -> None:
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


def _example(
    old: Catalogue, folder: Path, clips: list[_Clip], reading: Reading, stash: Stash
) -> Motion | Skeleton:
    """The clip that a collection's skeleton was taken from; where it was given, the skeleton."""
    key = skeleton_key(old.common.skeleton)
    held = {clip.id for clip in old.clips}
    for clip in clips:
        if clip.id in held and clip.found.skeleton == key and not old.options.get("skeleton"):
            motion = stash.take(folder, clip.file.file, clip.found.clip, reading)
            stash.keep(clip.file.file, clip.found.clip, motion)
            return motion
    return old.common.skeleton


def _is_complete(
    old: Catalogue, records: list[FileRecord], options: dict[str, object], out: Path
) -> bool:
    """Whether the old catalogue is that of the same files, read in the same way, and has rows."""
    have = {(record.file, record.key) for record in old.files}
    is_same = have == {(r.file, r.key) for r in records} and old.options == options
    return is_same and _has_rows(old, out)


def _has_rows(catalogue: Catalogue, out: Path) -> bool:
    n_joints = catalogue.common.skeleton.n_joints
    return holds_rows(out, catalogue.generation, n_joints, catalogue.n_rows)


def _options(reading: Reading, skeleton: Motion | Skeleton | None) -> dict[str, object]:
    named = skeleton.skeleton if isinstance(skeleton, Motion) else skeleton
    return {
        "plants": reading.plants,
        "grounded": reading.grounded,
        "keep_jumps": reading.keep_jumps,
        "repair_knees": reading.repair_knees,
        "skeleton": "" if named is None else skeleton_key(named),
    }


def _rows_of(
    old: Catalogue | None, common: Common, out: Path
) -> dict[tuple[str, str, str], ClipRecord]:
    """Clips whose rows can be used again, by file, clip and key."""
    if old is None or old.common.json() != common.json() or not _has_rows(old, out):
        return {}
    return {(clip.file, clip.clip, clip.key): clip for clip in old.clips}


def _begun(
    clips: list[_Clip],
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


def _with_errors(record: FileRecord, left_out: dict[tuple[str, str], str]) -> FileRecord:
    clips = tuple(
        found._replace(error=left_out.get((record.file, found.clip), found.error))
        for found in record.clips
    )
    return record._replace(clips=clips)


def _relative(folder: Path, out: Path) -> str:
    """The folder as seen from where the collection lies, so that both can be moved together."""
    return Path(os.path.relpath(folder.resolve(), out.resolve().parent)).as_posix()
