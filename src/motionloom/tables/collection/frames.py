"""Frames: every frame of a collection in flat arrays, seen from the body; and one clip of it."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, IntArray, cos, sin, whole
from motionloom._core import constant, kernel
from motionloom._records import record, reduced
from motionloom.body.anatomy import FootOffsets, foot_points
from motionloom.body.body_map import BodyMap, facing_of_positions, roles_for
from motionloom.body.root_motion import heading_on_root
from motionloom.errors import ArrayError, SkeletonMismatchError, TableError
from motionloom.features.footplants.detect import detect_footplants
from motionloom.motion.motion import Footplants, Motion, Skeleton
from motionloom.motion.provenance import WHOLE_BODY, Provenance, Track
from motionloom.rotation import quat

FARTHEST_M = 1e6
"""No joint is farther from its parent, and no body from where it began, metres."""
FloatArray32 = npt.NDArray[np.float32]
STEADY = 5
"""Headings are medians over this many frames: hips wobble, a body's heading does not."""
BLOCK = 1 << 16
"""Values that are checked at a time: this many stay in the cache of a processor."""
RELEASED_BYTES = 1 << 27
"""A stream over mapped rows gives its pages back about every time it has read this many bytes."""
SLOWEST = constant("ML_TABLE_SLOWEST")
"""Speeds below this (m/s, rad/s) count as this: a clip that stands sets no lower limit."""
_measure = kernel("ml_pace_measure")


