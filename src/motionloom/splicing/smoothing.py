"""Rotations over time without frame noise, twitches and capture glitches.

Captured hips and spines shake from frame to frame by some degrees, each against the other, and the
chest that they carry stays steady. A rotation taken from one clip and given to another has to be
free of that shake: there is nothing in the other clip to cancel it.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import kernel
from motionloom.rotation import quat

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


def without_sway(quats: FloatArray, period: float) -> FloatArray:
    """Rotations without what swings with this period about a steady turn. (F, 4).

    Quaternions get the sum of a line and one sine wave fitted, and the wave is subtracted. A line
    alone, fitted to a single swing, takes a third of its speed for a turn.

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


def smooth_points(
    points: FloatArray, fps: float, *, half_width_s: float, degree: int
) -> FloatArray:
    """Points over time (F, 3) smoothed as :func:`smooth_rotations` smooths rotations. (F, 3)."""
    degree = min(degree, len(points) - 1)
    half = max(int(half_width_s * fps), degree)
    return _local_fit(points, np.ones(len(points)), half, degree)


def _local_fit(values: FloatArray, weights: FloatArray, half: int, degree: int) -> FloatArray:
    """Polynomials of ``degree`` fitted around every frame, at that frame. (F, C).

    Parameters
    ----------
    values : (F, C)
        What is smoothed.
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
