"""Signals of the four foot points: speeds fit for noisy clips, without the slide of skating."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import foot_offsets, foot_points, mean_skeleton
from motionloom.motion.kinematics import velocities
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import forward_into

_standing = kernel("ml_foot_standing")

STEADY_S = 0.3
"""The body's own speed is taken over this long: half a walking step."""
SHORTEST_S, LONGEST_S = 0.045, 0.15
"""Least and most time over which the speed of a foot is fitted."""
SPEED_NOISE = 0.06
"""The fit is made longer until noise leaves no more than this in each speed component, m/s."""
LIFT_S = 0.075
"""The body's vertical acceleration is taken twice over this long: less than a running flight."""
MIXED = 0.45
"""Sine of the steepest lean of a leg on the ground."""
SLIDES = np.linspace(-0.4, 0.4, 81)
"""Slides tried, as parts of the body's velocity."""
TRAVELS = 0.3
"""A body faster than this travels, m/s."""
FRAMES = 2048
"""Poses that are in memory at a time."""


class FootTracks(NamedTuple):
    """Tracks of feet, pelvis and knees, metres."""

    points: FloatArray
    """Heels and balls. Shape (F, 4, 3)."""
    pelvis: FloatArray
    """Shape (F, 3)."""
    knees: tuple[FloatArray | None, FloatArray | None]
    """Heights of the left and the right one. Shapes (F,)."""
    lowest: FloatArray
    """Height of the lowest joint. Shape (F,)."""


def foot_tracks(motion: Motion, body: BodyMap) -> FootTracks:
    """The tracks, from poses of a part of the clip at a time: long clips have no room for all."""
    n, joints = motion.n_frames, motion.skeleton.n_joints
    feet = foot_offsets(mean_skeleton(motion), body, motion=motion)
    root = 0 if body.pelvis is None else body.pelvis
    knees = [k for k in (body.left_knee, body.right_knee) if k is not None]
    points, pelvis, lowest = np.zeros((n, 4, 3)), np.zeros((n, 3)), np.zeros(n)
    heights = {k: np.zeros(n) for k in knees}
    room = np.zeros((min(n, FRAMES), joints, 3)), np.zeros((min(n, FRAMES), joints, 4))
    moving = motion.joint_translations
    for start in range(0, n, FRAMES):
        rows = slice(start, min(start + FRAMES, n))
        pose = room[0][: rows.stop - start], room[1][: rows.stop - start]
        slid = None if moving is None else moving[rows]
        forward_into(
            motion.skeleton, motion.root_positions[rows], motion.local_quats[rows], slid, pose
        )
        points[rows] = foot_points(motion, body=body, pose=pose, feet=feet)
        pelvis[rows] = pose[0][:, root]
        pose[0][..., 1].min(axis=1, out=lowest[rows])
        for k, height in heights.items():
            height[rows] = pose[0][:, k, 1]
    left, right = (None if k is None else heights[k] for k in (body.left_knee, body.right_knee))
    return FootTracks(points, pelvis, (left, right), lowest)


@dataclass(frozen=True, slots=True, eq=False)
class FootSignals:
    """What the detector measures. ``points`` and speeds are without the common slide."""

    points: FloatArray
    """Left heel, left ball, right heel, right ball, metres. Shape (F, 4, 3)."""
    speeds: FloatArray
    """Their speeds, m/s. Shape (F, 4)."""
    sharp_speeds: FloatArray
    """The same from as few frames as possible, whatever the noise. Shape (F, 4)."""
    sharp_noise: FloatArray
    """What noise leaves in each component of those, m/s. Shape (4,)."""
    body_speed: FloatArray
    """Speed of the pelvis over the ground, m/s. Shape (F,)."""
    noise: FloatArray
    """Noise of each point, per coordinate over the ground and upwards. Shape (4, 2)."""
    sway: FloatArray
    """Noise upwards that is not white: its autocovariance by lag in frames, m2. Shape (4, L)."""
    slide: float
    """Velocity of standing feet as a part of the body's: 0.15 after root travel times 1.15."""
    lift: FloatArray
    """Upward acceleration of the pelvis, m/s2: that of gravity, below zero, in flight. (F,)"""
    lowest: FloatArray
    """Height of the lowest point of the body, metres. (F,)"""


