"""In-betweens: a gap in a motion filled from captured windows that start and end as it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray, of_kind, whole
from motionloom._records import record
from motionloom.body.facing import facing
from motionloom.body.root_motion import heading_on_root
from motionloom.errors import ArrayError, SkeletonMismatchError, TableError
from motionloom.features.checks.verification import Verification
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.tables.collection.frames import FloatArray32, Frames, clip_frames
from motionloom.tables.collection.joint_speeds import SLOWEST, pace_of
from motionloom.tables.index.contexts import contexts, displacements, spans_of
from motionloom.tables.index.gap_ends import Line, moments_at
from motionloom.tables.index.neighbours import Neighbours, WindowIndex
from motionloom.tables.index.windows import windows_of
from motionloom.tables.score.plant_choice import BALLS
from motionloom.tables.synthesis.foot_placement import hold_feet, true_labels
from motionloom.tables.synthesis.knee_limits import bend_knees
from motionloom.tables.synthesis.mean_window import Passage, mean_window
from motionloom.tables.synthesis.synthesis import fastest_of
from motionloom.tables.synthesis.synthesis_rig import Rig, rig_of
from motionloom.tables.synthesis.time_matched import (
    Matches,
    matching_windows,
    rows_in_time,
)

__all__ = [
    "Fill",
    "Gap",
    "fill",
    "fill_gap",
    "gap_of",
    "nearest_windows",
    "shares_of",
    "windows_for",
]

COUNT = 64
"""Windows that are averaged at most; one alone keeps more of its own manner."""
NEAR = 1.6
"""Windows farther away than this times the nearest do not count."""
MOST_ROWS = 200_000
"""Windows of other lengths are compared in collections of up to this many frames; in larger ones
an index finds windows of the gap's length."""
FASTER = 1.04
"""Feet are not held where legs would go faster than this times their sources."""
BLOCK = 8192
"""Windows that are compared at a time where there is no index of their length."""


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
        """The straight way across, the short way round."""
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

    def question(self) -> tuple[FloatArray32, FloatArray32, FloatArray]:
        """Contexts of both sides and the way between, as an index is asked."""
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
@record
class Fill:
    """A motion whose gap is filled, and what it was filled with."""

    motion: Motion
    """As long as the one given; outside the gap it is that one."""
    footplants: Footplants
    """Of the frames in the gap."""
    span: tuple[int, int]
    """First and last frame of the gap."""
    windows: tuple[tuple[str, int], ...]
    """Clip and first frame of the windows that it was made of, the nearest first."""
    lengths: IntArray
    """Frames of each window, played in the gap's time. (K,)"""
    weights: FloatArray
    """How much each counts. (K,)"""
    distance: float
    """Of the nearest window's ends from the gap's, metres: far means that nothing alike was
    captured."""
    notes: tuple[str, ...] = ()
    """Failed checks, in words."""
    verification: Verification = field(default_factory=lambda: Verification(True))
    """Quality check of the gap against the windows' clips and the motion around it."""

    @property
    def cleanup(self) -> None:
        """No report: feet are held while the gap is filled."""
        return None


def fill(
    frames: Frames,
    motion: Motion,
    first: int,
    last: int,
    *,
    index: WindowIndex | None = None,
    rig: Rig | None = None,
    count: int = COUNT,
    feet: bool = True,
    exclude: Sequence[str] = (),
) -> Fill:
    """The motion with frames ``first`` to ``last`` made anew from captured windows.

    Windows are looked for whose ends look and move like the gap's sides, also when they are played
    up to half as fast again. What the nearest do between their ends is averaged and put between the
    gap's, which it meets in pose and velocity; then feet are held where those windows stand. What
    the motion has in the gap is not looked at.

    Parameters
    ----------
    frames
        The collection.
    motion
        On its skeleton and at its rate.
    first, last
        Frames of the gap, both in it; there must be a frame before and one after.
    index
        Of all windows of ``last - first + 3`` frames; without it all are compared.
    rig
        Of the same frames; worked out where not given.
    count
        How many windows are averaged at most; those much farther than the nearest do not count.
    feet
        Hold planted feet.
    exclude
        Clips of the collection that are not to be used.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.tables.collection.frames import frames_of
    >>> walk = synthetic.clip("walk").motion
    >>> made = fill(frames_of([walk]), walk, 30, 50)
    >>> made.span, made.windows[0]
    ((30, 50), ('walk', 29))
    """
    gap = gap_of(frames, motion, first, last)
    if frames.body_map.pelvis:
        motion = heading_on_root(motion, facing(motion, body=frames.body_map), body=frames.body_map)
    rig = rig_of(frames) if rig is None else rig
    found = windows_for(frames, gap, index=index, count=count, exclude=exclude)
    weights = shares_of(found.distances)
    used = weights > 0.0
    found = Matches(found.rows[used], found.lengths[used], found.distances[used])
    weights = weights[used]
    passage, planted = fill_gap(
        frames, rig, gap, found.rows, weights, lengths=found.lengths, feet=feet
    )
    inside = slice(1, gap.length - 1)
    root, quats = np.array(motion.root_positions), np.array(motion.local_quats)
    root[first : last + 1] = passage.root_positions[inside]
    quats[first : last + 1] = passage.local_quats[inside]
    return Fill(
        motion.replace(root_positions=root, local_quats=quat.make_continuous(quats)),
        Footplants(planted[inside]),
        (first, last),
        tuple(frames.place_of(int(row)) for row in found.rows),
        found.lengths,
        weights,
        float(found.distances[0]),
    )


