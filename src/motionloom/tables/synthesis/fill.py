"""Fills: a gap in a motion filled from captured windows that start and end as its sides do.

The story of ``table.fill``: the motion is brought onto the collection's skeleton and rate, attempts
are made one after the other, and the first that passes the quality check is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray, of_kind
from motionloom._records import record
from motionloom.body.body_map import BodyMap, facing
from motionloom.body.root_motion import bones_above_pelvis, heading_on_root
from motionloom.errors import ArrayError
from motionloom.features.checks.source_limits import (
    HOVER,
    LANDS,
    STANDS,
    Limits,
    Series,
    drag_lengths,
    floor_heights,
    free_fall_gap,
    measure_limits,
    measure_series,
    merged,
    new_series,
)
from motionloom.features.checks.verification import Verification
from motionloom.features.footplants.detect import detect_footplants
from motionloom.features.glitches.repair import resample_repaired
from motionloom.motion.motion import Footplants, Motion, forward_kinematics
from motionloom.motion.provenance import WHOLE_BODY, Provenance, Track
from motionloom.rotation import quat
from motionloom.tables.collection.common_skeleton import (
    bones_apart,
    common_of,
    make_rigid,
    onto_common,
)
from motionloom.tables.collection.frames import SLOWEST, Frames, clip_speeds
from motionloom.tables.index.contexts import moments_at
from motionloom.tables.index.neighbours import WindowIndex
from motionloom.tables.synthesis.foot_placement import hold_feet, true_labels
from motionloom.tables.synthesis.gap_windows import (
    COUNT,
    RATES,
    Gap,
    Matches,
    WindowQuery,
    check_gap,
    gap_of,
    rows_in_time,
    shares_of,
    windows_for,
)
from motionloom.tables.synthesis.passage import (
    Ends,
    Passage,
    bend_knees,
    land,
    mean_window,
    meet_steps,
)
from motionloom.tables.synthesis.synthesis import Rig, fastest_speeds, rig_of
from motionloom.tables.synthesis.table_check import MARGIN, Checked, TableCheck

SAME_RATE = 1e-6
"""Rates that differ by less than this part of the collection's are the same."""
EXAMPLE = 240
"""Frames of a captured clip that show how the collection's joints are twisted."""
FEW, LITTLE = 12, 1.25
"""Windows in an attempt with fewer, and how much faster or slower they are in one with less
stretch. Joints may be 1.3 times as fast as in the sources; jumps that are played slower hover."""
Feet = Literal["held", "lifted", "free"]
"""Feet stand where windows stand; or are only kept from dragging and sinking; or are left as the
windows have them."""


class Attempt(NamedTuple):
    """One way to fill a gap."""

    n_windows: int
    """Windows that are averaged."""
    stretch: float
    """Windows are played at most this many times faster or slower than they were captured."""
    keeps_fast: bool
    """Whether the fast part is copied from the nearest window; otherwise it is averaged."""
    feet: Feet


ATTEMPTS = (
    Attempt(COUNT, RATES[-1], True, "held"),
    Attempt(COUNT, RATES[-1], False, "held"),
    Attempt(COUNT, RATES[-1], False, "lifted"),
    Attempt(FEW, RATES[-1], False, "held"),
    Attempt(FEW, RATES[-1], False, "lifted"),
    Attempt(COUNT, LITTLE, False, "held"),
    Attempt(COUNT, LITTLE, False, "lifted"),
    Attempt(FEW, LITTLE, False, "lifted"),
)
"""Tried one after the other until one passes its check."""
NEAR_S = 0.1
"""Joint speeds within this time of a gap set limits, seconds. Those of the first and last frames of
a take do not, but a gap is in the middle of one."""
HIGHER_M = 0.01
"""A fill is preferred whose feet do not drag either on a floor that is higher by this, metres."""
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


