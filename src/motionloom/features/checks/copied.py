"""What a source does in the very frames that were copied: these are its own, whatever they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from motionloom._arrays import BoolArray, FloatArray
from motionloom.features.checks.judge import SINK
from motionloom.features.checks.series import Series
from motionloom.features.verification import Copied

__all__ = ["COPIED_MORE", "copied_grounds", "copied_joints"]

COPIED_MORE = 1.15
"""A joint may be so much faster, and a contact slide so much farther, than in the very frames that
were copied."""
NEAR_S = 0.1
"""A sole point may be as low as it is in the source within so many seconds."""


def copied_joints(
    series: Sequence[Series], copied: Sequence[Copied], n_frames: int, n_joints: int
) -> FloatArray:
    """Rotation speed, speed and second difference that each joint may have. (F or 0, N, 3).

    Parameters
    ----------
    series
        Of each source.
    copied
        Frames of the result that were taken over.
    n_frames, n_joints
        Of the result.
    """
    if not copied:
        return np.zeros((0, n_joints, 3))
    allowed = np.zeros((n_frames, n_joints, 3))
    for part in copied:
        own = series[part.source]
        values = np.stack([own.turn, own.speed, own.bend], axis=-1)
        n = min(part.stop - part.first, len(values) - part.start)
        allowed[part.first : part.first + n] = COPIED_MORE * _widened(
            values, part.start, part.start + n
        )
    return allowed


def copied_grounds(
    series: Sequence[Series], copied: Sequence[Copied], planted: BoolArray, fps: float
) -> FloatArray:
    """How low each sole point may be while it is planted, and how far it may slide. (F or 0, 4, 2).

    A contact that is wholly copied is compared with the same frames of the source, not with the
    worst of the whole clip. Other frames have no limits here: minus infinity and infinity.

    Parameters
    ----------
    series, copied
        As in :func:`copied_joints`.
    planted : (F, 4)
        Contacts of the result.
    fps
        Frames per second.
    """
    if not copied:
        return np.zeros((0, 4, 2))
    grounds = np.zeros((len(planted), 4, 2))
    grounds[...] = (-np.inf, np.inf)
    near = max(1, round(NEAR_S * fps))
    for part in copied:
        soles = series[part.source].soles
        n = min(part.stop - part.first, len(soles) - part.start)
        for point in range(4):
            for first, stop in _runs(planted[part.first : part.first + n, point]):
                low, high = part.start + first, part.start + stop
                around = np.full(stop - first + 2 * near, np.inf)
                heights = soles[max(low - near, 0) : high + near, point, 1]
                skipped = max(near - low, 0)
                around[skipped : skipped + len(heights)] = heights
                here = part.first + first
                lowest = sliding_window_view(around, 2 * near + 1).min(axis=1)
                grounds[here : part.first + stop, point, 0] = lowest - SINK
                if _is_whole(planted[:, point], here, part.first + stop):
                    box = np.ptp(soles[low:high, point][:, [0, 2]], axis=0)
                    grounds[here, point, 1] = COPIED_MORE * float(np.hypot(*box))
    return grounds


def _runs(flags: BoolArray) -> list[tuple[int, int]]:
    """First frame of every run of true flags, and the one after its last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(first), int(stop)) for first, stop in zip(edges[::2], edges[1::2], strict=True)]


def _is_whole(planted: BoolArray, first: int, stop: int) -> bool:
    """Whether a contact does not go on before or after some frames."""
    return not (first > 0 and planted[first - 1]) and not (stop < len(planted) and planted[stop])


def _widened(values: FloatArray, first: int, stop: int) -> FloatArray:
    """Rows ``first`` to ``stop`` of values (F, ...), each the largest of it and its neighbours."""
    at = np.arange(first, stop)
    around = [values[np.clip(at + step, 0, len(values) - 1)] for step in (-1, 0, 1)]
    return np.asarray(np.maximum.reduce(around))
