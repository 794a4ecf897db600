"""Played frames: a made transition with captured frames of its clips before and after it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.rotation import quat
from motionloom.tables.collection.frames import Frames

UP = np.array([0.0, 1.0, 0.0])


class PlayedFrames(NamedTuple):
    """Frames one after the other."""

    heading: FloatArray
    """Radians. (F,)"""
    root: FloatArray
    """Metres. (F, 3)"""
    quats: FloatArray
    """(F, J, 4)"""
    planted: BoolArray
    """(F, 4)"""


def played_between(
    frames: Frames, blend: PlayedFrames, places: tuple[int, int], counts: tuple[int, int]
) -> tuple[PlayedFrames, int]:
    """Made frames with captured ones before and after, and how many come before.

    Parameters
    ----------
    frames
        The collection.
    blend
        The first frame is a row of the collection, and so is the last.
    places
        Those two rows.
    counts
        Frames before and after, as far as the clips have them.
    """
    (first, last), (lead, follow) = places, counts
    clips = frames.clip_at(first), frames.clip_at(last)
    before = np.arange(max(first - lead, int(frames.starts[clips[0]])), first)
    after = np.arange(last + 1, min(last + 1 + follow, int(frames.starts[clips[1] + 1])))
    parts = [
        _carried(frames, before, first, blend, 0),
        blend,
        _carried(frames, after, last, blend, -1),
    ]
    joined = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return PlayedFrames(*joined), len(before)


def _carried(
    frames: Frames, rows: IntArray, joint: int, blend: PlayedFrames, end: int
) -> PlayedFrames:
    """Captured rows moved rigidly so that row ``joint`` is the first or last made frame."""
    turn = float(blend.heading[end] - frames.heading[joint])
    cos, sin = np.cos(turn), np.sin(turn)
    x, z = (frames.ground[rows] - frames.ground[joint]).T
    root = np.stack(
        [
            blend.root[end, 0] + cos * x + sin * z,
            frames.body[rows, 0, 1].astype(np.float64),
            blend.root[end, 2] + cos * z - sin * x,
        ],
        axis=1,
    )
    heading = frames.heading[rows] + turn
    quats = quat.normalize(frames.quats[rows].astype(np.float64))
    quats[:, 0] = quat.multiply(quat.from_axis_angle(UP, heading), quats[:, 0])
    return PlayedFrames(heading, root, quats, np.asarray(frames.planted[rows]))