class GapMotion(NamedTuple):
    """A motion with a gap."""

    motion: Motion
    first: int
    last: int
    """Frames of the gap, both in it."""
    notes: tuple[str, ...] = ()
    """What was changed, in words."""


def matched_gap(frames: Frames, motion: Motion, first: int, last: int) -> GapMotion:
    """The motion resampled and retargeted to a collection where it differs, and its gap there.

    The frames in the gap are not read: a straight path from the frame before to the frame after
    replaces them first.
    """
    of_kind(motion, Motion, "motion")
    first, last = check_gap(motion, first, last)
    same_rate = abs(motion.fps - frames.fps) <= SAME_RATE * frames.fps
    if same_rate and fits(motion, frames):
        return GapMotion(motion, first, last)
    notes: list[str] = []
    bridged = _bridged(motion, first, last)
    if not same_rate:
        bridged, repairs = resample_repaired(bridged, frames.fps)
        notes += [f"resampled from {motion.fps:g} to {frames.fps:g} fps", *repairs]
        first, last = _resampled_gap(first, last, motion.fps, frames.fps)
    elif bridged.fps != frames.fps:
        bridged = bridged.replace(fps=frames.fps)
    if not fits(bridged, frames):
        bridged, changes = make_rigid(bridged)
        end = min(EXAMPLE, int(frames.starts[1])) - 1
        example = frames.motion(0, end)
        common = common_of(example, frames.body_map)
        fitted = onto_common(bridged, common, example, plants_by_name="thresholds")
        bridged = fitted.motion
        notes += [*changes, *fitted.notes]
    return GapMotion(bridged, first, last, tuple(notes))


def fits(motion: Motion, frames: Frames) -> bool:
    """Whether a motion has the joints and bones of a collection, all rigid."""
    return (
        motion.joint_translations is None
        and motion.skeleton.same_joints(frames.skeleton)
        and not bones_apart(motion.skeleton, frames.skeleton).any()
    )


def _bridged(motion: Motion, first: int, last: int) -> Motion:
    """The motion with the frames of its gap replaced by a straight path."""
    share = np.linspace(0.0, 1.0, last - first + 3)[1:-1]
    root, quats = np.array(motion.root_positions), np.array(motion.local_quats)
    root[first : last + 1] = root[first - 1] + share[:, None] * (root[last + 1] - root[first - 1])
    quats[first : last + 1] = quat.slerp(
        quats[None, first - 1], quats[None, last + 1], share[:, None]
    )
    moving = motion.joint_translations
    if moving is not None:
        moving = np.array(moving)
        before, after = moving[first - 1], moving[last + 1]
        moving[first : last + 1] = before + share[:, None, None] * (after - before)
    return motion.replace(root_positions=root, local_quats=quats, joint_translations=moving)


def _resampled_gap(first: int, last: int, before: float, after: float) -> tuple[int, int]:
    """The frames of a gap at another rate: all between the last one before it and the next."""
    rate = after / before
    start = int(np.floor((first - 1) * rate + 1e-9)) + 1
    end = int(np.ceil((last + 1) * rate - 1e-9)) - 1
    if end < start:
        raise ArrayError(
            f"The gap must have a frame at the collection's {after:g} fps; frames {first} to "
            f"{last} at {before:g} fps have none. Fill a longer gap."
        )
    return start, end


