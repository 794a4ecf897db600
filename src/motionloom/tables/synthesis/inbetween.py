"""In-betweens: a gap in a motion filled from captured windows that start and end as it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._records import record
from motionloom.body.body_map import BodyMap
from motionloom.body.facing import facing
from motionloom.body.root_motion import bones_above_pelvis, heading_on_root
from motionloom.features.checks.verification import Verification
from motionloom.motion.contacts import Footplants
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.motion import Motion
from motionloom.motion.provenance import WHOLE_BODY, Provenance, Track
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


SAME_HEADING = 1e-6
"""Bones above a pelvis that are turned by less than this against the heading have it, radians."""
FASTER = 1.04
"""Feet are not held where legs would go faster than this times their sources."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Fill:
    """A motion whose gap is filled, and what fills it.

    Attributes
    ----------
    motion : Motion
        Outside the gap it is the given one to the last bit, resampled and retargeted if necessary.
    footplants : Footplants
        Of all frames of ``motion``: held in the gap, detected before and after it.
    span : tuple of two int
        First and last frame of the gap in ``motion``.
    provenance : Provenance
        The frames that the gap was made from, the weights of its windows falling; the first source
        is the motion itself.
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
    provenance: Provenance = field(repr=False)
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
    >>> filled.span, filled.provenance.sources
    ((30, 50), ('walk', 'walk'))
    """
    opened = opened_gap(frames, motion, first, last)
    query = query or WindowQuery()
    attempt = Attempt(query.count, query.stretch, True, feet)
    windows = windows_for(frames, opened.gap, query)
    return filled_gap(frames, rig_of(frames) if rig is None else rig, opened, windows, attempt)


class OpenedGap(NamedTuple):
    """A motion, and its gap as windows are searched for it."""

    given: Motion
    motion: Motion
    """The same with its heading on its root."""
    first: int
    last: int
    gap: Gap


def opened_gap(frames: Frames, motion: Motion, first: int, last: int) -> OpenedGap:
    """A motion with a gap of frames ``first`` to ``last``, its heading on its root."""
    gap, given = gap_of(frames, motion, first, last), motion
    if frames.body_map.pelvis:
        motion = heading_on_root(motion, facing(motion, body=frames.body_map), body=frames.body_map)
    return OpenedGap(given, motion, first, last, gap)


def filled_gap(
    frames: Frames, rig: Rig, opened: OpenedGap, windows: Matches, attempt: Attempt
) -> Fill:
    """The motion with its gap filled by some of the windows that were found for it."""
    gap = opened.gap
    windows = windows.nearest(attempt.n_windows)
    weights = shares_of(windows.distances)
    weights = weights[weights > 0.0]  # they fall with the distance
    windows = windows.nearest(len(weights))
    passage, planted = fill_gap(
        frames, rig, gap, windows.rows, weights,
        lengths=windows.lengths, feet=attempt.feet, carried=attempt.carried,
    )  # fmt: skip
    return Fill(
        _put_in(opened, passage, frames.body_map),
        Footplants(planted[1:-1]),
        (opened.first, opened.last),
        _provenance(frames, opened, windows, weights),
        float(windows.distances[0]),
    )


def _put_in(opened: OpenedGap, passage: Passage, body: BodyMap) -> Motion:
    """The given motion with a passage in its gap; its frames outside stay as they are.

    Passages have the heading on the root. Where the motion has it elsewhere, bones above the pelvis
    go from where they are before the gap to where they are after it.
    """
    given, motion, first, last, _ = opened
    root, quats = np.array(given.root_positions), np.array(given.local_quats)
    inside, sides = slice(first, last + 1), [first - 1, last + 1]
    root[inside], quats[inside] = passage.root_positions[1:-1], passage.local_quats[1:-1]
    bones = bones_above_pelvis(given.skeleton, body)
    apart = quat.angle_between(given.local_quats[sides], motion.local_quats[sides])
    if bones and apart[:, list(bones)].max() > SAME_HEADING:
        _led_across(given, bones, body, sides, root, quats)
    return given.replace(root_positions=root, local_quats=quat.make_continuous(quats))


def _led_across(
    given: Motion,
    bones: Sequence[int],
    body: BodyMap,
    sides: Sequence[int],
    root: FloatArray,
    quats: FloatArray,
) -> None:
    """Turn bones above the pelvis from side to side of a gap, and keep all below in place."""
    skeleton, inside = given.skeleton, slice(sides[0] + 1, sides[1])
    share = np.linspace(0.0, 1.0, sides[1] - sides[0] + 1)[1:-1]
    positions, world = forward_kinematics(skeleton, root[inside], quats[inside])
    turned: dict[int, FloatArray] = {}
    reach = np.zeros((len(share), 3))
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent in turned and joint in skeleton.chain(body.pelvis or 0):
            reach += quat.rotate(turned[parent], skeleton.offsets[joint])
        if joint in bones:
            start, end = given.local_quats[sides][:, joint]
            local = quat.slerp(
                np.tile(start, (len(share), 1)), np.tile(end, (len(share), 1)), share
            )
            turned[joint] = quat.multiply(turned[parent], local) if parent in turned else local
            quats[inside, joint] = local
        elif parent in bones:
            quats[inside, joint] = quat.multiply(quat.conjugate(turned[parent]), world[:, joint])
    root[inside] = positions[:, body.pelvis or 0] - reach


def _provenance(
    frames: Frames, opened: OpenedGap, windows: Matches, weights: FloatArray
) -> Provenance:
    """The motion itself outside the gap; inside, windows played in its time."""
    given, first, last = opened.given, opened.first, opened.last
    n_frames, inside = given.n_frames, slice(first, last + 1)
    before, _, share = rows_in_time(windows.rows, windows.lengths, opened.gap.length)
    made = frames.provenance(
        (before + share)[:, 1:-1].T,
        np.broadcast_to(weights, (last + 1 - first, len(weights))),
        np.ones(last + 1 - first, dtype=np.bool_),
    )
    clip = np.full((n_frames, len(weights)), -1)
    time, share_of = np.zeros(clip.shape), np.zeros(clip.shape)
    clip[:, 0], time[:, 0], share_of[:, 0] = 0, np.arange(n_frames) / given.fps, 1.0
    clip[inside], time[inside] = made.body.clip + 1, made.body.time
    share_of[inside] = made.body.weight
    changed = np.zeros(n_frames, dtype=np.bool_)
    changed[inside] = True
    track = Track(WHOLE_BODY, clip, time, share_of)
    return Provenance((given.name, *made.sources), given.fps, (track,), changed)


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
