"""Windows, contexts and codes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom.tables.collection.frames import FloatArray32


def features(
    heading: FloatArray,
    ground: FloatArray,
    body: FloatArray32,
    rows: IntArray,
    centre: int,
    offsets: IntArray,
    joints: IntArray,
) -> FloatArray:
    """The plain form of :func:`window_features`. (N, S J' 3)."""
    at, scale = rows + centre, np.sqrt(len(offsets) * len(joints))
    samples = [_seen(heading, ground, body, rows + offset, at, joints) for offset in offsets]
    return np.stack(samples, axis=1).reshape(len(rows), -1) / scale


def contexts(
    starts: IntArray,
    heading: FloatArray,
    ground: FloatArray,
    body: FloatArray32,
    rows: IntArray,
    offsets: IntArray,
    joints: IntArray,
    reach: float,
) -> FloatArray:
    """The plain form of :func:`contexts`. (N, S J' 3)."""
    clip = np.searchsorted(starts, rows, side="right") - 1
    scale = np.sqrt(len(offsets) * len(joints))
    now = _seen(heading, ground, body, rows, rows, joints)
    parts = []
    for offset in offsets:
        there = np.clip(rows + offset, starts[clip], starts[clip + 1] - 1)
        frames = (there - rows)[:, None, None]
        moved = reach * (_seen(heading, ground, body, there, rows, joints) - now)
        velocity = np.where(frames == 0, 0.0, moved / np.where(frames == 0, 1, frames))
        parts.append(now if offset == 0 else velocity)
    return np.stack(parts, axis=1).reshape(len(rows), -1) / scale


def encoded(
    moments: FloatArray32, mean: FloatArray32, axes: FloatArray32, steps: FloatArray32
) -> npt.NDArray[np.int8]:
    """The plain form of :func:`encoded`: sums in single precision, column by column."""
    sums = np.zeros((len(moments), len(axes)), dtype=np.float32)
    for d in range(moments.shape[1]):
        sums += (moments[:, d] - mean[d])[:, None] * axes[:, d]
    return np.clip(np.rint(sums / steps), -127, 127).astype(np.int8)


def _seen(
    heading: FloatArray,
    ground: FloatArray,
    body: FloatArray32,
    rows: IntArray,
    at: IntArray,
    joints: IntArray,
) -> FloatArray:
    """Joints at rows, into the world and back into the body at other rows. (N, J', 3)."""
    own = body[rows][:, joints].astype(np.float64)
    x, z = _turned(own[..., 0], own[..., 2], heading[rows])
    away = ground[rows] - ground[at]
    x, z = _turned(x + away[:, :1], z + away[:, 1:], -heading[at])
    return np.stack([x, own[..., 1], z], axis=-1)


def _turned(x: FloatArray, z: FloatArray, angle: FloatArray) -> tuple[FloatArray, FloatArray]:
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return cos * x + sin * z, cos * z - sin * x
