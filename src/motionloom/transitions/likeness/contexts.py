"""Contexts: how a body stands and moves where a window starts and ends, and the way between.

By these a captured window is found that could stand between two moments.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray, items
from motionloom.transitions.collecting.frames import FloatArray32, Frames
from motionloom.transitions.likeness.windows import compared_joints

__all__ = [
    "VELOCITY_S",
    "Side",
    "context_offsets",
    "contexts",
    "displacements",
    "fill_contexts",
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
    fill_contexts(
        np.asarray(frames.starts),
        np.asarray(frames.heading),
        np.asarray(frames.ground),
        np.asarray(frames.body),
        np.asarray(rows, dtype=np.int64),
        offsets,
        joints,
        VELOCITY_S * frames.fps,
        out,
    )
    return out


def context_offsets(fps: float, side: Side) -> IntArray:
    """Frames that a context looks at, counted from its moment. (3,)."""
    reach = max(2, round(REACH_S * fps))
    return np.array([-reach, -(reach // 2), 0] if side == "start" else [0, reach // 2, reach])


def displacements(frames: Frames, first: IntArray, last: IntArray) -> FloatArray:
    """How the body went from rows ``first`` to rows ``last`` of the same clip, (N, 3).

    Metres to its left (x) and ahead (z) as it faced at the first times :data:`WAY`, and the turn
    times :data:`TURN_M`, so that they weigh what they should beside contexts.
    """
    heading = np.asarray(frames.heading)
    away = frames.ground[last] - frames.ground[first]
    cos, sin = np.cos(heading[first]), np.sin(heading[first])
    return np.stack(
        [
            WAY * (cos * away[:, 0] - sin * away[:, 1]),
            WAY * (sin * away[:, 0] + cos * away[:, 1]),
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


@njit(cache=True)
def fill_contexts(starts, heading, ground, body, rows, offsets, joints, reach, out):  # type: ignore[no-untyped-def]
    """Write the contexts of ``rows`` into ``out``; see :func:`contexts`."""
    scale = 1.0 / np.sqrt(len(offsets) * len(joints))
    for n in range(len(rows)):
        at = rows[n]
        clip = np.searchsorted(starts, at, side="right") - 1
        cos_at, sin_at = np.cos(heading[at]), np.sin(heading[at])
        column = 0
        for s in range(len(offsets)):
            row = min(max(at + offsets[s], starts[clip]), starts[clip + 1] - 1)
            turn = heading[row] - heading[at]
            cos, sin = np.cos(turn), np.sin(turn)
            x, z = ground[row, 0] - ground[at, 0], ground[row, 1] - ground[at, 1]
            ahead_x, ahead_z = cos_at * x - sin_at * z, sin_at * x + cos_at * z
            moves = scale * reach / (row - at) if row != at else 0.0
            for j in range(len(joints)):
                joint = joints[j]
                px, pz = body[row, joint, 0], body[row, joint, 2]
                x, y, z = cos * px + sin * pz + ahead_x, body[row, joint, 1], cos * pz - sin * px
                z += ahead_z
                if offsets[s] == 0:
                    out[n, column], out[n, column + 1] = scale * x, scale * y
                    out[n, column + 2] = scale * z
                else:
                    now = body[at, joint]
                    out[n, column] = moves * (x - now[0])
                    out[n, column + 1] = moves * (y - now[1])
                    out[n, column + 2] = moves * (z - now[2])
                column += 3
