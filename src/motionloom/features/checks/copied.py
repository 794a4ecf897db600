"""What a source does in the very frames that a result shows: it is its own, whatever it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._block import Block
from motionloom._core import kernel
from motionloom.features.checks.compare import SINK
from motionloom.features.checks.series import Series
from motionloom.features.checks.soles import N_HEIGHTS
from motionloom.features.checks.source_limits import Limits
from motionloom.motion.provenance import Copy

_joints = kernel("ml_copied_joints")
_grounds = kernel("ml_copied_grounds")
_drags = kernel("ml_copied_drags")

COPIED_MORE = 1.15
"""A joint may be so much faster, and a contact slide so much farther, than in the very frames that
were copied."""
DRAGGED_MORE = 1.2
"""A sole point may be dragged so much farther than near the very frames that were copied."""
FLOOR_FALL = 0.05
"""Metres that floors are below the higher one of two clips between them; as in
core/src/tables/transition.c."""
NEAR_S = 0.1
"""A sole point may be as low as it is in the source within so many seconds."""


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
    allowed = (Block(0) if block is None else block).zeros(n_frames, n_joints, 3)
    for part in shown:
        own = series[part.source]
        n = min(part.n_frames, len(own.turn) - part.start)
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

    Each frame is so much of each source: weights (F, K). Where feet stand is no farther below the
    higher one than ``FLOOR_FALL``: a foot may stand on it to the end.
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
        n = min(part.n_frames, len(soles) - part.start)
        _grounds(
            len(soles), soles, len(planted), planted, part.first, part.start, n,
            near, SINK, COPIED_MORE, grounds,
        )  # fmt: skip
        _drags(
            len(soles), soles, floor, fps, len(planted), part.first, part.start, n, near,
            DRAGGED_MORE, grounds,
        )  # fmt: skip
    return grounds
