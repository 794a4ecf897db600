"""In-betweens: a gap in a motion filled from captured windows that start and end as it does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._records import record
from motionloom.body.facing import facing
from motionloom.body.root_motion import heading_on_root
from motionloom.features.checks.verification import Verification
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.tables.collection.frames import SLOWEST, Frames, clip_speeds
from motionloom.tables.index.contexts import moments_at
from motionloom.tables.synthesis.foot_placement import hold_feet, true_labels
from motionloom.tables.synthesis.gap_seams import meet_steps
from motionloom.tables.synthesis.gap_windows import (
    Gap,
    Matches,
    WindowQuery,
    gap_of,
    rows_in_time,
    shares_of,
    windows_for,
)
from motionloom.tables.synthesis.landing import land
from motionloom.tables.synthesis.leg_kernels import fastest_speeds
from motionloom.tables.synthesis.passage import Ends, Passage, bend_knees, mean_window
from motionloom.tables.synthesis.synthesis import Rig, rig_of

Feet = Literal["held", "lifted", "free"]
"""Feet stand where windows stand; or are only kept from dragging and sinking; or are left as the
windows have them."""


class Attempt(NamedTuple):
    """One way to fill a gap."""

    n_windows: int
    """Windows that are averaged."""
    stretch: float
    """Windows are played at most so many times faster or slower than they were captured."""
    carried: bool
    """Whether the fast part is the weightiest window's; otherwise it is averaged."""
    feet: Feet


