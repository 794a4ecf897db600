"""Checked fills: attempts at a gap, of which the first that passes the quality check is taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from motionloom.features.checks.series import Series, measure_series, new_series
from motionloom.features.checks.source_limits import (
    HOVER,
    LANDS,
    STANDS,
    Limits,
    drag_lengths,
    floor_heights,
    free_fall_gap,
    measure_limits,
    merged,
)
from motionloom.features.footplants.detect import detect_footplants
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.tables.index.neighbours import WindowIndex
from motionloom.tables.synthesis.gap_motion import GapMotion
from motionloom.tables.synthesis.gap_windows import COUNT, RATES, WindowQuery, windows_for
from motionloom.tables.synthesis.inbetween import Attempt, Fill, OpenedGap, filled_gap, opened_gap
from motionloom.tables.synthesis.table_check import MARGIN, Checked, TableCheck

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


def fill_checked(
    check: TableCheck,
    gap: GapMotion,
    *,
    index: WindowIndex | None,
    count: int | None,
    feet: bool,
    exclude: Sequence[str],
) -> Fill:
    """The gap filled as :func:`~motionloom.tables.synthesis.inbetween.fill` does, and checked.

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