@dataclass(frozen=True, slots=True, eq=False)
@record
class Frames:
    """All clips of a collection end to end, one row a frame, in memory or memory-mapped.

    ``world = turn(heading) @ body + ground`` gives a clip's joints back where they were. A window
    is named by its first row; rows of different clips are never mixed inside one window.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> frames = frames_of([synthetic.clip("walk").motion, synthetic.clip("run").motion])
    >>> frames.row_of("walk", 3), frames.clip_at(3)
    (3, 0)
    """

    skeleton: Skeleton
    body_map: BodyMap
    fps: float
    ids: tuple[str, ...]
    starts: IntArray
    """First row of every clip, and after the last one the number of rows. (C + 1,)"""
    heading: FloatArray
    ground: FloatArray
    quats: FloatArray32
    body: FloatArray32
    points: FloatArray32
    planted: BoolArray
    glitch_rows: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Rows with a capture glitch, ascending; see :func:`find_glitches`. (N,)"""
    home: tuple[Callable[[str, str], Frames], str, str] | None = field(default=None, kw_only=True)
    """How to open them again: a function, and the folder and digest of their collection; None for
    frames in memory."""

    def __reduce__(self) -> tuple[object, ...]:
        if self.home is None:
            return reduced(self)
        reopen, path, digest = self.home
        return reopen, (path, digest)

    def __repr__(self) -> str:
        return f"Frames({self.n_clips} clips, {self.n_rows} frames, {self.fps:g} fps)"

    @property
    def n_rows(self) -> int:
        """Number of frames in all clips together."""
        return int(self.starts[-1])

    @property
    def n_clips(self) -> int:
        """Number of clips."""
        return len(self.ids)

    def clip_at(self, row: int) -> int:
        """Which clip a row belongs to."""
        return int(np.searchsorted(self.starts, row, side="right")) - 1

    def place_of(self, row: int) -> tuple[str, int]:
        """Clip id and frame of a row."""
        clip = self.clip_at(row)
        return self.ids[clip], int(row - self.starts[clip])

    def row_of(self, clip_id: str, frame: int, *, name: str | None = None) -> int:
        """Row of a clip's frame; ``name`` is the argument that an error names."""
        try:
            clip = self.ids.index(clip_id)
        except ValueError:
            names = ", ".join(self.ids[:6])
            more = ", ...; motionloom table info lists them" if len(self.ids) > 6 else ""
            which = "A clip" if name is None else f"The clip of `{name}`"
            raise TableError(
                f"{which} must be one of the collection's {len(self.ids)} ({names}{more}), got "
                f"{clip_id!r}."
            ) from None
        length = int(self.starts[clip + 1] - self.starts[clip])
        frame = whole(frame, f"frame of {clip_id}" if name is None else f"{name}[1]")
        if not 0 <= frame < length:
            which = "" if name is None else f" in `{name}`"
            raise TableError(
                f"Clip {clip_id!r} has frames 0 to {length - 1} at {self.fps:g} fps, got "
                f"{frame}{which}."
            )
        return int(self.starts[clip]) + frame

    def row_at(self, place: tuple[str, int], name: str = "place") -> int:
        """Row of a place, a clip's id and a frame of it, that came as the argument ``name``."""
        if not isinstance(place, tuple | list) or len(place) != 2:
            raise TableError(
                f"`{name}` must be a clip's id and a frame, as ('walk', 120); got {place!r}."
            )
        return self.row_of(place[0], place[1], name=name)

    def windows(self, length: int, *, stride: int = 1) -> IntArray:
        """First rows of every window of ``length`` frames that stays inside one clip."""
        parts = [
            np.arange(first, last - length + 1, stride)
            for first, last in zip(self.starts[:-1], self.starts[1:], strict=True)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)

    def sound(self, rows: IntArray, length: int, *, at_least: int = 1) -> IntArray:
        """The windows without a row of :attr:`glitch_rows`; all windows if too few remain."""
        if not len(self.glitch_rows):
            return rows
        before = np.searchsorted(self.glitch_rows, rows, side="left")
        sound_rows = rows[
            before == np.searchsorted(self.glitch_rows, rows + length - 1, side="right")
        ]
        return sound_rows if len(sound_rows) >= at_least else rows

    def motion(self, first: int, last: int, *, name: str = "") -> Motion:
        """Rows ``first`` to ``last`` (both in it) as a motion, where the clip stood.

        Raises
        ------
        TableError
            The rows hold values that no motion can have.
        """
        for column in ("heading", "ground", "quats", "body"):
            fault = fault_of_rows(column, np.asarray(getattr(self, column))[first : last + 1])
            if fault:
                raise TableError(
                    f"Clip {self.place_of(first)[0]!r} holds {fault} ({column}). The collection is "
                    "damaged: ingest its folder again."
                )
        turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), self.heading[first : last + 1])
        quats = quat.normalize(self.quats[first : last + 1].astype(np.float64))
        quats[:, 0] = quat.multiply(turn, quats[:, 0])
        root = np.zeros((last + 1 - first, 3))
        root[:, [0, 2]] = self.ground[first : last + 1]
        root[:, 1] = self.body[first : last + 1, 0, 1]
        return Motion(self.skeleton, root, quats, self.fps, name=name or self.place_of(first)[0])

    def provenance(
        self,
        rows: FloatArray,
        weights: FloatArray,
        changed: BoolArray,
        *,
        names: Sequence[str] | None = None,
    ) -> Provenance:
        """Provenance of motion made from rows of the collection.

        Parameters
        ----------
        rows : (F, K)
            Rows that a frame was made from, or places between two of a clip; anything where the
            weight is 0.
        weights : (F, K)
            Their shares.
        changed : (F,)
            Frames that are not a clip's own.
        names
            Clips of the collection, in the order that the sources get; by default those that
            occur, in the order of their first frames.
        """
        used = weights != 0.0
        starts = np.asarray(self.starts)
        clips = np.searchsorted(starts, np.floor(np.where(used, rows, 0.0)), side="right") - 1
        if names is None:
            names = list(dict.fromkeys(self.ids[clip] for clip in clips[used].tolist()))
        number = np.full(self.n_clips, -1, dtype=np.int64)
        number[[self.ids.index(name) for name in names]] = np.arange(len(names))
        seconds = (np.where(used, rows, 0.0) - starts[clips]) / self.fps
        track = Track(WHOLE_BODY, np.where(used, number[clips], -1), seconds, weights)
        return Provenance(tuple(names), self.fps, (track,), changed)

    def footplants(self, first: int, last: int) -> Footplants:
        """Which foot points stand in rows ``first`` to ``last``."""
        return Footplants(self.planted[first : last + 1])


