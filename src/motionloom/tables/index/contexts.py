"""Contexts: how a body stands and moves where a window starts and ends, and the way between.

By these a captured window is found that could stand between two moments.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Literal

import numpy as np

from motionloom._arrays import FloatArray, IntArray, items
from motionloom._core import kernel
from motionloom._elementary import cos, sin
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.index.windows import compared_joints

__all__ = [
    "VELOCITY_S",
    "Side",
    "context_offsets",
    "contexts",
    "displacements",
    "spans_of",
]

Side = Literal["start", "end"]

REACH_S = 8 / 60
"""How far a context looks back from a start and on from an end; half of it is looked at too."""
VELOCITY_S = 0.2
"""A velocity weighs as much as the way that it covers in this long."""
WAY, TURN_M = 0.19, 0.07
"""What a metre of displacement, and a radian of turn, weigh beside a metre of posture.

These and the velocities' weight are chosen by the error of seconds cut out of 15 takes of CMU 143
and made again from the nearest window of others. On the 150 of them that stand in the protocol of
in-betweens it is 4.0 cm; three poses 4/60 s apart and a metre that weighs a metre had 5.0.
"""

_contexts = kernel("ml_window_contexts")


def contexts(frames: Frames, rows: IntArray, *, side: Side) -> FloatArray32:
    """Poses at ``rows`` and velocities before (start) or after (end), seen from the body, (N, D).

    Velocities are means over 4/60 and 8/60 s times :data:`VELOCITY_S`. Distances between contexts
    are root mean squares over joints and these three, in metres. Where the clip is over, a
    velocity is that of the frames it has, and 0 where it has none.

    Parameters
    ----------
    frames
        The collection.
    rows
        The moments. (N,)
    side
        ``"start"`` for moments that a window starts at, ``"end"`` for those that it ends at.
    """
    offsets = context_offsets(frames.fps, side)
    joints = compared_joints(frames.skeleton, frames.body_map)
    out = np.zeros((len(rows), 9 * len(joints)), dtype=np.float32)
    n_rows, n_joints, _ = frames.body.shape
    _contexts(
        len(frames.starts) - 1,
        n_rows,
        n_joints,
        np.ascontiguousarray(frames.starts, dtype=np.int64),
        frames.heading,
        frames.ground,
        frames.body,
        len(joints),
        joints,
        VELOCITY_S * frames.fps,
        len(rows),
        np.ascontiguousarray(rows, dtype=np.int64),
        len(offsets),
        offsets,
        out,
    )
    return out


@lru_cache(maxsize=16)  # asked for with every context
def context_offsets(fps: float, side: Side) -> IntArray:
    """Frames that a context looks at, counted from its moment. (3,)."""
    reach = max(2, round(REACH_S * fps))
    looks = [-reach, -(reach // 2), 0] if side == "start" else [0, reach // 2, reach]
    offsets = np.array(looks, dtype=np.int64)
    offsets.flags.writeable = False
    return offsets


def displacements(frames: Frames, first: IntArray, last: IntArray) -> FloatArray:
    """How the body went from rows ``first`` to rows ``last`` of the same clip, (N, 3).

    Metres to its left (x) and ahead (z) as it faced at the first times :data:`WAY`, and the turn
    times :data:`TURN_M`, so that they weigh what they should beside contexts.
    """
    heading = np.asarray(frames.heading)
    away = frames.ground[last] - frames.ground[first]
    c, s = cos(heading[first]), sin(heading[first])
    return np.stack(
        [
            WAY * (c * away[:, 0] - s * away[:, 1]),
            WAY * (s * away[:, 0] + c * away[:, 1]),
            TURN_M * (heading[last] - heading[first]),
        ],
        axis=-1,
    )


def spans_of(frames: Frames, ids: Collection[str]) -> IntArray:
    """First and last row of each of the clips, (n, 2): what a search leaves out."""
    spans = []
    for name in items(ids, "exclude", "clips' ids"):
        first = frames.row_of(name, 0)
        spans.append((first, int(frames.starts[frames.clip_at(first) + 1]) - 1))
    return np.array(spans, dtype=np.int64).reshape(-1, 2)
