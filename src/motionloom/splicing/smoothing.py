"""Motion over time: rotations and points without frame noise, and clips read between their frames.

Captured hips and spines shake from frame to frame by some degrees, each against the other, and the
chest that they carry stays steady. A rotation taken from one clip and given to another has to be
free of that shake: there is nothing in the other clip to cancel it.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import kernel
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.rotation.quat import smoothstep

_fit = kernel("ml_smoothing_fit")
IGNORED = 1e-9
"""Weight of an ignored frame. It is not zero, for a window may hold ignored frames only."""


def smooth_rotations(
    quats: FloatArray,
    fps: float,
    *,
    half_width_s: float,
    degree: int,
    ignored: BoolArray | None = None,
) -> FloatArray:
    """Rotations smoothed by local regression (LOESS, Cleveland 1979). (F, 4).

    At every frame a polynomial in time is fitted to the quaternions around it, those near in time
    counting most. Turning all rotations by one rotation turns the result by it, from either side,
    and a constant rotation stays as it is.

    Parameters
    ----------
    quats : (F, 4)
        Unit quaternions; signs do not matter.
    fps
        Their rate.
    half_width_s
        Seconds to either side that count. Near the ends as many frames count, on one side.
    degree
        1 or 2. A parabola over 0.1 s keeps 0.99 of a swing at 3 Hz, half of one at 8.5 Hz, and at
        most 0.12 above 12 Hz; a line over 0.8 s keeps 0.61 at 0.5 Hz and at most 0.08 above 1 Hz.
    ignored : (F,)
        Frames that do not count, such as glitches and twitches.
    """
    quats = quat.make_continuous(quats)
    weights = np.ones(len(quats)) if ignored is None else np.where(ignored, IGNORED, 1.0)
    degree = min(degree, len(quats) - 1)
    half = max(int(half_width_s * fps), degree)
    return quat.normalize(_local_fit(quats, weights, half, degree))


def smooth_points(
    points: FloatArray, fps: float, *, half_width_s: float, degree: int
) -> FloatArray:
    """Points over time (F, 3) smoothed as :func:`smooth_rotations` smooths rotations. (F, 3)."""
    degree = min(degree, len(points) - 1)
    half = max(int(half_width_s * fps), degree)
    return _local_fit(points, np.ones(len(points)), half, degree)


def without_sway(quats: FloatArray, period: float) -> FloatArray:
    """Remove the swing of this period from rotations that turn steadily. (F, 4).

    A line and one sine wave are fitted to the quaternions together, and the wave is subtracted. A
    line alone, fitted to a single swing, would take a third of its speed for a turn.

    Parameters
    ----------
    quats : (F, 4)
        Unit quaternions of at least one period; signs do not matter.
    period
        Frames of a swing.
    """
    quats = quat.make_continuous(quats)
    frames = np.arange(len(quats))
    phase = 2.0 * np.pi / period * frames
    basis = np.stack([np.ones(len(quats)), frames, np.cos(phase), np.sin(phase)], axis=1)
    shares = np.linalg.lstsq(basis, quats, rcond=None)[0]
    return quat.normalize(quats - basis[:, 2:] @ shares[2:])


def _local_fit(values: FloatArray, weights: FloatArray, half: int, degree: int) -> FloatArray:
    """Polynomials of ``degree`` fitted around every frame, at that frame. (F, C).

    Parameters
    ----------
    values : (F, C)
        Numbers to smooth.
    weights : (F,)
        How much a frame counts, apart from its distance.
    half
        Frames to either side; all windows have ``2 half + 1`` frames, or F.
    degree
        0 to 2, and below F.
    """
    values = np.ascontiguousarray(values, dtype=np.float64)
    out = np.zeros(values.shape)
    _fit(*values.shape, values, weights, half, degree, np.zeros((3, len(values))), out)
    return out


def sample_smoothly(
    motion: Motion, frames: FloatArray, *, knots: IntArray | None = None, fps: float | None = None
) -> Motion:
    """The motion at fractional frame numbers, by cubic Hermite (Catmull-Rom) interpolation.

    Linear interpolation changes the velocity suddenly at every frame: in a clip of 30 Hz that is
    resampled to 120 Hz, and where frames are missing, a quick hand jerks.

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