def frames_of(
    motions: Sequence[Motion],
    *,
    ids: Sequence[str] | None = None,
    footplants: Sequence[Footplants] | None = None,
) -> Frames:
    """Frames of motions on one skeleton and at one rate, in memory: a collection without a file."""
    if not motions:
        raise ArrayError("`motions` must hold at least one motion, got none.")
    first = motions[0]
    for k, motion in enumerate(motions):
        if not motion.skeleton.same_joints(first.skeleton) or abs(motion.fps - first.fps) > 1e-6:
            raise SkeletonMismatchError(
                f"`motions` must share one skeleton and one rate; {motion!r} (number {k}) differs "
                f"from {first!r}. Use ml.retarget and ml.resample, or Collection.ingest."
            )
    body = BodyMap.guess(first.skeleton, motion=first)
    plants = [None] * len(motions) if footplants is None else footplants
    parts = [clip_frames(m, body=body, footplants=p) for m, p in zip(motions, plants, strict=True)]
    lengths = [motion.n_frames for motion in motions]
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    names = [motion.name or f"clip{k}" for k, motion in enumerate(motions)]
    return Frames(
        first.skeleton,
        body,
        first.fps,
        tuple(names if ids is None else ids),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        *joined,
    )


class ClipFrames(NamedTuple):
    """One clip seen from the body: what a collection keeps of it."""

    heading: FloatArray
    """Where the body faces, radians, unwrapped. (F,)"""
    ground: FloatArray
    """The root joint's (x, z) in the clip's own world, metres. (F, 2)"""
    quats: FloatArray32
    """Local rotations; the first joint's without the heading, which it carries also in rigs that
    hang the pelvis under a root bone. (F, J, 4)"""
    body: FloatArray32
    """Joint positions with the root over the origin and heading 0; heights are kept. (F, J, 3)"""
    points: FloatArray32
    """Left heel, left ball, right heel, right ball, seen likewise. (F, 4, 3)"""
    planted: BoolArray
    """Which of those points stand. (F, 4)"""


def clip_frames(
    motion: Motion,
    *,
    body: BodyMap | None = None,
    footplants: Footplants | None = None,
    feet: tuple[FootOffsets, FootOffsets] | None = None,
) -> ClipFrames:
    """One motion seen from its body, as collections keep it.

    Parameters
    ----------
    motion
        With rigid bones: a collection has one skeleton for all.
    body
        Roles of its joints; guessed by default.
    footplants
        Detected by default.
    feet
        From :func:`foot_offsets`, the same for all clips of a collection.
    """
    if motion.joint_translations is not None:
        raise SkeletonMismatchError(
            f"Clips of a collection must have rigid bones, but joints of {motion!r} slide. "
            "Retarget it first: Collection.ingest does."
        )
    body = roles_for(motion.skeleton, body)
    plants = detect_footplants(motion, body=body) if footplants is None else footplants
    positions, world = motion.world_pose()
    heading = _steady(facing_of_positions(positions, body))
    if body.pelvis:
        motion = heading_on_root(motion, heading, body=body)
        positions, world = motion.world_pose()
    ground = motion.root_positions[:, [0, 2]]
    feet_world = foot_points(motion, body=body, pose=(positions, world), feet=feet)
    back = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), -heading)
    quats = np.array(motion.local_quats)
    quats[:, 0] = quat.multiply(back, quats[:, 0])
    return ClipFrames(
        heading,
        np.ascontiguousarray(ground),
        quat.make_continuous(quats).astype(np.float32),
        seen_from(positions, heading, ground).astype(np.float32),
        seen_from(feet_world, heading, ground).astype(np.float32),
        np.array(plants.planted),
    )


def seen_from(points: FloatArray, heading: FloatArray, ground: FloatArray) -> FloatArray:
    """World points (F, P, 3) with ``ground`` moved to the origin and ``heading`` turned to 0."""
    x = points[..., 0] - ground[:, None, 0]
    z = points[..., 2] - ground[:, None, 1]
    c, s = cos(heading)[:, None], sin(heading)[:, None]
    return np.stack([c * x - s * z, points[..., 1], s * x + c * z], axis=-1)


def _steady(heading: FloatArray) -> FloatArray:
    """Running median of a heading, at its ends over fewer frames."""
    half = min(STEADY // 2, (len(heading) - 1) // 2)
    if half == 0:
        return heading
    padded = np.pad(heading, half, mode="edge")
    return np.asarray(
        np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1), axis=-1)
    )


