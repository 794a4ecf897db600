"""Feet that carry the body, and the way the body goes, against the clips at the times they play.

No contact labels are needed: a foot carries the body if its sole is as low as the body stands, if
the body does not fall and its weight is over that foot. How far it gets over the ground beyond
what the clips' feet do at the mapped times is a slip. See core/src/checks/check_support.c.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom import _core
from motionloom._arrays import BoolArray, FloatArray
from motionloom._records import record
from motionloom.features.checks.check_rig import CheckRig
from motionloom.features.checks.played import Playing
from motionloom.features.checks.series import Series, series_record

_measure = _core.kernel("ml_support_measure")
_told = _core.kernel("ml_support_told")
_judge = _core.kernel("ml_support_judge")

MOMENTS = 9
"""Moments of a clip around the mapped time; as in core/src/checks/check_support.c."""
AROUND_S = 0.2
"""Seconds of a clip that are measured before and after the times that are used."""
MOST_ROWS = 16
"""Failures of one call at most: three slips, three of travel, four soles."""


@record
class Support(NamedTuple):
    """What feet and body do in every frame, seen from the body's heading."""

    velocity: FloatArray
    """Of five points of each sole: to the left, up, ahead, m/s. (F, 2, 5, 3)"""
    share: FloatArray
    """Part of the weight on each foot. (F, 2)"""
    travel: FloatArray
    """Velocity of the pelvis: to the left, ahead, m/s. (F, 2)"""
    heading: FloatArray
    """Of the series, radians. (F,)"""
    soles: FloatArray
    """Of the series, metres. (F, 4, 3)"""
    slowest: npt.NDArray[np.int8]
    """The slowest low point of each sole, -1 where none is low. (F, 2)"""
    falls: npt.NDArray[np.uint8]
    """Frames in which the body falls. (F,)"""


def new_support(series: Series) -> Support:
    """Support of zeros for all frames of a series."""
    n = len(series.heading)
    return Support(
        np.zeros((n, 2, 5, 3)),
        np.zeros((n, 2)),
        np.zeros((n, 2)),
        series.heading,
        series.soles,
        np.full((n, 2), -1, dtype=np.int8),
        np.zeros(n, dtype=np.uint8),
    )


def measure_support(
    series: Series, fps: float, leg: float, first: int, stop: int, out: Support
) -> None:
    """Fill frames ``first`` to ``stop`` - 1; ``leg`` is the length of thigh and shank, metres."""
    levels = np.zeros(len(series.heading))
    _measure(series_record(series), fps, leg, first, stop, levels, support_record(out))


def support_record(support: Support) -> _core.Record:
    """As the core takes it."""
    return _core.record("ml_support", n_frames=len(support.heading), **support._asdict())


def leg_length(rig: CheckRig, positions: FloatArray) -> float:
    """Length of thigh and shank of the left leg, metres, from positions (F, J, 3)."""
    hip, knee, ankle = positions[0, rig.legs[0]]
    return float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))


class Told(NamedTuple):
    """What clips tell of frames of a result; a row for each of them that plays at once."""

    feet: FloatArray
    """(P, F, 2, 9, 2)"""
    travel: FloatArray
    """(P, F, 9, 2)"""
    rates: FloatArray
    """(P, F)"""
    lows: FloatArray
    """(P, F, 4)"""


def told_by(
    playing: Sequence[Playing],
    supports: Sequence[Support],
    rates: Sequence[float],
    result: Support,
    fps: float,
    span: tuple[int, int],
) -> Told:
    """What every playing clip tells of frames ``span`` (first, stop) of a result."""
    first, stop = span
    n, many = stop - first, len(playing)
    told = Told(
        np.zeros((many, n, 2, MOMENTS, 2)),
        np.zeros((many, n, MOMENTS, 2)),
        np.zeros((many, n)),
        np.zeros((many, n, 4)),
    )
    own = support_record(result)
    for row, (source, at) in enumerate(playing):
        _told(
            support_record(supports[source]), rates[source], own, fps, first, stop, at,
            told.feet[row], told.travel[row], told.rates[row], told.lows[row],
        )  # fmt: skip
    return told


def support_rows(
    result: Support, fps: float, span: tuple[int, int], told: Told, judged: BoolArray
) -> FloatArray:
    """Failures of support and travel: check, joint, frame, value, limit. (N, 5)."""
    first, stop = span
    rows, n_found = np.zeros((MOST_ROWS, 5)), np.zeros(1, dtype=np.int64)
    _judge(
        support_record(result), fps, first, stop, len(told.rates), *told,
        np.ascontiguousarray(judged, dtype=np.bool_), 1.0, np.zeros((stop - first + 1, 10)),
        MOST_ROWS, rows, n_found,
    )  # fmt: skip
    return rows[: int(n_found[0])]


def used_frames(playing: Sequence[Playing], n_sources: int, span: slice) -> Iterator[FloatArray]:
    """Of every source, its first and last frame that play within a span; none, or two."""
    for source in range(n_sources):
        frames = [each.at[span] for each in playing if each.source == source]
        known = np.concatenate([at[np.isfinite(at)] for at in frames]) if frames else np.zeros(0)
        yield np.array([known.min(), known.max()]) if len(known) else known
