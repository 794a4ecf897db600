"""Pace: how fast the joints of a clip go at most, as the gate on every result measures it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray
from motionloom.transitions.collecting.frames import FloatArray32, Frames
from motionloom.transitions.collecting.pages import RELEASED_BYTES, release_frames

__all__ = ["SLOWEST", "pace_of", "paces_of"]

SLOWEST = 0.2
"""Speeds below this (m/s, rad/s) count as this: nothing is held against a clip that stands."""


def pace_of(frames: Frames, clip: int) -> FloatArray:
    """Largest joint speed m/s, joint turn rad/s, ground speed of the pelvis m/s of a clip. (3,)."""
    first, stop = int(frames.starts[clip]), int(frames.starts[clip + 1])
    pelvis = frames.body_map.pelvis
    return np.asarray(
        frames.fps
        * _fastest(
            np.asarray(frames.heading[first:stop]),
            np.asarray(frames.ground[first:stop]),
            np.asarray(frames.quats[first:stop]),
            np.asarray(frames.body[first:stop]),
            0 if pelvis is None else pelvis,
        )
    )


def paces_of(frames: Frames, clips: Iterable[int]) -> FloatArray:
    """The same of many clips, (n, 3)."""
    paces, read = [], 0
    for clip in clips:
        paces.append(pace_of(frames, clip))
        rows = int(frames.starts[clip + 1] - frames.starts[clip])
        read += rows * (frames.body[0].nbytes + frames.quats[0].nbytes)
        if read > RELEASED_BYTES:
            release_frames(frames)
            read = 0
    return np.array(paces).reshape(-1, 3)


@njit(cache=True, error_model="numpy")
def _fastest(
    heading: FloatArray, ground: FloatArray, quats: FloatArray32, body: FloatArray32, pelvis: int
) -> FloatArray:
    """Largest step, turn and ground step between neighbouring frames. (3,)."""
    n, n_joints = body.shape[0], body.shape[1]
    step, least, travel = 0.0, 1.0, 0.0
    before, now = np.zeros((n_joints, 3)), np.zeros((n_joints, 3))
    for f in range(n):
        cos, sin = np.cos(heading[f]), np.sin(heading[f])
        for j in range(n_joints):
            x, z = np.float64(body[f, j, 0]), np.float64(body[f, j, 2])
            now[j, 0] = ground[f, 0] + cos * x + sin * z
            now[j, 1] = body[f, j, 1]
            now[j, 2] = ground[f, 1] + cos * z - sin * x
            if f > 0:
                dx, dy = now[j, 0] - before[j, 0], now[j, 1] - before[j, 1]
                dz = now[j, 2] - before[j, 2]
                step = max(step, dx * dx + dy * dy + dz * dz)
                if j == pelvis:
                    travel = max(travel, dx * dx + dz * dz)
                if j > 0:
                    dot = 0.0
                    for c in range(4):
                        dot += np.float64(quats[f, j, c]) * np.float64(quats[f - 1, j, c])
                    least = min(least, abs(dot))
        if f > 0:
            turn = heading[f] - heading[f - 1]
            least = min(least, _turned(quats[f - 1, 0], quats[f, 0], turn))
        before, now = now, before
    turn = 2.0 * np.arccos(min(least, 1.0))
    return np.array([np.sqrt(step), turn, np.sqrt(travel)])


@njit(cache=True, error_model="numpy")
def _turned(a: FloatArray32, b: FloatArray32, turn: float) -> float:
    """Cosine of half the angle between two rotations, the second turned about +Y."""
    c, s = np.cos(0.5 * turn), np.sin(0.5 * turn)
    w, x, y, z = c * b[0] - s * b[2], c * b[1] + s * b[3], c * b[2] + s * b[0], c * b[3] - s * b[1]
    return float(abs(a[0] * w + a[1] * x + a[2] * y + a[3] * z))