def measure_foot_signals(
    motion: Motion, body: BodyMap, tracks: FootTracks | None = None
) -> FootSignals:
    """Speeds of heels and balls, with common slide removed. See :class:`FootSignals`.

    ``tracks`` are those of :func:`foot_tracks`, where the caller has them already.
    """
    points, pelvis, knees, lowest = foot_tracks(motion, body) if tracks is None else tracks
    fps, n_frames = motion.fps, motion.n_frames
    travel = pelvis * np.array([1.0, 0.0, 1.0])
    body_velocity = line_slopes(travel, _odd(STEADY_S * fps, n_frames), fps)
    points, sway = without_leg_noise(points, knees, noise_level(points), fps)
    noise = np.hypot(noise_level(points), np.sqrt(sway[:, :1]) * [0.0, 1.0])
    width = sharp = _odd(SHORTEST_S * fps, n_frames)
    while (
        _slope_noise(float(noise.max()), width, fps) > SPEED_NOISE and width + 2 <= LONGEST_S * fps
    ):
        width += 2
    velocity = line_slopes(points, min(width, _odd(n_frames, n_frames)), fps)
    slide = _find_slide(velocity, body_velocity)
    if slide:
        points = points - slide * (travel - travel[0])[:, None]
        velocity = velocity - slide * body_velocity[:, None]
    sharp_velocity = line_slopes(points, sharp, fps)
    return FootSignals(
        points=points,
        speeds=np.linalg.norm(velocity, axis=-1),
        sharp_speeds=np.linalg.norm(sharp_velocity, axis=-1),
        sharp_noise=noise.max(axis=1) * _slope_noise(1.0, sharp, fps),
        body_speed=np.linalg.norm(body_velocity, axis=-1),
        noise=noise,
        sway=sway,
        slide=slide,
        lift=_lift(pelvis[:, 1], fps),
        lowest=np.minimum(lowest, points[..., 1].min(axis=1)),
    )


def _lift(heights: FloatArray, fps: float) -> FloatArray:
    """Acceleration of heights (F,), the slope of slopes over ``LIFT_S``, m/s2."""
    width = _odd(LIFT_S * fps, len(heights))
    return line_slopes(line_slopes(heights, width, fps), width, fps)


