"""Compare measured series with the limits of the sources.

One call finds everything that is wrong with a motion: for every check and joint the worst frame.
Public checks and transition tables use the same kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionloom import _core
from motionloom._arrays import BoolArray, FloatArray
from motionloom._block import Block
from motionloom._core import constant, kernel
from motionloom.features.checks.series import Series
from motionloom.features.checks.source_limits import N_HEIGHTS, Limits, limits_record
from motionloom.motion.provenance import Copy

_judge = _core.kernel("ml_check_judge")

TURN_MORE, TURN_FREE = constant("ML_CHECK_TURN_MORE"), constant("ML_CHECK_TURN_FREE")
SPEED_MORE = constant("ML_CHECK_SPEED_MORE")
BEND_MORE, BEND_FREE = constant("ML_CHECK_BEND_MORE"), constant("ML_CHECK_BEND_FREE")
"""A joint may exceed its own maximum in the sources by the first, and always reach the second
(rad/s, m/s2; for speeds see ``CheckRig.quick``)."""
WARP = constant("ML_CHECK_WARP")
"""Part of gravity by which a flight may be slower or faster (15 % in time)."""
SINK = constant("ML_CHECK_SINK")
"""Metres by which soles may be lower than in the sources."""


class CheckedMotion(NamedTuple):
    """A motion, and which of its frames are checked."""

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
    """Fill ``failures`` with failed checks; their number.

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
        checked.series.core, limits_record(limits),
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
    """Limits of joints ``slack`` times as wide, the speeds that are always allowed included."""
    return limits._replace(
        turn=np.maximum(slack * limits.turn, slack * TURN_FREE / TURN_MORE),
        speed=slack * limits.speed,
        bend=np.maximum(slack * limits.bend, slack * BEND_FREE / BEND_MORE),
        quick=slack * limits.quick,
    )


# --- Frames that show a frame of a source: there the source sets its own limits

_joints = kernel("ml_copied_joints")
_grounds = kernel("ml_copied_grounds")
_drags = kernel("ml_copied_drags")

COPIED_MORE = 1.15
"""A joint may be this many times as fast, and a contact slide this many times as far, as in the
frames that were copied."""
DRAGGED_MORE = 1.2
"""A sole point may be dragged this many times as far as near the very frames that were copied."""
FLOOR_FALL = constant("ML_FLOOR_FALL")
"""Metres that floors are below the higher one of two clips between them."""
NEAR_S = 0.1
"""A sole point may be as low as it is in the source at most this much earlier or later, seconds."""


def copied_joints(
    series: Sequence[Series],
    shown: Sequence[Copy],
    n_frames: int,
    n_joints: int,
    block: Block | None = None,
) -> FloatArray:
    """Rotation speed, speed and second difference that each joint may have. (F or 0, N, 3).

    Parameters
    ----------
    series
        Of each source.
    shown
        Frames of the result that show a frame of a source.
    n_frames, n_joints
        Of the result.
    block
        Where memory is taken from.
    """
    if not shown:
        return np.zeros((0, n_joints, 3))
    shape = (n_frames, n_joints, 3)
    allowed = np.zeros(shape) if block is None else block.zeros(shape)[0]
    for part in shown:
        own = series[part.source]
        n = min(part.last - part.first + 1, len(own.turn) - part.start)
        _joints(
            *own.turn.shape, own.turn, own.speed, own.bend, n_frames,
            part.first, part.start, n, COPIED_MORE, allowed,
        )  # fmt: skip
    return allowed


def no_grounds() -> FloatArray:
    """What feet may do where nothing was copied. (0, 6, 5)."""
    return np.zeros((0, 6, 2 + N_HEIGHTS))


def mixed_floors(limits: Sequence[Limits], weights: FloatArray) -> FloatArray:
    """Heights below which sole points are on the floor, and at which they stand. (F, 2, 4).

    ``weights`` (F, K) are the shares of the sources in each frame. Feet stand at most
    ``FLOOR_FALL`` below the highest floor that plays: a foot may stand on it to the end.
    """
    own = np.stack([(each.floor, each.highest) for each in limits])  # (K, 2, 4)
    floors = np.einsum("fk,ksp->fsp", weights, own)
    used = np.where((weights > 0.0)[..., None], own[None, :, 1], -np.inf)
    floors[:, 1] = np.maximum(floors[:, 1], used.max(axis=1) - FLOOR_FALL)
    return np.asarray(floors)


def copied_grounds(
    series: Sequence[Series],
    shown: Sequence[Copy],
    planted: BoolArray,
    limits: Sequence[Limits],
    fps: float,
) -> FloatArray:
    """How low each sole point may be while planted, and how far it may slide and be dragged.

    A contact that is wholly copied is compared with the same frames of the source, not with the
    worst of the whole clip, and so is a foot that is dragged in frames that are not judged. Other
    frames have no limits here: minus infinity and infinity. Of the four sole points, then of the
    pads of both heels. Shape (F, 6, 5), or (0, 6, 5) where nothing was copied.

    Parameters
    ----------
    series, shown
        As in :func:`copied_joints`.
    planted : (F, 4)
        Contacts of the result.
    limits
        Of each source: its points are on the floor below the height that they have there.
    fps
        Frames per second.
    """
    if not shown:
        return no_grounds()
    grounds = np.full((len(planted), 6, 2 + N_HEIGHTS), np.inf)
    grounds[..., 0] = -np.inf
    near = max(1, round(NEAR_S * fps))
    planted = np.ascontiguousarray(planted)
    for part in shown:
        soles, floor = series[part.source].soles, limits[part.source].floor
        n = min(part.last - part.first + 1, len(soles) - part.start)
        _grounds(
            len(soles), soles, len(planted), planted, part.first, part.start, n,
            near, SINK, COPIED_MORE, grounds,
        )  # fmt: skip
        _drags(
            len(soles), soles, floor, fps, len(planted), part.first, part.start, n, near,
            DRAGGED_MORE, grounds,
        )  # fmt: skip
    return grounds
