"""In-betweens: a gap in a motion filled from captured windows that start and end as it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._records import record
from motionloom.body.facing import facing
from motionloom.body.root_motion import heading_on_root
from motionloom.features.checks.series import Series, measure_series, new_series
from motionloom.features.checks.soles import (
    LANDS,
    STANDS,
    drag_lengths,
    floor_heights,
    hover_time,
)
from motionloom.features.checks.source_limits import HOVER, Limits, measure_limits, merged
from motionloom.features.checks.verification import Verification
from motionloom.features.footplants.detect import detect_footplants
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.tables.collection.frames import SLOWEST, Frames, clip_speeds
from motionloom.tables.index.contexts import moments_at
from motionloom.tables.index.neighbours import WindowIndex
from motionloom.tables.synthesis.foot_placement import hold_feet, true_labels
from motionloom.tables.synthesis.gap_motion import GapMotion
from motionloom.tables.synthesis.gap_seams import meet_steps
from motionloom.tables.synthesis.gap_windows import (
    COUNT,
    RATES,
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
from motionloom.tables.synthesis.table_check import MARGIN, Checked, TableCheck

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


FEW, LITTLE = 12, 1.25
"""Windows in an attempt with fewer, and how much faster or slower they are in one with less
stretch. Joints may be 1.3 times as fast as in the sources; jumps that are played slower hover."""
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
"""How fast joints are in so many seconds before and after a gap counts: the first and last frames
of a take do not, but a gap is in the middle of one."""

HIGHER_M = 0.01
"""A fill is preferred whose feet do not sweep so much over the floor either, metres."""

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
    opened = _opened(frames, motion, first, last)
    query = query or WindowQuery()
    attempt = Attempt(query.count, query.stretch, True, feet)
    windows = windows_for(frames, opened.gap, query)
    return _filled(frames, rig_of(frames) if rig is None else rig, opened, windows, attempt)


class _Opened(NamedTuple):
    """A motion, and its gap as windows are searched for it."""

    motion: Motion
    first: int
    last: int
    gap: Gap


def _opened(frames: Frames, motion: Motion, first: int, last: int) -> _Opened:
    gap = gap_of(frames, motion, first, last)
    if frames.body_map.pelvis:
        motion = heading_on_root(motion, facing(motion, body=frames.body_map), body=frames.body_map)
    return _Opened(motion, first, last, gap)


def _filled(frames: Frames, rig: Rig, opened: _Opened, windows: Matches, attempt: Attempt) -> Fill:
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


def fill_checked(
    check: TableCheck,
    gap: GapMotion,
    *,
    index: WindowIndex | None,
    count: int | None,
    feet: bool,
    exclude: Sequence[str],
) -> Fill:
    """The gap filled as :func:`fill` does, and checked.

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
    opened = _opened(check.frames, motion, first, last)
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


def _fills(
    check: TableCheck, opened: _Opened, search: WindowQuery, chosen: Sequence[Attempt]
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
        yield _filled(frames, check.rig, opened, windows[attempt.stretch], attempt)


def attempts(count: int | None = None, feet: bool = True) -> tuple[Attempt, ...]:
    """The attempts with a number of windows, or with the usual ones, and with feet or without."""
    chosen = (
        each._replace(
            n_windows=each.n_windows if count is None else count, feet=each.feet if feet else "free"
        )
        for each in ATTEMPTS
    )
    return tuple(dict.fromkeys(chosen))


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
    """What the motion itself reaches before and after the gap; feet, over a higher floor."""
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
        body[HOVER] = hover_time(series.soles, series.lowest, series.pelvis, stands, motion.fps)
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
    counts = filled.weights >= 0.5 * float(np.max(filled.weights))
    names = [name for (name, _), used in zip(filled.windows, counts, strict=True) if used]
    clips = sorted({ids[name] for name in names})
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