def line_slopes(values: FloatArray, width: int, fps: float) -> FloatArray:
    """Slope per second of the line fitted to ``width`` frames about each frame, the same shape.

    The first and last half window take the slope of the first and last whole one: a fit that leans
    on fewer frames would be the noisiest just where a clip cuts a plant.
    """
    n_frames = len(values)
    half = min(width // 2, (n_frames - 1) // 2)
    if half < 1:
        return velocities(values, fps)
    slope = np.zeros_like(values)
    inner = slope[half : n_frames - half]
    for step in range(1, half + 1):
        ahead = values[half + step : n_frames - half + step]
        behind = values[half - step : n_frames - half - step]
        inner += step * (ahead - behind)
    slope[:half] = inner[0]
    slope[n_frames - half :] = inner[-1]
    return slope * (fps / (2.0 * sum(step * step for step in range(1, half + 1))))


def _slope_noise(noise: float, width: int, fps: float) -> float:
    return noise * fps * float(np.sqrt(12.0 / (width * (width * width - 1.0))))


def _odd(frames: float, n_frames: int) -> int:
    """The nearest odd number of frames, at least 3, that the clip has."""
    longest = max(3, n_frames - 1 + n_frames % 2)
    return int(min(max(3, 2 * round((frames - 1.0) / 2.0) + 1), longest))


def noise_level(points: FloatArray) -> FloatArray:
    """White noise per coordinate of each point, over the ground and upwards. (F, P, 3) to (P, 2).

    Third differences leave little of a motion and 20 times the variance of white noise. The lower
    third of them is used, where the feet stand and nothing but noise is left.
    """
    if len(points) < 8:
        return np.zeros((points.shape[1], 2))
    thirds = np.diff(points, n=3, axis=0)
    ground = np.quantile(np.hypot(thirds[..., 0], thirds[..., 2]), 0.33, axis=0)
    height = np.quantile(np.abs(thirds[..., 1]), 0.33, axis=0)
    # Those quantiles of a unit normal deviate are 0.895 in two dimensions, 0.426 in one.
    noise = np.stack([ground / 0.895, height / 0.426], axis=-1) / np.sqrt(20.0)
    # A leg that shakes about the hip shakes its foot square to itself: over the ground at
    # mid-stance, where this was measured, but upwards too at both ends of the stance.
    return np.asarray(np.maximum(noise, MIXED * noise[:, ::-1]))


def _find_slide(velocity: FloatArray, body_velocity: FloatArray) -> float:
    """Find the part of the body's velocity at which the feet slide when they should stand.

    Scaled root travel, retargeting to other leg lengths and a wrong unit all make standing feet
    move along with the body. The part is found as that at which the feet stand most often.
    """
    moving = np.linalg.norm(body_velocity, axis=-1) > TRAVELS
    if np.count_nonzero(moving) < 8:
        return 0.0
    feet, body = velocity[moving], body_velocity[moving]
    stood = _stood(feet, body, SLIDES)
    best = int(np.argmax(stood))
    none = len(SLIDES) // 2
    if abs(SLIDES[best]) < 0.04 or stood[best] < 1.1 * stood[none]:
        return 0.0
    return float(SLIDES[best])


def _stood(feet: FloatArray, body: FloatArray, slides: FloatArray) -> FloatArray:
    """How often feet (F, P, 3) stand if they slide at each part ``slides`` of ``body`` (F, 3)."""
    out = np.zeros(len(slides))
    feet, body = (np.ascontiguousarray(each, dtype=np.float64) for each in (feet, body))
    _standing(len(feet), feet.shape[1], feet, body, len(slides), slides, out)
    return out


# --- Noise that comes down the leg, taken out of the height of heels
#
# Noise of single joints affects heels most: a heel lies behind the ankle, so a foot that nods about
# its ball magnifies the noise that raises and lowers the ankle. But a shank is rigid and nearly
# upright: the same noise raises and lowers the knee. A knee, unlike a foot, moves smoothly, so the
# part of its height that a parabola does not follow is noise.

NOISY_M = 0.002
"""Heights with less noise than this are left as they are."""
KNEE_SMOOTH_S = 0.3
"""Time over which a parabola is fitted to the height of a knee, seconds."""
LEAST_FRAMES = 30
OUTLIER = 4.0
"""Jerks of more than this many times the noise are those of a foot that lands."""
THIRDS = np.sqrt(20.0)
"""Third differences of white noise are larger by this."""


def without_leg_noise(
    points: FloatArray,
    knees: tuple[FloatArray | None, FloatArray | None],
    noise: FloatArray,
    fps: float,
) -> tuple[FloatArray, FloatArray]:
    """Take noise out of heights; the points, and the autocovariance of the remaining noise by lag.

    Parameters
    ----------
    points : (F, 4, 3)
        Left heel, left ball, right heel, right ball, metres.
    knees
        Height of the left and right knee, each (F,); None where there is none.
    noise : (4, 2)
        White noise of each point, per coordinate over the ground and upwards, metres.
    fps
        Frames per second.

    Returns
    -------
    points : (F, 4, 3)
        With new heights.
    sway : (4, L)
        What a parabola follows of the noise is not found by it and stays; it is no longer white.
        Square metres, for lags of 0 to L - 1 frames; 0 for heights that are left as they were.
    """
    points = np.array(points)
    width = 2 * round(0.5 * (KNEE_SMOOTH_S * fps - 1.0)) + 1
    sway = np.zeros((points.shape[1], max(width, 1)))
    if width < 5 or len(points) < max(LEAST_FRAMES, width):
        return points, sway
    steps = np.arange(width) - width // 2
    powers = np.stack([np.ones(width), steps, steps**2], axis=1)
    fit = powers @ np.linalg.pinv(powers)  # (W, W): a window's parabola at each of its frames
    middle = fit[width // 2]
    left = np.correlate(middle, middle, mode="full")[width - 1 :]
    for p, knee in zip((0, 2), knees, strict=True):
        if knee is None or noise[p, 1] < NOISY_M:
            continue
        ours, theirs = np.diff(points[:, p, 1], n=3), np.diff(knee, n=3)
        quiet = np.abs(ours) < OUTLIER * THIRDS * noise[p, 1]
        size = float(theirs[quiet] @ theirs[quiet])
        if np.count_nonzero(quiet) < LEAST_FRAMES or not size > 0.0:
            continue
        part = float(ours[quiet] @ theirs[quiet]) / size
        windows = np.lib.stride_tricks.sliding_window_view(knee, width)
        ends = fit[: width // 2] @ windows[0], fit[width // 2 + 1 :] @ windows[-1]
        points[:, p, 1] -= part * (knee - np.concatenate([ends[0], windows @ middle, ends[1]]))
        sway[p] = left * size / np.count_nonzero(quiet) * (part / THIRDS) ** 2
    return points, sway
