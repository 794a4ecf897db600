"""When: the frame of the action that belongs to every frame of the locomotion.

Root and knees of both clips are matched as in registration, from the locomotion's first frame to an
open end, and the path is smoothed into strictly increasing times. An action without a
gait keeps its own time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._records import record
from motionloom.body.body_map import BodyMap
from motionloom.errors import RegistrationError
from motionloom.motion.kinematics import velocities
from motionloom.motion.motion import Motion
from motionloom.registration.distance import distance_grid, fit_planar_alignment
from motionloom.registration.splines import Spline, adjust_increasing, fit_spline
from motionloom.registration.timewarp import TimePath, find_end_path
from motionloom.splicing.action_rate import MOST, SLOWEST, rate_caps, unrushed

GRID_RATE = 30.0
KNOT_S = 0.27
LINGER_M = 0.02
"""Added to every distance, so that where the clips have no step in common, or stand, the action
keeps its own rate."""
HEIGHT_S = 1.0
"""Seconds over which the body's height is taken for the ground's: stairs, platforms."""
THIGH_M = 0.45
"""Length that thighs are brought to before bodies are compared."""
WALKING_M_S, SWINGING_M_S = 0.3, 1.0
"""Speeds of the root, and of one knee against the other, above which a body walks."""
ALIKE_M = (0.015, 0.03)
"""Root and knees nearer than the first are in the same stride; farther than the second, in none."""
SURE_S = 0.5
START_S, AHEAD_S, LEFT = 1.5, 2.0, 0.5
"""The action may start so many seconds late to be in phase, which are judged by so many seconds
after its start, and so much of it must be left."""
NEARLY = 1.25
"""An earlier start is taken if the clips are in step that nearly as well as from the best."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class UpperTimes:
    """The timing of a splice."""

    frames: FloatArray
    """Frame of the upper clip at every frame of the result. (N,)"""
    path: IntArray
    """Matched frames of lower and upper clip, at the rate they were compared. (P, 2)"""
    cost: FloatArray
    """Distances of root and knees between all frames compared, square metres of a body with thighs
    of 0.45 m. (n, m)"""
    stride: int
    """Frames of the clips per frame compared."""
    first: int
    """Frame of the upper clip that meets the lower clip's first."""
    kept_own_time: bool
    """True where the action has no gait to match, and runs at its own rate."""


def travels(points: FloatArray, fps: float) -> bool:
    """Whether a body whose root and knees are there (F, 3, 3) goes somewhere for a good part."""
    return bool(np.mean(_ground_speed(points[:, 0], fps, 0.3) > WALKING_M_S) > 0.3)


def marches(points: FloatArray, fps: float) -> bool:
    """Whether it walks on the spot, for most of the clip: a kick swings the knees too."""
    return bool(np.mean(_knee_swing(points, fps) > SWINGING_M_S) > 0.6)


def _knee_swing(points: FloatArray, fps: float) -> FloatArray:
    """Speed over the ground of one knee against the other. (F,)."""
    return _ground_speed(points[:, 1] - points[:, 2], fps, 0.6)


def _ground_speed(points: FloatArray, fps: float, seconds: float) -> FloatArray:
    """Speed over the ground, evened out over so many seconds. (F,)."""
    rate = velocities(points, fps)
    return _averaged(np.hypot(rate[:, 0], rate[:, 2]), seconds, fps)


