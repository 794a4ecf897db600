"""Bursts: steps of a joint that are far faster than those around it.

Markers that are lost and found again leave a foot, a hand or the whole trunk somewhere else within
one to four frames. Each side of such a step may be right, so nothing can be interpolated: the step
can only be spread over the frames around it.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.rotation import quat

JUDGED_FPS = 60.0
"""Faster clips are judged at steps of this rate as well: two half bursts are one of theirs."""
FAST = np.radians(300.0)
"""Slower steps are no bursts, rad/s."""
RATIO = 2.8
"""A burst is so many times as fast as the median of the steps around."""
AROUND_S = 0.1
LONGEST_S = 0.045
"""What is faster than half its peak for longer is a kick or a punch, not a burst."""
ALONE = np.radians(540.0)
"""A single step as fast as this is a jump even if the joint is as fast in other frames, rad/s."""
KINK, KINK_RATIO = np.radians(7.0), 5.0
"""A rotation so far from the mean of those before and after, and so many times as far as around,
has a kink. The angle is that of steps at 60 Hz."""


def find_bursts(
    quats: FloatArray,
    fps: float,
    *,
    longest_s: float = LONGEST_S,
    least: float = FAST,
    kinks: bool = False,
) -> BoolArray:
    """Steps of a rotation (F, 4) far faster than those around and than its others. (F - 1,).

    Parameters
    ----------
    quats : (F, 4)
        Unit quaternions.
    fps
        Their rate.
    longest_s
        What is faster than half its peak for longer is motion.
    least
        Slower steps are no bursts, rad/s.
    kinks
        Look for kinks too: feet have none, but fists that turn back at the end of a punch do.
    """
    bursts = np.zeros(len(quats) - 1, dtype=np.bool_)
    for stride in strides_of(fps):
        if len(quats) <= 4 * stride:
            continue
        speeds = steps_of(quats, stride) * fps / stride
        fast = np.flatnonzero(speeds > least)
        if not len(fast):
            continue
        usual, next_to = around(speeds, fast, stride, fps)
        outstanding = speeds[fast] > RATIO * usual
        others = np.delete(speeds, fast[outstanding])
        own = max(float(others.max(initial=0.0)), least)
        alone = speeds[fast] > np.maximum(ALONE, RATIO * np.maximum(usual, next_to))
        for at in fast[(outstanding & (speeds[fast] > own)) | alone]:
            if _duration(speeds, int(at)) <= longest_s * fps:
                bursts[at : at + stride] = True
        for at in _kinks(quats, stride, fps) if kinks else ():
            bursts[at - 1 : at + 1] = True
    return bursts


def _kinks(quats: FloatArray, stride: int, fps: float) -> IntArray:
    """Frames in which a rotation is far from the mean of those before and after."""
    if stride < round(fps / JUDGED_FPS):  # what shorter steps show is noise
        return np.zeros(0, dtype=np.int64)
    middle = quat.slerp(quats[: -2 * stride], quats[2 * stride :], 0.5)
    away = np.zeros(len(quats))
    away[stride:-stride] = quat.angle_between(quats[stride:-stride], middle)
    far = np.flatnonzero(away > KINK)
    if not len(far):
        return far
    usual, _ = around(away, far, stride, fps)
    return np.asarray(far[away[far] > KINK_RATIO * usual])


def _duration(speeds: FloatArray, at: int) -> int:
    """How many steps in a row around one are faster than half of the fastest of them."""
    first = last = at
    least = 0.5 * speeds[at]
    while first > 0 and speeds[first - 1] > least:
        first -= 1
        least = max(least, 0.5 * speeds[first])
    while last < len(speeds) - 1 and speeds[last + 1] > least:
        last += 1
        least = max(least, 0.5 * speeds[last])
    return last - first + 1


def steps_of(quats: FloatArray, stride: int) -> FloatArray:
    """Angles between rotations (F, 4) so many frames apart, radians. (F - stride,)."""
    return np.asarray(quat.angle_between(quats[:-stride], quats[stride:]))


def around(
    speeds: FloatArray, at: IntArray, stride: int, fps: float
) -> tuple[FloatArray, FloatArray]:
    """Median speed of the steps around each of ``at``, itself left out; and the faster one next."""
    n = len(speeds)
    half = max(1, min(max(3, round(AROUND_S * fps / stride)), (n - 1) // (2 * stride)))
    middle = np.clip(at, half * stride, n - 1 - half * stride)
    index = middle[:, None] + np.arange(-half, half + 1) * stride
    values = np.where(index == at[:, None], np.nan, speeds[index])
    values.sort(axis=1)  # NaN comes last
    rows, count = np.arange(len(at)), np.isfinite(values).sum(axis=1)
    usual = 0.5 * (values[rows, (count - 1) // 2] + values[rows, count // 2])
    before = np.where(at >= stride, speeds[np.maximum(at - stride, 0)], 0.0)
    after = np.where(at + stride < n, speeds[np.minimum(at + stride, n - 1)], 0.0)
    return usual, np.maximum(before, after)


def strides_of(fps: float) -> list[int]:
    """Frames between the rotations that are compared: 1, and as many as last a sixtieth."""
    return sorted({1, min(4, max(1, round(fps / JUDGED_FPS)))})
