"""fill(): a gap made from captured windows, tried in other ways until it passes its check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from motionloom.features.checks.series import measure_series, new_series
from motionloom.features.checks.soles import floor_heights, hover_time
from motionloom.features.checks.source_limits import HOVER, Limits, measure_limits, merged
from motionloom.features.footplants.detect import detect_footplants
from motionloom.motion.motion import Motion
from motionloom.tables.index.neighbours import WindowIndex
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.synthesis.gap_windows import COUNT
from motionloom.tables.synthesis.inbetween import Fill, fill
from motionloom.tables.table_check import MARGIN, Checked, TableCheck

__all__ = ["fill_checked"]

FEWER = (12, 3)
"""Where the average of many windows fails its check, so many of the nearest are averaged."""


def fill_checked(
    engine: QueryEngine,
    motion: Motion,
    first: int,
    last: int,
    *,
    index: WindowIndex | None,
    count: int | None,
    feet: bool,
    exclude: Sequence[str],
) -> Fill:
    """The gap filled as :func:`~motionloom.tables.synthesis.inbetween.fill` does, and checked.

    Where the result fails its quality check, fewer windows are averaged, then feet are left as the
    windows have them. Where nothing passes, the one that fails least is returned.

    Parameters
    ----------
    engine
        Of the table.
    motion, first, last, index, feet, exclude
        As in ``fill``.
    count
        Windows that are averaged; None for the usual number, and fewer where that fails.
    """
    counts = (COUNT, *FEWER) if count is None else (count,)
    around: Limits | None = None
    best: tuple[float, Fill, Checked] | None = None
    for held in (True, False) if feet else (False,):
        for some in counts:
            made = fill(
                engine.frames, motion, first, last,
                index=index, rig=engine.rig, count=some, feet=held, exclude=exclude,
            )  # fmt: skip
            around = _around(engine.check, motion, first, last) if around is None else around
            checked = _checked(engine, made, around)
            if best is None or checked.badness < best[0]:
                best = (checked.badness, made, checked)
            if checked.passed:
                break
        if best is not None and best[2].passed:
            break
    assert best is not None
    verification = best[2].verification(first)
    notes = tuple(f"failed check: {each}" for each in verification.failed)
    return replace(best[1], verification=verification, notes=best[1].notes + notes)


def _around(check: TableCheck, motion: Motion, first: int, last: int) -> Limits:
    """What the motion itself reaches before and after the gap."""
    found = []
    for part in (motion[:first], motion[last + 1 :]):
        series = new_series(check.check_rig, part.n_frames)
        positions, world = part.world_pose()
        quats = np.array(part.local_quats)
        measure_series(check.check_rig, part.fps, positions, world, quats, series)
        none = np.zeros(part.n_frames, dtype=bool)
        planted = np.zeros((part.n_frames, 4), dtype=bool)
        limits = measure_limits(check.check_rig, series, planted, part.fps, none)
        # Its contacts set no limits, but say where the floor is: else a run seems to hover.
        contacts = detect_footplants(part, body=check.frames.body_map).planted
        stands = floor_heights(series.soles, series.lowest, contacts)
        body = np.array(limits.body)
        body[HOVER] = hover_time(series.soles, series.lowest, series.pelvis, stands, part.fps)
        found.append(limits._replace(highest=stands, body=body))
    return merged(found)


def _checked(engine: QueryEngine, made: Fill, around: Limits) -> Checked:
    """The check of the gap, seen with a few frames of the motion before and after it."""
    first, last = made.span
    low, high = max(0, first - MARGIN), min(made.motion.n_frames, last + MARGIN + 1)
    part = made.motion[low:high]
    planted = np.zeros((part.n_frames, 4), dtype=bool)
    planted[first - low : last + 1 - low] = made.footplants.planted
    ids = {name: k for k, name in enumerate(engine.frames.ids)}
    # Windows that hardly count do not say how fast a joint may be.
    counts = made.weights >= 0.5 * float(np.max(made.weights))
    names = [name for (name, _), used in zip(made.windows, counts, strict=True) if used]
    clips = sorted({ids[name] for name in names})
    return engine.check.motion(
        np.array(part.root_positions),
        np.array(part.local_quats),
        np.zeros(0),
        planted,
        (first - low, last - low + 1 if high > last + 1 else last - low),
        clips,
        around=around,
    )
