"""In-betweens: a gap in a motion filled from captured windows that start and end as it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._records import record
from motionloom.body.facing import facing
from motionloom.body.root_motion import heading_on_root
from motionloom.features.checks.verify import Verification
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.tables.collection.frames import SLOWEST, Frames, pace_of
from motionloom.tables.index.contexts import moments_at
from motionloom.tables.index.neighbours import WindowIndex
from motionloom.tables.synthesis.foot_placement import hold_feet, true_labels
from motionloom.tables.synthesis.gap_windows import (
    COUNT,
    Gap,
    Matches,
    gap_of,
    rows_in_time,
    shares_of,
    windows_for,
)
from motionloom.tables.synthesis.leg_kernels import fastest_speeds
from motionloom.tables.synthesis.passage import Passage, bend_knees, mean_window
from motionloom.tables.synthesis.synthesis import Rig, rig_of

__all__ = ["Fill", "fill", "fill_gap"]

FASTER = 1.04
"""Feet are not held where legs would go faster than this times their sources."""


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
    hurry = [
        float((fastest_speeds(rig, *made[1:], frames.fps) / fastest).max()) for made, _ in ways
    ]
    return ways[1] if hurry[0] > FASTER and hurry[1] < hurry[0] else ways[0]
