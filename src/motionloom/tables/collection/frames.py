"""Frames: every frame of a collection in flat arrays, seen from the body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray, IntArray, whole
from motionloom._elementary import cos, sin
from motionloom._records import record, reduced
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.facing import facing_of_positions
from motionloom.body.feet import FootOffsets, foot_points
from motionloom.body.root_motion import heading_on_root
from motionloom.errors import ArrayError, SkeletonMismatchError, TableError
from motionloom.features.footplants.detect import detect_footplants
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat
from motionloom.tables.collection.row_check import fault_of_rows

__all__ = ["ClipFrames", "FloatArray32", "Frames", "clip_frames", "frames_of"]

FloatArray32 = npt.NDArray[np.float32]

STEADY = 5
"""Headings are medians over this many frames: hips wobble, a body's heading does not."""


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
    jumps: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Rows that were captured wrong, ascending; see :func:`find_glitches`. (N,)"""
    home: tuple[str, str] | None = field(default=None, kw_only=True)
    """Folder and digest of the collection that they lie in; None for frames in memory."""

    def __reduce__(self) -> tuple[object, ...]:
        if self.home is None:
            return reduced(self)
        return _reopened, self.home

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

    def row_of(self, clip_id: str, frame: int) -> int:
        """Row of a clip's frame."""
        try:
            clip = self.ids.index(clip_id)
        except ValueError:
            near = ", ".join(self.ids[:6])
            raise TableError(
                f"`{clip_id}` must be a clip of the collection, which has {len(self.ids)} clips "
                f"({near}, ...). `motionloom table info` lists them."
            ) from None
        length = int(self.starts[clip + 1] - self.starts[clip])
        frame = whole(frame, f"frame of {clip_id}")
        if not 0 <= frame < length:
            raise TableError(
                f"Clip {clip_id!r} has frames 0 to {length - 1} at {self.fps:g} fps, got {frame}."
            )
        return int(self.starts[clip]) + frame

    def row_at(self, place: tuple[str, int]) -> int:
        """Row of a place: a clip's id and a frame of it."""
        if not isinstance(place, tuple | list) or len(place) != 2:
            raise TableError(
                f"A place must be a clip's id and a frame, as ('walk', 120); got {place!r}."
            )
        return self.row_of(place[0], place[1])

    def windows(self, length: int, *, stride: int = 1) -> IntArray:
        """First rows of every window of ``length`` frames that stays inside one clip."""
        parts = [
            np.arange(first, last - length + 1, stride)
            for first, last in zip(self.starts[:-1], self.starts[1:], strict=True)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)

    def sound(self, rows: IntArray, length: int, *, at_least: int = 1) -> IntArray:
        """Those of the windows that hold no row of :attr:`jumps`; all where too few are left."""
        if not len(self.jumps):
            return rows
        before = np.searchsorted(self.jumps, rows, side="left")
        kept = rows[before == np.searchsorted(self.jumps, rows + length - 1, side="right")]
        return kept if len(kept) >= at_least else rows

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

    def footplants(self, first: int, last: int) -> Footplants:
        """Which foot points stand in rows ``first`` to ``last``."""
        return Footplants(self.planted[first : last + 1])


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


def _steady(heading: FloatArray) -> FloatArray:
    """Running median of a heading, at its ends over fewer frames."""
    half = min(STEADY // 2, (len(heading) - 1) // 2)
    if half == 0:
        return heading
    padded = np.pad(heading, half, mode="edge")
    return np.asarray(
        np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1), axis=-1)
    )


def _reopened(path: str, digest: str) -> Frames:
    """The frames of a collection that was pickled or copied; the file is mapped again."""
    from motionloom.tables.collection.collection import reopened

    return reopened(path, digest).frames
