"""Clips read between their frames by cubic interpolation.

Linear interpolation keeps one velocity from frame to frame and changes it suddenly at each: in a
clip of 30 Hz that is resampled to 120 Hz, and where frames are missing, a quick hand jerks.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.rotation.easing import smoothstep


def sample_smoothly(
    motion: Motion, frames: FloatArray, *, knots: IntArray | None = None, fps: float | None = None
) -> Motion:
    """The motion at fractional frame numbers, by cubic Hermite (Catmull-Rom) interpolation.

    Parameters
    ----------
    motion
        F frames.
    frames : (N,)
        Frame numbers in [0, F - 1].
    knots : (K,)
        Frames to interpolate from, ascending; all by default. Before the first and after the last
        one the pose stays.
    fps
        Rate of the result; the motion's own by default.
    """
    at_frames = np.arange(motion.n_frames, dtype=np.int64) if knots is None else knots
    at = np.clip(np.asarray(frames, dtype=np.float64), at_frames[0], at_frames[-1])
    moving = motion.joint_translations
    quats = quat.make_continuous(motion.local_quats[at_frames])
    sampled = quat.normalize(_cubic(quats, at_frames, at))
    exact = np.isin(at, at_frames)
    sampled[exact] = motion.local_quats[at[exact].astype(np.int64)]
    return motion.replace(
        root_positions=_cubic(motion.root_positions[at_frames], at_frames, at),
        local_quats=quat.make_continuous(sampled),
        joint_translations=None if moving is None else _cubic(moving[at_frames], at_frames, at),
        fps=motion.fps if fps is None else fps,
    )


def _cubic(values: FloatArray, knots: IntArray, at: FloatArray) -> FloatArray:
    """Values (K, ...) of the knots interpolated at ``at`` (N,); those at knots are exact."""
    if len(knots) < 3:
        first = np.searchsorted(knots, at, side="right") - 1
        first = np.clip(first, 0, max(len(knots) - 2, 0))
        second = np.minimum(first + 1, len(knots) - 1)
        gap = np.maximum(knots[second] - knots[first], 1)
        part = _columns((at - knots[first]) / gap, values)
        return np.asarray(values[first] + part * (values[second] - values[first]))
    gaps = _columns(np.diff(knots).astype(np.float64), values)
    chords = np.diff(values, axis=0) / gaps
    slopes = np.zeros_like(values)
    slopes[1:-1] = (gaps[1:] * chords[:-1] + gaps[:-1] * chords[1:]) / (gaps[1:] + gaps[:-1])
    slopes[0], slopes[-1] = chords[0], chords[-1]
    k = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
    gap = gaps[k]
    t = _columns(at - knots[k], values) / gap
    start, end = values[k], values[k + 1]
    path = (
        (1.0 + 2.0 * t) * (1.0 - t) ** 2 * start
        + smoothstep(t) * end
        + gap * t * (1.0 - t) * ((1.0 - t) * slopes[k] - t * slopes[k + 1])
    )
    return np.where(t == 0.0, start, np.where(t == 1.0, end, path))


def _columns(numbers: FloatArray, like: FloatArray) -> FloatArray:
    """Numbers (N,) with as many axes as ``like``."""
    return numbers.reshape(-1, *([1] * (like.ndim - 1)))