def _averaged(values: FloatArray, seconds: float, fps: float) -> FloatArray:
    """Values (F,) averaged over so many seconds; ends go on as they are."""
    width = min(round(seconds * fps), len(values)) | 1
    window = np.hanning(width + 2)[1:-1]
    padded = np.pad(values, width // 2, mode="edge")
    return np.convolve(padded, window / window.sum(), mode="valid")


def own_times(lower: Motion, upper: Motion) -> UpperTimes:
    """The action at its own rate from its first frame, as long as both last."""
    n = min(lower.n_frames, upper.n_frames)
    frames = np.arange(n, dtype=np.float64)
    path = np.stack([frames, frames], axis=-1).astype(np.int64)
    return UpperTimes(frames, path, np.zeros((0, 0)), 1, 0, True)


def find_upper_times(lower: Motion, upper: Motion, body: BodyMap) -> UpperTimes:
    """Times of the action that keep step with the locomotion.

    Parameters
    ----------
    lower, upper
        Clips on one skeleton at one rate.
    body
        Which joint is which.
    """
    below, above = _gait_points(lower, body), _gait_points(upper, body)
    going = [travels(points, lower.fps) for points in (below, above)]
    if not all(g or marches(p, lower.fps) for g, p in zip(going, (below, above), strict=True)):
        return own_times(lower, upper)
    stride = max(1, round(lower.fps / GRID_RATE))
    below, above = (
        _comparable(points[::stride], lower.fps / stride, travel=all(going))
        for points in (below, above)
    )
    weights = np.ones(below.shape[1])
    grid = distance_grid(below, above, weights, half_window=2)
    first = _first_in_phase(
        grid.cost, fit_planar_alignment(below[0], above, weights)[2], lower.fps / stride
    )
    path = _open_path(grid.cost[:, first:])
    cells = path.cells.astype(np.float64)
    if len(cells) < 3:
        raise RegistrationError(
            "Nothing of the action is left after its start was matched to the locomotion's. "
            "Use a longer action, or method='naive'."
        )
    along = cells.mean(axis=1) - cells[0].mean()
    n_points = 2 + max(1, int(np.ceil(along[-1] / max(KNOT_S * lower.fps / stride, 1.0))))
    u = along / along[-1] * (n_points - 2)
    ends = cells[[0, -1]]
    spline = fit_spline(u, cells, n_points, ends=ends)
    spline = adjust_increasing(spline, epsilon=SLOWEST, ends=ends)
    t = np.arange(min(lower.n_frames, int(ends[1, 0] + 1) * stride)) / stride
    frames = _go_on(spline, t) + first
    frames = frames[frames * stride <= upper.n_frames - 1 + 1e-6] * stride
    frames = np.minimum(frames, upper.n_frames - 1.0)
    if len(frames) > 1 and np.diff(frames).max() > MOST:
        sure = _sureness(below, above, frames[::stride] / stride, lower.fps / stride)
        frames = unrushed(frames, upper, lower, body, sure=np.repeat(sure, stride)[: len(frames)])
    return UpperTimes(
        frames, path.cells + np.array([0, first]), grid.cost[:, first:], stride, first * stride, False
    )


def slowed_times(
    times: UpperTimes, spliced: Motion, upper: Motion, lower: Motion, body: BodyMap
) -> UpperTimes | None:
    """Times at which the arms of the splice ``spliced`` are slower; None where none is too fast."""
    if times.kept_own_time:
        return None
    caps = rate_caps(spliced, times.frames, upper, lower, body)
    if caps is None:
        return None
    sure = np.ones(len(times.frames))
    frames = unrushed(times.frames, upper, lower, body, sure=sure, caps=caps)
    return replace(times, frames=frames)


def _go_on(spline: Spline, t: FloatArray) -> FloatArray:
    """Times of the second clip at times ``t`` of the first; past the curve's end at its last rate.

    Clips seldom end on a frame that was compared, and the frames after it are theirs too.
    """
    last, (rate, rate_upper) = spline(spline.u_end), spline.slope(spline.u_end)
    inside = spline(spline.inverse(0, np.minimum(t, last[0])))[:, 1]
    return np.asarray(inside + np.maximum(t - last[0], 0.0) * rate_upper / rate)


def _sureness(below: FloatArray, above: FloatArray, at: FloatArray, fps: float) -> FloatArray:
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
        going = _ground_speed(points[:, 0], fps, 0.3) > WALKING_M_S
        near = near * (going | (_knee_swing(points, fps) > SWINGING_M_S))
    return _averaged(near, SURE_S, fps)


def _gait_points(motion: Motion, body: BodyMap) -> FloatArray:
    """Root and both knees in the world. (F, 3, 3)."""
    root, left, right = body.require("pelvis", "left_knee", "right_knee", task="splicing")
    return np.asarray(motion.world_positions()[:, [root, left, right]])


def _comparable(points: FloatArray, fps: float, *, travel: bool) -> FloatArray:
    """The points as of a body of one size on level ground. (F, 3, 3).

    Without ``travel`` the root stays on its spot, as it must where one of the clips is so made.
    """
    ground = _averaged(points[:, 0, 1], HEIGHT_S, fps)
    level = points - ground[:, None, None] * np.array([0.0, 1.0, 0.0])
    if not travel:
        level = level - points[:, :1] * np.array([1.0, 0.0, 1.0])
    thigh = float(np.linalg.norm(points[:, 1:] - points[:, :1], axis=-1).mean())
    return np.asarray(level * (THIGH_M / max(thigh, 1e-9)))


def _open_path(cost: FloatArray) -> TimePath:
    """The path from the first frames of both clips to an open end."""
    least = min(cost.shape) // 2
    return find_end_path(cost + LINGER_M**2, slope_limit=1, at_least=max(least, 2), per_frame=True)


def _first_in_phase(cost: FloatArray, distance: FloatArray, fps: float) -> int:
    """Frame of the action that meets the locomotion's first frame.

    The first frame that is nearer than its neighbours can be half a stride off, because legs that
    pass each other look alike. So the next ones are tried too, and the first of them is taken
    from which both clips go on nearly as well in step as from the best.

    Parameters
    ----------
    cost : (n, m)
        Distances between frames of locomotion and action.
    distance : (m,)
        Distances of the locomotion's first frame alone.
    fps
        Their rate.
    """
    m, ahead = len(distance), round(AHEAD_S * fps)
    starts = [k for k in _nearest(distance) if k <= START_S * fps and m - k >= LEFT * m]
    if len(starts) < 2:
        return _nearest(distance)[0]
    means = []
    for start in starts:
        path = _open_path(cost[:ahead, start : start + ahead])
        means.append(path.cost / (path.cells[-1].sum() + 2))
    return next(k for k, mean in zip(starts, means, strict=True) if mean <= NEARLY * min(means))


def _nearest(distance: FloatArray) -> list[int]:
    """Frames that are nearer than their neighbours; the nearest of all where there is none."""
    inner = range(len(distance) - 1)
    near = [
        k
        for k in inner
        if distance[k] < distance[k + 1] and (k == 0 or distance[k] <= distance[k - 1])
    ]
    return near or [int(np.argmin(distance))]