def fill_checked(
    check: TableCheck,
    gap: GapMotion,
    *,
    index: WindowIndex | None,
    count: int | None,
    feet: bool,
    exclude: Sequence[str],
) -> Fill:
    """The gap filled as :func:`~motionloom.tables.synthesis.fill.fill` does, and checked.

    Where the result fails its quality check, other attempts are made: all motion of the windows is
    averaged, not the slow part alone; feet are lifted, not held; fewer windows are averaged; they
    are stretched less. The first that passes, and whose feet do not sweep a little over the floor
    either, is returned; else the first that passes; where none does, the one that fails least.

    Parameters
    ----------
    check
        Of the collection.
    gap
        The motion and its gap, on the collection's skeleton and at its rate.
    feet
        Whether feet may be held or lifted; otherwise they are left as the windows have them.
    index, exclude
        As in :class:`WindowQuery`.
    count
        Windows that are averaged; None for the usual number, and fewer where that fails.
    """
    motion, first, last, changes = gap
    opened = opened_gap(check.frames, motion, first, last)
    around, above = (_around(check, motion, first, last, higher) for higher in (0.0, HIGHER_M))
    search = WindowQuery(index, COUNT if count is None else count, exclude)
    best: tuple[float, Fill, Checked] | None = None
    for filled in _fills(check, opened, search, attempts(count, feet)):
        checked = _checked(check, filled, around)
        clear = checked.passed and _checked(check, filled, above, HIGHER_M).passed
        if best is None or checked.badness < best[0] or clear:
            best = (checked.badness, filled, checked)
        if clear:
            break
    assert best is not None
    verification = best[2].verification(first - 1)
    notes = tuple(f"failed check: {each}" for each in verification.failed)
    return replace(
        best[1],
        footplants=_with_sides(check, motion, first, last, best[1].footplants),
        verification=verification,
        notes=(*changes, *best[1].notes, *notes),
    )


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


def attempts(count: int | None = None, feet: bool = True) -> tuple[Attempt, ...]:
    """The attempts with a number of windows, or with the usual ones, and with feet or without."""
    chosen = (
        each._replace(
            n_windows=each.n_windows if count is None else count, feet=each.feet if feet else "free"
        )
        for each in ATTEMPTS
    )
    return tuple(dict.fromkeys(chosen))


def _fills(
    check: TableCheck, opened: OpenedGap, search: WindowQuery, chosen: Sequence[Attempt]
) -> Iterator[Fill]:
    """The fills of some attempts, one after the other; windows are searched once per stretch."""
    frames, gap = check.frames, opened.gap
    usual = windows_for(frames, gap, search)
    rates = (usual.lengths - 1) / (gap.length - 1)
    stretched = float(np.max(np.maximum(rates, 1.0 / rates)))
    windows = {search.stretch: usual}
    for attempt in chosen:
        if attempt.stretch not in windows:
            if stretched <= attempt.stretch:
                continue  # its windows would be the usual ones
            less = replace(search, stretch=attempt.stretch)
            windows[attempt.stretch] = windows_for(frames, gap, less)
        yield filled_gap(frames, check.rig, opened, windows[attempt.stretch], attempt)


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
        lengths=windows.lengths, feet=attempt.feet, keeps_fast=attempt.keeps_fast,
    )  # fmt: skip
    return Fill(
        _put_in(opened, passage, frames.body_map),
        Footplants(planted[1:-1]),
        (opened.first, opened.last),
        _provenance(frames, opened, windows, weights),
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
    keeps_fast: bool = True,
) -> tuple[Passage, BoolArray]:
    """The passage through a gap by given windows, both its sides in it, and who stands, (L, 4).

    Where legs that follow their feet would go faster than anything around the gap and in the
    windows' clips, feet are not held, only lifted. ``keeps_fast`` is that of :func:`mean_window`.
    """
    line = gap.line()
    start = moments_at(gap.frames, np.array([gap.start]), line, 0.0, "start")
    end = moments_at(gap.frames, np.array([gap.end]), line, gap.length - 1.0, "end")
    ends = Ends(gap.length, line, start, end)
    lengths = np.full(len(rows), gap.length) if lengths is None else lengths
    passage = mean_window(frames, rows, weights, ends, lengths=lengths, keeps_fast=keeps_fast)
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
    held = hold_feet(frames, rig, at, weights, passage, stands)
    clips = {frames.clip_at(int(row)) for row in rows}
    speeds = [clip_speeds(frames, clip) for clip in clips]
    speeds += [clip_speeds(gap.frames, clip) for clip in range(gap.frames.n_clips)]
    fastest = np.maximum(np.max(speeds, axis=0), SLOWEST)
    hurry = [
        float((fastest_speeds(rig, *moved[1:], frames.fps) / fastest).max())
        for moved, _ in (held, lifted)
    ]
    return lifted if hurry[0] > FASTER and hurry[1] < hurry[0] else held


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


