"""Steps that are too fast, and how legs are smoothed there."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.rotation import quat
from motionloom.rotation.quat import ease
from tests.oracles.blend_off import spread_smoothly
from tests.oracles.quat import multiply, rotate

OVER_OWN = 1.3
"""A joint may turn this many times as fast as its fastest in the clip."""
OVER_AROUND, ISOLATED, LEAST_FLIP = 3.0, 1.5, np.radians(1.0)


def steps_too_fast(turns: FloatArray, own: FloatArray, source: FloatArray, fps: float) -> BoolArray:
    """The plain form of :func:`steps_too_fast`, of angles (F - 1, J) from frame to frame."""
    free, half = np.radians(300.0) / fps, max(3, round(0.1 * fps))
    fast = np.zeros(turns.shape, dtype=bool)
    for f, j in np.argwhere((turns > source + 1e-9) & (turns > np.maximum(own, LEAST_FLIP))):
        step, first = turns[f, j], max(0, f - half)
        around = np.delete(turns[first : f + half + 1, j], f - first)
        neighbours = [turns[g, j] for g in (f - 1, f + 1) if 0 <= g < len(turns)]
        fast[f, j] = step > max(OVER_OWN * own[j], free) or (
            len(around) > 0
            and all(step > ISOLATED * other for other in neighbours)
            and step > OVER_OWN * source[max(0, f - 1) : f + 2, j].max()
            and step > OVER_AROUND * np.median(around)
        )
    return fast


def smooth(
    before: FloatArray, local: FloatArray, joints: IntArray, part: FloatArray, half: int
) -> FloatArray:
    """Local rotations (F, J, 4) with a leg whose correction is smoothed by ``part`` (F,)."""
    out = np.array(local)
    turns = quat.log(multiply(quat.conjugate(before[:, joints]), local[:, joints]))
    turns += part[:, None, None] * (spread_smoothly(turns, half) - turns)
    smoothed = multiply(before[:, joints], quat.exp(turns))
    out[:, joints] = np.where(part[:, None, None] > 0.0, smoothed, local[:, joints])
    return out


def knee(
    positions: FloatArray,
    world: FloatArray,
    after: FloatArray,
    local: FloatArray,
    hip: int,
    knee: int,
) -> FloatArray:
    """Where a knee is (F, 3) once the local rotations of its hip are others than ``after``."""
    above = multiply(world[:, hip], quat.conjugate(after[:, hip]))
    bone = positions[:, knee] - positions[:, hip]
    thigh = rotate(quat.conjugate(world[:, hip]), bone)
    return np.asarray(positions[:, hip] + rotate(multiply(above, local[:, hip]), thigh))


def share(steps: IntArray, n_frames: int, half: int) -> FloatArray:
    """1 at both frames of each step, falling smoothly to 0 ``half`` frames away. Shape (F,)."""
    if not len(steps):
        return np.zeros(n_frames)
    frames = np.arange(n_frames)
    away = np.abs(frames[:, None] - (steps[None] + 0.5)).min(axis=1) - 0.5
    return ease(away / half, nested=True)