SHORTEST, LONGEST = 0.5, 2.0
"""Length of a stored rotation, which is rounded to single precision: nearly 1."""


def fault_of_rows(name: str, rows: npt.NDArray[Any]) -> str:
    """What no motion can have among the rows of a column; empty where there is nothing.

    Parameters
    ----------
    name
        Of the column.
    rows
        All of its values.
    """
    if name == "planted":
        is_flag = not rows.size or int(rows.view(np.uint8).max()) <= 1
        return "" if is_flag else "flags that are neither true nor false"
    if name == "quats":
        return "" if _are_rotations(rows.reshape(-1, 4)) else "rotations that have no unit length"
    if _are_bounded(rows.reshape(-1)):
        return ""
    return f"values that are no numbers, or beyond {FARTHEST_M:g}"


def _are_bounded(values: npt.NDArray[Any]) -> bool:
    # Comparisons with what is no number are false.
    return all(
        values[k : k + BLOCK].min() >= -FARTHEST_M and values[k : k + BLOCK].max() <= FARTHEST_M
        for k in range(0, len(values), BLOCK)
    )


def _are_rotations(quats: npt.NDArray[Any]) -> bool:
    for first in range(0, len(quats), BLOCK):
        part = quats[first : first + BLOCK]
        squares = np.einsum("ij,ij->i", part, part)
        if not (squares.min() >= SHORTEST**2 and squares.max() <= LONGEST**2):
            return False
    return True


def release_frames(frames: Frames) -> None:
    """Give back the pages of all columns that are mapped from files; they can be read again."""
    release_arrays(
        frames.heading, frames.ground, frames.quats, frames.body, frames.points, frames.planted
    )


def release_arrays(*arrays: npt.NDArray[Any]) -> None:
    """Give back the pages of arrays that are mapped from files; others are left as they are.

    What was written to a private page is lost with it: rows of collections are never written to.
    """
    for array in arrays:
        base: object = array
        while base is not None and not isinstance(base, mmap.mmap):
            base = getattr(base, "base", None)
        if base is not None and hasattr(base, "madvise"):
            base.madvise(mmap.MADV_DONTNEED)


def check_frames(frames: Frames) -> None:
    """Check every row of a collection, clip by clip.

    Raises
    ------
    TableError
        A clip holds values that no motion can have.
    """
    read = 0
    for clip, name in enumerate(frames.ids):
        rows = slice(int(frames.starts[clip]), int(frames.starts[clip + 1]))
        for column in ClipFrames._fields:
            values = np.asarray(getattr(frames, column))[rows]
            fault = fault_of_rows(column, values)
            if fault:
                raise TableError(
                    f"Clip {name!r} holds {fault} ({column}). The collection is damaged: ingest "
                    "its folder again."
                )
            read += values.nbytes
        if read > RELEASED_BYTES:
            release_frames(frames)
            read = 0


def clip_speeds(frames: Frames, clip: int) -> FloatArray:
    """Largest joint speed m/s, joint turn rad/s, ground speed of the pelvis m/s of a clip. (3,)."""
    first, stop = int(frames.starts[clip]), int(frames.starts[clip + 1])
    pelvis = frames.body_map.pelvis
    n_joints = frames.body.shape[1]
    fastest = np.zeros(3)
    _measure(
        stop - first,
        n_joints,
        frames.heading[first:stop],
        frames.ground[first:stop],
        frames.quats[first:stop],
        frames.body[first:stop],
        0 if pelvis is None else pelvis,
        np.zeros(6 * n_joints),
        fastest,
    )
    return np.asarray(frames.fps * fastest)


def speeds_of_clips(frames: Frames, clips: Iterable[int]) -> FloatArray:
    """The same of many clips, (n, 3)."""
    speeds, read = [], 0
    for clip in clips:
        speeds.append(clip_speeds(frames, clip))
        rows = int(frames.starts[clip + 1] - frames.starts[clip])
        read += rows * (frames.body[0].nbytes + frames.quats[0].nbytes)
        if read > RELEASED_BYTES:
            release_frames(frames)
            read = 0
    return np.array(speeds).reshape(-1, 3)
