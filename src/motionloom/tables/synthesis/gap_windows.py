"""Gap windows: the two sides of a gap, and captured windows of any length that fit between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray, of_kind, whole
from motionloom._records import record
from motionloom.errors import ArrayError, SkeletonMismatchError, TableError
from motionloom.motion.motion import Motion
from motionloom.tables.collection.common_skeleton import bones_apart
from motionloom.tables.collection.frames import FloatArray32, Frames, clip_frames
from motionloom.tables.index.contexts import (
    Line,
    Side,
    context_offsets,
    contexts,
    displacements,
    spans_of,
)
from motionloom.tables.index.neighbours import Neighbours, WindowIndex
from motionloom.tables.index.windows import windows_of
from motionloom.tables.score.stance import BALLS

COUNT = 64
"""Windows that are averaged at most; a single one keeps more of its style."""
NEAR = 1.6
"""Windows farther away than this times the nearest do not count."""
MOST_ROWS = 200_000
"""Windows of other lengths are compared in collections of up to this many frames; in larger ones
an index finds windows of the gap's length."""
RATES = (0.67, 0.73, 0.8, 0.87, 0.93, 1.0, 1.07, 1.15, 1.25, 1.36, 1.5)
"""Lengths of windows that are compared, as parts of the gap's. Two people walk at two cadences:
the steps of one fit between the steps of the other only when they are played at another rate."""
BLOCK = 8192
"""Rows whose contexts are in memory at a time."""


class OuterPose(NamedTuple):
    """The captured pose before a gap's start or after its end."""

    root: FloatArray
    """(3,)"""
    quats: FloatArray
    """(J, 4)"""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Gap:
    """The two sides of a gap: the last row before it and the first one after."""

    frames: Frames
    """Where the rows are: the collection's, or the motion's own around the gap."""
    start: int
    end: int
    length: int
    """Frames from one to the other, both counted."""

    def line(self) -> Line:
        """The straight path across the gap, turning by the shorter way."""
        rows = np.array([self.start, self.end])
        heading, ground = self.frames.heading[rows], self.frames.ground[rows]
        turn = np.mod(heading[1] - heading[0] + np.pi, 2.0 * np.pi) - np.pi
        return Line(
            heading[:1],
            ground[:1],
            np.array([turn]) / (self.length - 1),
            (ground[1:] - ground[:1]) / (self.length - 1),
        )

    def stands(self) -> BoolArray:
        """Whether each ball stands at the start and at the end, (2, 2)."""
        return np.asarray(self.frames.planted[[self.start, self.end]][:, list(BALLS)].T)

    def outer(self) -> tuple[OuterPose | None, OuterPose | None]:
        """Poses before the start and after the end, None where the motion has no frame there."""
        return self._pose(self.start, -1), self._pose(self.end, 1)

    def _pose(self, row: int, step: int) -> OuterPose | None:
        """The pose one frame from a row in the same clip."""
        other = row + step
        if not 0 <= other < self.frames.n_rows:
            return None
        if self.frames.clip_at(other) != self.frames.clip_at(row):
            return None
        pose = self.frames.motion(other, other)
        return OuterPose(pose.root_positions[0], pose.local_quats[0])

    def question(self) -> tuple[FloatArray32, FloatArray32, FloatArray]:
        """Contexts of both sides and the displacement between, as an index takes them."""
        start, end = np.array([self.start]), np.array([self.end])
        way = displacements(self.frames, start, end)[0]
        turn = self.frames.heading[self.end] - self.frames.heading[self.start]
        if turn != 0.0:
            way[2] *= self.line().turn[0] * (self.length - 1) / turn
        return (
            contexts(self.frames, start, side="start")[0],
            contexts(self.frames, end, side="end")[0],
            way,
        )


@dataclass(frozen=True, slots=True, eq=False)
class WindowQuery:
    """Which captured windows may fill a gap."""

    index: WindowIndex | None = None
    """Searched if its windows are as long as the gap; otherwise all windows are compared."""
    count: int = COUNT
    """How many at most; those much farther than the nearest do not count."""
    exclude: Sequence[str] = ()
    """Clips that are not to be used."""
    stretch: float = RATES[-1]
    """Windows are played at most this many times faster or slower than they were captured."""

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ArrayError(f"`count` must be at least 1, got {self.count}.")


