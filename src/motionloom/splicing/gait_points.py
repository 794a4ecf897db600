"""Gait: root and knees of a body that walks, and how surely two bodies walk alike."""

from __future__ import annotations

import itertools

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Motion, velocities
from motionloom.registration.timewarp import fit_planar_alignment
from motionloom.rotation import quat
from motionloom.splicing.posture import hip_frames

HEIGHT_S = 1.0
"""Seconds over which the body's height is taken for the ground's: stairs, platforms."""
THIGH_M = 0.45
"""Length to which thighs are scaled before bodies are compared."""
WALKING_M_S, SWINGING_M_S = 0.3, 1.0
"""Speeds of the root, and of one knee against the other, above which a body walks."""
ALIKE_M = (0.015, 0.03)
"""Root and knees nearer than the first are in the same stride; beyond the second, they are not."""
SURE_S = 0.5
"""Seconds over which sureness is averaged."""
STEP_M, LONGEST_STEP_S = 0.08, 1.5
"""Least distance by which one knee passes the other in a step, metres, and longest step,
seconds."""


def gait_points(motion: Motion, body: BodyMap) -> FloatArray:
    """Root and both knees in the world. (F, 3, 3)."""
    root, left, right = body.require("pelvis", "left_knee", "right_knee", task="splicing")
    return np.asarray(motion.world_positions()[:, [root, left, right]])


def comparable(points: FloatArray, fps: float, *, travel: bool) -> FloatArray:
    """Scale the points to a body of one size on level ground. (F, 3, 3).

    Without ``travel`` the root stays on its spot, for pairs in which one clip steps on the spot.
    """
    ground = averaged(points[:, 0, 1], HEIGHT_S, fps)
    level = points - ground[:, None, None] * np.array([0.0, 1.0, 0.0])
    if not travel:
        level = level - points[:, :1] * np.array([1.0, 0.0, 1.0])
    thigh = float(np.linalg.norm(points[:, 1:] - points[:, :1], axis=-1).mean())
    return np.asarray(level * (THIGH_M / max(thigh, 1e-9)))


def travels(points: FloatArray, fps: float) -> bool:
    """Whether the body of root and knees (F, 3, 3) walks in more than 30 % of the frames."""
    return bool(np.mean(ground_speed(points[:, 0], fps, 0.3) > WALKING_M_S) > 0.3)


def marches(points: FloatArray, fps: float) -> bool:
    """Whether it steps on the spot in more than 60 % of the frames: a kick swings the knees too."""
    return bool(np.mean(knee_speed(points, fps) > SWINGING_M_S) > 0.6)


def sureness(below: FloatArray, above: FloatArray, at: FloatArray, fps: float) -> FloatArray:
    """How surely both clips are in one stride: 1 where they walk alike, 0 where not. (N,).

    Parameters
    ----------
    below, above
        Comparable points of both clips. (n, 3, 3), (m, 3, 3)
    at : (N,)
        Frame of ``above`` at the first N frames of ``below``.
    fps
        Their rate.
    """
    below, low = below[: len(at)], np.minimum(at.astype(np.int64), len(above) - 2)
    part = (at - low)[:, None, None]
    matched = (1.0 - part) * above[low] + part * above[low + 1]
    apart = fit_planar_alignment(below, matched, np.ones(below.shape[1]))[2]
    near = np.clip((ALIKE_M[1] - np.sqrt(apart)) / (ALIKE_M[1] - ALIKE_M[0]), 0.0, 1.0)
    for points in (below, matched):
        going = ground_speed(points[:, 0], fps, 0.3) > WALKING_M_S
        near = near * (going | (knee_speed(points, fps) > SWINGING_M_S))
    return averaged(near, SURE_S, fps)


def stride_s(motion: Motion, body: BodyMap) -> float | None:
    """Seconds of a stride: twice the median time from one knee's pass by the other to the next.

    None for a body that makes no step: its knees pass each other less than twice, or stay close
    together in between.
    """
    ahead = knees_ahead(motion, body)
    steps = [
        (after - before) / motion.fps
        for before, after in itertools.pairwise(np.flatnonzero(np.diff(ahead > 0.0)).tolist())
        if np.abs(ahead[before:after]).max() > STEP_M
    ]
    steps = [each for each in steps if each < LONGEST_STEP_S]
    return 2.0 * float(np.median(steps)) if steps else None


def knees_ahead(motion: Motion, body: BodyMap) -> FloatArray:
    """How far the left knee is ahead of the right one, metres. (F,)."""
    left, right = body.require("left_knee", "right_knee", task="splicing")
    positions = motion.world_positions()
    apart = positions[:, left] - positions[:, right]
    return np.asarray(quat.rotate(hip_frames(positions, body), apart)[:, 2])


def in_step(below: FloatArray, above: FloatArray, at: FloatArray) -> float:
    """Correlation of how far knees are ahead (F,) in two clips, ``above`` at the frames ``at``.

    1 for the same steps at the same times, whatever their length.
    """
    above = np.interp(at, np.arange(len(above)), above)
    ours, theirs = (each - each.mean() for each in (below[: len(at)], above))
    return float(ours @ theirs / max(np.sqrt((ours @ ours) * (theirs @ theirs)), 1e-12))


def knee_speed(points: FloatArray, fps: float) -> FloatArray:
    """Speed over the ground of one knee against the other. (F,)."""
    return ground_speed(points[:, 1] - points[:, 2], fps, 0.6)


def ground_speed(points: FloatArray, fps: float, seconds: float) -> FloatArray:
    """Speed over the ground, averaged over some seconds. (F,)."""
    rate = velocities(points, fps)
    return averaged(np.hypot(rate[:, 0], rate[:, 2]), seconds, fps)


def averaged(values: FloatArray, seconds: float, fps: float) -> FloatArray:
    """Values (F,) averaged over some seconds; the end values continue beyond the ends."""
    width = min(round(seconds * fps), len(values)) | 1
    window = np.hanning(width + 2)[1:-1]
    padded = np.pad(values, width // 2, mode="edge")
    return np.convolve(padded, window / window.sum(), mode="valid")