FASTER = 1.04
"""Feet are not held where legs would go faster than this times their sources."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Fill:
    """A motion whose gap is filled, and the windows that fill it.

    Attributes
    ----------
    motion : Motion
        Outside the gap it is the given one, resampled and retargeted if necessary.
    footplants : Footplants
        Of all frames of ``motion``: held in the gap, detected before and after it.
    span : tuple of two int
        First and last frame of the gap in ``motion``.
    windows : tuple
        Clip and first frame of the windows that it was made of, the nearest first.
    lengths : array of int
        Frames of each window, played in the gap's time. (K,)
    weights : array
        How much each counts. (K,)
    distance : float
        Of the nearest window's ends from the gap's, metres: far means that nothing similar was
        captured.
    notes : tuple of str
        What was changed in the given motion, and failed checks.
    verification : Verification
        Quality check of the gap against the windows' clips and the motion around it.
    """

    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    windows: tuple[tuple[str, int], ...]
    lengths: IntArray
    weights: FloatArray
    distance: float
    notes: tuple[str, ...] = ()
    verification: Verification = field(default_factory=lambda: Verification(True))

    @property
    def cleanup(self) -> None:
        """No report: feet are held while the gap is filled."""
        return None


def fill(
    frames: Frames,
    motion: Motion,
    first: int,
    last: int,
    query: WindowQuery | None = None,
    *,
    rig: Rig | None = None,
    feet: Feet = "held",
) -> Fill:
    """The motion with frames ``first`` to ``last`` synthesized from captured windows.

    Windows are searched whose ends look and move like the gap's sides, also when they are played
    up to half as fast again. What the nearest do between their ends is averaged and put between the
    gap's, which it meets in pose and velocity. A body that starts or ends in the air falls to the
    floor or rises from it. Feet are held where those windows stand. What the motion has in the gap
    is not read.

    Parameters
    ----------
    frames
        The collection.
    motion
        On its skeleton and at its rate.
    first, last
        Frames of the gap, both in it; there must be a frame before and one after.
    query
        Which windows; all by default.
    rig
        Of the same frames; worked out where not given.
    feet
        Whether planted feet are held.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.tables.collection.frames import frames_of
    >>> walk = synthetic.clip("walk").motion
    >>> filled = fill(frames_of([walk]), walk, 30, 50)
    >>> filled.span, filled.windows[0]
    ((30, 50), ('walk', 29))
    """
    opened = opened_gap(frames, motion, first, last)
    query = query or WindowQuery()
    attempt = Attempt(query.count, query.stretch, True, feet)
    windows = windows_for(frames, opened.gap, query)
    return filled_gap(frames, rig_of(frames) if rig is None else rig, opened, windows, attempt)


class OpenedGap(NamedTuple):
    """A motion, and its gap as windows are searched for it."""

    motion: Motion
    first: int
    last: int
    gap: Gap


def opened_gap(frames: Frames, motion: Motion, first: int, last: int) -> OpenedGap:
    """A motion with a gap of frames ``first`` to ``last``, its heading on its root."""
    gap = gap_of(frames, motion, first, last)
    if frames.body_map.pelvis:
        motion = heading_on_root(motion, facing(motion, body=frames.body_map), body=frames.body_map)
    return OpenedGap(motion, first, last, gap)


def filled_gap(
    frames: Frames, rig: Rig, opened: OpenedGap, windows: Matches, attempt: Attempt
) -> Fill:
    """The motion with its gap filled by some of the windows that were found for it."""
    motion, first, last, gap = opened
    windows = windows.nearest(attempt.n_windows)
    weights = shares_of(windows.distances)
    weights = weights[weights > 0.0]  # they fall with the distance
    windows = windows.nearest(len(weights))
    passage, planted = fill_gap(
        frames, rig, gap, windows.rows, weights,
        lengths=windows.lengths, feet=attempt.feet, carried=attempt.carried,
    )  # fmt: skip
    inside = slice(1, gap.length - 1)
    root, quats = np.array(motion.root_positions), np.array(motion.local_quats)
    root[first : last + 1] = passage.root_positions[inside]
    quats[first : last + 1] = passage.local_quats[inside]
    return Fill(
        motion.replace(root_positions=root, local_quats=quat.make_continuous(quats)),
        Footplants(planted[inside]),
        (first, last),
        tuple(frames.place_of(int(row)) for row in windows.rows),
        windows.lengths,
        weights,
        float(windows.distances[0]),
    )


def fill_gap(
    frames: Frames,
    rig: Rig,
    gap: Gap,
    rows: IntArray,
    weights: FloatArray,
    *,
    lengths: IntArray | None = None,
    feet: Feet = "held",
    carried: bool = True,
) -> tuple[Passage, BoolArray]:
    """The passage through a gap by given windows, both its sides in it, and who stands, (L, 4).

    Where legs that follow their feet would go faster than anything around the gap and in the
    windows' clips, feet are not held, only lifted. ``carried`` is that of :func:`mean_window`.
    """
    line = gap.line()
    start = moments_at(gap.frames, np.array([gap.start]), line, 0.0, "start")
    end = moments_at(gap.frames, np.array([gap.end]), line, gap.length - 1.0, "end")
    ends = Ends(gap.length, line, start, end)
    lengths = np.full(len(rows), gap.length) if lengths is None else lengths
    passage = mean_window(frames, rows, weights, ends, lengths=lengths, carried=carried)
    passage = meet_steps(passage, gap.outer(), frames.fps)
    before, after, share = rows_in_time(rows, lengths, gap.length)
    at = np.where(share < 0.5, before, after)
    stands = gap.stands()
    passage = land(frames, rig, at, weights, passage, np.asarray(stands.any(axis=0)))
    passage = bend_knees(rig, passage)
    votes = np.einsum("k,klp->lp", weights, frames.planted[at]) > 0.5
    if feet == "free":
        return passage, true_labels(rig, passage, frames.fps, votes)
    lifted = hold_feet(frames, rig, at, weights, passage, stands, held=False)
    if feet == "lifted":
        return lifted
    ways = [hold_feet(frames, rig, at, weights, passage, stands), lifted]
    clips = {frames.clip_at(int(row)) for row in rows}
    speeds = [clip_speeds(frames, clip) for clip in clips]
    speeds += [clip_speeds(gap.frames, clip) for clip in range(gap.frames.n_clips)]
    fastest = np.maximum(np.max(speeds, axis=0), SLOWEST)
    hurry = [
        float((fastest_speeds(rig, *moved[1:], frames.fps) / fastest).max()) for moved, _ in ways
    ]
    return ways[1] if hurry[0] > FASTER and hurry[1] < hurry[0] else ways[0]
