"""Judge: measured series compared with the limits of the sources.

One call finds everything that is wrong with a motion: for every check and joint the worst frame.
Public checks and transition tables use the same kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom import _core
from motionloom._arrays import BoolArray, FloatArray
from motionloom.features.checks.check_names import CHECKS, MOST_FOUND
from motionloom.features.checks.series import Series, series_record
from motionloom.features.checks.source_limits import Limits, limits_record

__all__ = ["CHECKS", "MOST_FOUND", "CheckedMotion", "judge", "with_slack"]

_judge = _core.kernel("ml_check_judge")

TURN_MORE, TURN_FREE = 1.3, np.radians(300.0)
SPEED_MORE = 1.3
BEND_MORE, BEND_FREE = 1.5, 80.0
"""A joint may exceed its own maximum in the sources by the first, and always reach the second
(rad/s, m/s2; for speeds see ``CheckRig.quick``); as in core/src/checks/check_judge.c."""
WARP = 0.3
"""Part of gravity by which a flight may be slower or faster (15 % in time); as in
core/src/checks/check.h."""
SINK = 0.025
"""Metres by which soles may be lower than in the sources; as in core/src/checks/check_judge.c."""


class CheckedMotion(NamedTuple):
    """A motion, and what of it is checked."""

    series: Series
    planted: BoolArray
    """Contacts of the motion. (F, 4)"""
    fps: float
    first: int
    last: int
    """Frames that are checked; the others show what goes before and after."""
    skipped: BoolArray
    """Frames with capture glitches of the sources, which results may repeat. (F,)"""
    plan: FloatArray = np.zeros(0)
    """Headings that the body should have, radians. (F,) or (0,)"""
    held: bool = True
    """Whether feet were held already: soles, contacts and drags are checked."""
    judged: BoolArray | None = None
    """Frames that are judged; all by default. (F,)"""


def judge(
    checked: CheckedMotion,
    limits: Limits,
    allowed: FloatArray,
    grounds: FloatArray,
    failures: FloatArray,
    floors: FloatArray | None = None,
    gaps: FloatArray | None = None,
) -> int:
    """Fill ``failures`` with failed checks; how many there are.

    Parameters
    ----------
    checked
        The motion.
    limits
        Of its sources.
    allowed : (F, N, 3) or (0, N, 3)
        Rotation speed, speed and second difference that a source has in the very frame that was
        copied from it: these are its own, whatever they are.
    grounds : (F, 6, 5) or (0, 6, 5)
        Where frames were copied: lowest height of each sole point, how far the contact that
        starts there may slide, and how far the point may be dragged at each height, metres.
    failures : (M, 5)
        Check, joint (as an index into the checked ones, or -1), frame, value, limit.
    floors : (F, 2, 4)
        Heights below which sole points are on the floor, and at which they stand, in each frame,
        where these are not those of the limits.
    gaps : (F,)
        How far what each frame is made of is off free fall where nothing supports it, metres, where
        this is not that of the limits.
    """
    n_found = np.zeros(1, dtype=np.int64)
    skipped = np.ascontiguousarray(checked.skipped, dtype=np.bool_)
    _judge(
        series_record(checked.series), limits_record(limits),
        np.ascontiguousarray(checked.planted, dtype=np.bool_), checked.fps, checked.first,
        checked.last, skipped, checked.judged, _given(checked.plan), int(checked.held),
        _given(allowed), _given(grounds), None if floors is None else _given(floors), gaps, WARP,
        np.zeros(len(skipped) + 6 * len(limits.turn)), len(failures), failures, n_found,
    )  # fmt: skip
    return int(n_found[0])


def _given(values: FloatArray) -> FloatArray | None:
    """None for arrays without rows."""
    return np.ascontiguousarray(values, dtype=np.float64) if len(values) else None


def with_slack(limits: Limits, slack: float) -> Limits:
    """Limits of joints so much wider, what is always allowed included."""
    return limits._replace(
        turn=np.maximum(slack * limits.turn, slack * TURN_FREE / TURN_MORE),
        speed=slack * limits.speed,
        bend=np.maximum(slack * limits.bend, slack * BEND_FREE / BEND_MORE),
        quick=slack * limits.quick,
    )