def check_gap(motion: Motion, first: int, last: int) -> tuple[int, int]:
    """First and last frame of a gap, with a frame of the motion before and one after it."""
    of_kind(motion, Motion, "motion")
    first, last = whole(first, "first"), whole(last, "last")
    if motion.n_frames < 3:
        raise ArrayError(
            "`motion` must have at least 3 frames, so that a gap has one before and one after it, "
            f"got {motion.n_frames}."
        )
    if not 1 <= first <= last <= motion.n_frames - 2:
        raise ArrayError(
            f"`first` and `last` must be frames 1 to {motion.n_frames - 2} of the motion's "
            f"{motion.n_frames}, in order, so that there is one before and one after the gap; got "
            f"{first} and {last}."
        )
    return first, last


def gap_of(frames: Frames, motion: Motion, first: int, last: int) -> Gap:
    """The gap of a motion; only the frames before and after it are read."""
    first, last = check_gap(motion, first, last)
    skeleton = frames.skeleton
    same = motion.skeleton.same_joints(skeleton)
    if same and bones_apart(motion.skeleton, skeleton).any():
        raise SkeletonMismatchError(
            f"`motion` must have bones as long as the collection's, got {motion!r} with others. "
            "Retarget it first, or leave `match` on."
        )
    if not same or abs(motion.fps - frames.fps) > 1e-6 or motion.joint_translations is not None:
        raise SkeletonMismatchError(
            f"`motion` must be on the collection's skeleton ({frames.skeleton.n_joints} rigid "
            f"joints) and at its {frames.fps:g} fps, got {motion!r}. Use ml.retarget and "
            "ml.resample first."
        )
    sides = (motion[:first], motion[last + 1 :])
    parts = [clip_frames(side, body=frames.body_map) for side in sides]
    around = Frames(
        frames.skeleton,
        frames.body_map,
        frames.fps,
        ("before", "after"),
        np.cumsum([0, *(side.n_frames for side in sides)]),
        *(np.concatenate(column) for column in zip(*parts, strict=True)),
    )
    return Gap(around, first - 1, first, last - first + 3)


def windows_for(frames: Frames, gap: Gap, query: WindowQuery) -> Matches:
    """Captured windows of any length to fill a gap with, the nearest first.

    In large collections these are the :func:`nearest_windows` of the gap's length.
    """
    if frames.n_rows <= MOST_ROWS:
        spans = spans_of(frames, query.exclude)
        question = gap.question()
        rates = [rate for rate in RATES if max(rate, 1.0 / rate) < query.stretch + 0.01]
        matches = matching_windows(
            frames, gap.length, question, count=query.count, spans=spans, rates=rates
        )
        if len(matches.rows):
            return matches
    nearest = nearest_windows(frames, gap, query)
    return Matches(nearest.rows, np.full(len(nearest.rows), gap.length), nearest.distances)


def nearest_windows(frames: Frames, gap: Gap, query: WindowQuery) -> Neighbours:
    """Captured windows whose ends and displacement are most similar to a gap's, nearest first."""
    spans = spans_of(frames, query.exclude)
    question, index = gap.question(), query.index
    if index is not None and index.length == gap.length:
        nearest = index.nearest(*question, count=query.count, exclude=spans)
    else:
        nearest = _compared(frames, gap.length, question, query.count, spans)
    if not len(nearest.rows):
        raise TableError(
            f"There must be a captured window of {gap.length} frames outside the clips left out, "
            f"but there is none. Leave out fewer than {len(query.exclude)} clips or fill a shorter "
            "gap."
        )
    return nearest


def shares_of(distances: FloatArray) -> FloatArray:
    """Weights of windows by their distances, the nearest first. (K,).

    They fall to nothing just beyond the farthest, or at ``NEAR`` times the nearest.
    """
    squares = np.square(distances)
    far = float(squares[-1]) * (len(squares) + 1.0) / len(squares)
    far = max(min(far, NEAR**2 * float(squares[0])), 1e-12)
    shares = np.maximum(1.0 - squares / far, 0.0)
    return np.asarray(shares / shares.sum())


def _compared(
    frames: Frames,
    length: int,
    question: tuple[FloatArray32, FloatArray32, FloatArray],
    count: int,
    spans: IntArray,
) -> Neighbours:
    """The nearest of all windows, one block after another."""
    rows = frames.sound(windows_of(frames, length), length)
    for first, last in spans:
        rows = rows[(rows > last) | (rows + length - 1 < first)]
    squares = np.zeros(len(rows))
    for k in range(0, len(rows), BLOCK):
        block = rows[k : k + BLOCK]
        ends = block + length - 1
        start, end, way = question
        squares[k : k + len(block)] = (
            np.square(contexts(frames, block, side="start") - start).sum(axis=1)
            + np.square(contexts(frames, ends, side="end") - end).sum(axis=1)
            + np.square(displacements(frames, block, ends) - way).sum(axis=1)
        )
    order = np.argsort(squares, kind="stable")[:count]
    return Neighbours(rows[order], np.sqrt(squares[order]))