def _with_sides(
    check: TableCheck, motion: Motion, first: int, last: int, inside: Footplants
) -> Footplants:
    """The contacts of a gap between those that are detected before and after it."""
    before, after = (
        detect_footplants(side, body=check.frames.body_map).planted
        for side in (motion[:first], motion[last + 1 :])
    )
    return Footplants(np.concatenate([before, inside.planted, after]))


def _around(
    check: TableCheck, motion: Motion, first: int, last: int, higher: float = 0.0
) -> Limits:
    """Limits that the motion sets before and after the gap; for feet, on a floor that is higher."""
    limits_around = []
    near = round(NEAR_S * motion.fps)
    for side, next_to_gap in (
        (motion[:first], motion[max(first - near, 0) : first]),
        (motion[last + 1 :], motion[last + 1 : last + 1 + near]),
    ):
        limits, series = _reached(check, side)
        # Its contacts set no limits, but show where the floor is: else a run seems to hover.
        contacts = detect_footplants(side, body=check.frames.body_map).planted
        stands, lands = (
            floor_heights(series.soles, series.lowest, contacts, part) for part in (STANDS, LANDS)
        )
        body = np.array(limits.body)
        body[HOVER] = free_fall_gap(series.soles, series.lowest, series.mass, stands, motion.fps)
        quick, _ = _reached(check, next_to_gap)
        faster = {
            name: np.maximum(getattr(limits, name), getattr(quick, name))
            for name in ("turn", "speed", "bend", "carried")
        }
        drag = drag_lengths(series.soles, lands + higher, motion.fps)
        limits_around.append(
            limits._replace(floor=lands + higher, highest=stands, drag=drag, body=body, **faster)
        )
    return merged(limits_around)


def _reached(check: TableCheck, part: Motion) -> tuple[Limits, Series]:
    """The limits that a part of a motion sets without its contacts, and what was measured."""
    series = new_series(check.check_rig, part.n_frames)
    positions, world = part.world_pose()
    quats = np.array(part.local_quats)
    measure_series(check.check_rig, part.fps, positions, world, quats, series)
    none = np.zeros(part.n_frames, dtype=bool)
    planted = np.zeros((part.n_frames, 4), dtype=bool)
    return measure_limits(check.check_rig, series, planted, part.fps, none), series


def _checked(check: TableCheck, filled: Fill, around: Limits, higher: float = 0.0) -> Checked:
    """The check of the gap, seen with a few frames of the motion before and after it.

    The steps into the gap and out of it are checked, and the accelerations at both its sides.
    """
    first, last = filled.span
    low, high = max(0, first - MARGIN), min(filled.motion.n_frames, last + MARGIN + 1)
    part = filled.motion[low:high]
    planted = np.zeros((part.n_frames, 4), dtype=bool)
    planted[first - low : last + 1 - low] = filled.footplants.planted
    ids = {name: k for k, name in enumerate(check.frames.ids)}
    # Windows that hardly count do not limit how fast a joint may be.
    sources, windows = filled.provenance.sources, filled.provenance.body[first : first + 1]
    counts = windows.weight[0] >= 0.5 * float(windows.weight.max())
    clips = sorted({ids[sources[source]] for source in windows.clip[0][counts].tolist()})
    return check.motion(
        np.array(part.root_positions),
        np.array(part.local_quats),
        np.zeros(0),
        planted,
        (first - 1 - low, last - low + 1 if high > last + 1 else last - low),
        clips,
        around=around,
        higher=higher,
    )


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
