"""Pace: how fast the joints of a clip go at most, as the gate on every result measures it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.tables.collection.frames import Frames
from motionloom.tables.collection.pages import RELEASED_BYTES, release_frames

__all__ = ["SLOWEST", "pace_of", "paces_of"]

SLOWEST = 0.2
"""Speeds below this (m/s, rad/s) count as this: nothing is held against a clip that stands."""

_measure = kernel("ml_pace_measure")


def pace_of(frames: Frames, clip: int) -> FloatArray:
    """Largest joint speed m/s, joint turn rad/s, ground speed of the pelvis m/s of a clip. (3,)."""
    first, stop = int(frames.starts[clip]), int(frames.starts[clip + 1])
    pelvis = frames.body_map.pelvis
    n_joints = frames.body.shape[1]
    fastest = np.zeros(3)
    _measure(
        stop - first,
        n_joints,
        frames.heading[first:stop],
        frames.ground[first:stop],
        frames.quats[first:stop],
        frames.body[first:stop],
        0 if pelvis is None else pelvis,
        np.zeros(6 * n_joints),
        fastest,
    )
    return np.asarray(frames.fps * fastest)


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