class Matches(NamedTuple):
    """Windows for a gap, the nearest first."""

    rows: IntArray
    """Their first rows. (n,)"""
    lengths: IntArray
    """Their frames, which are played in the gap's time. (n,)"""
    distances: FloatArray
    """Root of the summed squares of start, end and displacement, metres. (n,)"""

    def nearest(self, count: int) -> Matches:
        """The nearest few."""
        return Matches(self.rows[:count], self.lengths[:count], self.distances[:count])


class _DistanceTerms(NamedTuple):
    """Squared distances of all rows from a context, for any rate: ``posture + s^2 speed - 2 s``."""

    posture: FloatArray
    speed: FloatArray
    along: FloatArray
    asked: float

    def at(self, rows: IntArray, rate: float) -> FloatArray:
        """Squared distances (n,) of rows whose velocities are multiplied by a rate."""
        moving = rate * (rate * self.speed[rows] - 2.0 * self.along[rows])
        return np.asarray(self.posture[rows] + moving + self.asked)


def matching_windows(
    frames: Frames,
    length: int,
    question: tuple[FloatArray32, FloatArray32, FloatArray],
    *,
    count: int,
    spans: IntArray,
    rates: Sequence[float] = RATES,
) -> Matches:
    """Captured windows of many lengths whose ends and displacement are most like a gap's.

    Parameters
    ----------
    frames
        The collection.
    length
        Frames of the gap, both ends counted.
    question
        Contexts of both sides and the displacement between, weighed as in ``displacements``.
    count
        How many.
    spans : (n, 2)
        First and last rows of clips that are left out.
    rates
        Lengths of the windows, as parts of the gap's.
    """
    start, end, way = question
    starts, ends = _distance_terms(frames, start, "start"), _distance_terms(frames, end, "end")
    matches: list[Matches] = []
    for n in sorted({max(2, round((length - 1) * rate) + 1) for rate in rates}):
        rows = frames.sound(frames.windows(n), n)
        for first, last in spans:
            rows = rows[(rows > last) | (rows + n - 1 < first)]
        rate, last_rows = (n - 1) / (length - 1), rows + n - 1
        squares = starts.at(rows, rate) + ends.at(last_rows, rate)
        squares += np.square(displacements(frames, rows, last_rows) - way).sum(axis=1)
        best = np.argsort(squares, kind="stable")[:count]
        distances = np.sqrt(np.maximum(squares[best], 0.0))
        matches.append(Matches(rows[best], np.full(len(best), n), distances))
    rows, lengths, distances = (np.concatenate(column) for column in zip(*matches, strict=True))
    order = np.argsort(distances, kind="stable")[:count]
    return Matches(rows[order], lengths[order], distances[order])


def _distance_terms(frames: Frames, asked: FloatArray32, side: Side) -> _DistanceTerms:
    """Terms of the distances of all rows from a context."""
    offsets = context_offsets(frames.fps, side)
    moves = np.repeat(offsets != 0, len(asked) // len(offsets))
    posture, speed, along = np.zeros((3, frames.n_rows))
    for first in range(0, frames.n_rows, BLOCK):
        block = slice(first, min(first + BLOCK, frames.n_rows))
        seen = contexts(frames, np.arange(block.start, block.stop), side=side)
        posture[block] = np.square(seen[:, ~moves] - asked[~moves]).sum(axis=1)
        speed[block] = np.square(seen[:, moves]).sum(axis=1)
        along[block] = seen[:, moves] @ asked[moves]
    return _DistanceTerms(posture, speed, along, float(np.square(asked[moves]).sum()))


def rows_in_time(
    rows: IntArray, lengths: IntArray, length: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Rows before and after every frame of a gap in windows played in its time, and the share.

    Three of (K, L): a value is ``(1 - share) * values[before] + share * values[after]``.
    """
    when = np.arange(length) * ((lengths - 1) / (length - 1))[:, None]
    last = (lengths - 1)[:, None]
    before = np.minimum(np.floor(when + 1e-9).astype(np.int64), last)
    share = np.clip(when - before, 0.0, 1.0)
    first = rows[:, None]
    return first + before, first + np.minimum(before + 1, last), share