def gap_of(frames: Frames, motion: Motion, first: int, last: int) -> Gap:
    """The gap of a motion, seen by nothing but what is before and after it."""
    of_kind(motion, Motion, "motion")
    first, last = whole(first, "first"), whole(last, "last")
    if not 1 <= first <= last <= motion.n_frames - 2:
        raise ArrayError(
            f"`first` and `last` must be frames 1 to {motion.n_frames - 2} of the motion's "
            f"{motion.n_frames}, in order, so that there is one before and one after the gap; got "
            f"{first} and {last}."
        )
    same = motion.skeleton.same_joints(frames.skeleton)
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


def windows_for(
    frames: Frames,
    gap: Gap,
    *,
    index: WindowIndex | None = None,
    count: int = COUNT,
    exclude: Sequence[str] = (),
) -> Matches:
    """Captured windows of any length to fill a gap with, the nearest first.

    Parameters
    ----------
    frames, gap, index, count, exclude
        As in :func:`nearest_windows`, which is asked where the collection is large.
    """
    if count < 1:
        raise ArrayError(f"`count` must be at least 1, got {count}.")
    if frames.n_rows <= MOST_ROWS:
        spans = spans_of(frames, exclude)
        matches = matching_windows(frames, gap.length, gap.question(), count=count, spans=spans)
        if len(matches.rows):
            return matches
    found = nearest_windows(frames, gap, index=index, count=count, exclude=exclude)
    return Matches(found.rows, np.full(len(found.rows), gap.length), found.distances)


def nearest_windows(
    frames: Frames,
    gap: Gap,
    *,
    index: WindowIndex | None = None,
    count: int = COUNT,
    exclude: Sequence[str] = (),
) -> Neighbours:
    """Captured windows whose ends and way are most like a gap's, the nearest first.

    Parameters
    ----------
    frames
        The collection.
    gap
        What is to be bridged.
    index
        Asked where it is of windows of the gap's length; else all windows are compared.
    count
        How many.
    exclude
        Clips that are not to be used.
    """
    if count < 1:
        raise ArrayError(f"`count` must be at least 1, got {count}.")
    spans = spans_of(frames, exclude)
    question = gap.question()
    if index is not None and index.length == gap.length:
        found = index.nearest(*question, count=count, exclude=spans)
    else:
        found = _compared(frames, gap.length, question, count, spans)
    if not len(found.rows):
        raise TableError(
            f"There must be a captured window of {gap.length} frames outside the clips left out, "
            f"but there is none. Leave out fewer than {len(exclude)} clips or fill a shorter gap."
        )
    return found


def shares_of(distances: FloatArray) -> FloatArray:
    """Weights of windows by their distances, the nearest first. (K,).

    They fall to nothing just beyond the farthest, or at ``NEAR`` times the nearest.
    """
    squares = np.square(distances)
    far = float(squares[-1]) * (len(squares) + 1.0) / len(squares)
    far = max(min(far, NEAR**2 * float(squares[0])), 1e-12)
    shares = np.maximum(1.0 - squares / far, 0.0)
    return np.asarray(shares / shares.sum())


def fill_gap(
    frames: Frames,
    rig: Rig,
    gap: Gap,
    rows: IntArray,
    weights: FloatArray,
    *,
    lengths: IntArray | None = None,
    feet: bool = True,
) -> tuple[Passage, BoolArray]:
    """The passage through a gap by given windows, both its sides in it, and who stands, (L, 4).

    Where legs that follow their feet would go faster than anything around the gap and in the
    windows' clips, feet are not held, only kept above the floor.
    """
    line = gap.line()
    start = moments_at(gap.frames, np.array([gap.start]), line, 0.0, "start")
    end = moments_at(gap.frames, np.array([gap.end]), line, gap.length - 1.0, "end")
    lengths = np.full(len(rows), gap.length) if lengths is None else lengths
    mean = mean_window(frames, rows, weights, gap.length, line, start, end, lengths=lengths)
    passage = bend_knees(rig, mean)
    before, after, share = rows_in_time(rows, lengths, gap.length)
    at = np.where(share < 0.5, before, after)
    votes = np.einsum("k,klp->lp", weights, frames.planted[at]) > 0.5
    planted = true_labels(rig, passage, frames.fps, votes)
    if not feet:
        return passage, planted
    ways = [
        hold_feet(frames, rig, at, weights, passage, gap.stands(), held=held)
        for held in (True, False)
    ]
    clips = {frames.clip_at(int(row)) for row in rows}
    paces = [pace_of(frames, clip) for clip in clips]
    paces += [pace_of(gap.frames, clip) for clip in range(gap.frames.n_clips)]
    fastest = np.maximum(np.max(paces, axis=0), SLOWEST)
    hurry = [float((_pace(rig, made, frames.fps) / fastest).max()) for made, _ in ways]
    return ways[1] if hurry[0] > FASTER and hurry[1] < hurry[0] else ways[0]


def _pace(rig: Rig, passage: Passage, fps: float) -> FloatArray:
    """Largest joint speed, joint turn and ground speed, (3,), as ``verify`` measures them."""
    shape = passage.local_quats.shape[:2]
    fastest = np.zeros(3)
    fastest_of(
        rig.parents,
        rig.offsets,
        passage.root_positions,
        passage.local_quats,
        fps,
        np.zeros((*shape, 3)),
        np.zeros((*shape, 4)),
        fastest,
    )
    return fastest


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
