"""Foot signals and edges: how fast the points of feet are, and when they come to rest and leave.

Speeds are fit for noisy clips, without the slide of skating. A speed threshold is crossed some
frames too late or too early, the more so the longer noise makes one smooth. So each edge is weighed
again on the positions themselves. Before the edge the point stands, but for a slow drift; after it,
it moves as things with mass do: its position is continuous, its velocity too but for a small kick,
its acceleration is free. Both are Gaussian processes, so the evidence for an edge at any instant
has a closed form, and the mean over it is the estimate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import kernel
from motionloom.body.anatomy import foot_offsets, foot_points, mean_skeleton
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Motion, column_runs, forward_into, velocities

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


# --- Edges: the instants at which a point comes to rest and leaves, below the noise

_windows = kernel("ml_edge_windows")
_evidence = kernel("ml_edge_evidence")

OUT_S, IN_S = 0.085, 0.16
"""How far an edge may move outwards and inwards, seconds. A foot that is set down gently is slow
long before it stands, so rough plants are rather too long."""
OUTSIDE_S, INSIDE_S = 0.05, 0.12
"""How much more of the track is looked at, on either side of the search."""
DRIFTS = (0.01, 0.1)
"""Least and most speed that a standing point may have, m/s. Captured ones creep at 0.04 to 0.1."""
SURE_S = 0.025
"""Plants are taken for certain this far inside their edges."""
LEAST_SPACE = 4
"""Frames on either side of an edge for which another point must stand, to see the edge from it."""
FINE_HZ = 60.0
"""Rate at which edges are weighed in clips that are faster."""
DENSITIES = np.array([0.2, 8.0, 150.0])
"""How lively a moving point may be along one axis: hardly, as a rolling heel, as a swinging foot.
Spectral densities of its acceleration, m2/s3; 150 is 55 m/s2 that last 0.05 s. Axes are weighed
apart, since a heel that rolls off moves along one of them only."""
IMPACT = 0.06
"""Seconds of such acceleration that a touch-down can stop at once. Nothing leaves with a jerk."""
CUT = 4.0
"""Log odds that a plant which reaches the end of a clip goes on beyond it, rather than beginning
at one given instant within the search: plants last some 30 frames, clips cut them anywhere."""
CAUTION = 1.15
"""The noise is known within a tenth or so; to have too little of it costs more than too much."""
NOISY = 0.002
"""From this noise on, metres, a heel whose ball stands is looked at by its height alone."""
ROLLS = np.array([8.0, 20.0, 60.0, 200.0])
"""How lively such a heel may be, in the unit of ``DENSITIES``."""
CUT_ROLLING = 2.0
"""Log odds that such a heel stood before its ball did, like ``CUT``."""
STILL = 0.0015
"""No point stands stiller than this, metres: captured feet give."""


def refine_edges(
    planted: BoolArray,
    points: FloatArray,
    noise: FloatArray,
    sway: FloatArray,
    fps: float,
    *,
    shortest: float,
) -> BoolArray:
    """``planted`` with both edges of every plant moved to where the evidence is best.

    Parameters
    ----------
    planted : (F, P)
        Plants found roughly.
    points : (F, P, 3)
        The points, slide taken out, metres.
    noise : (P, 2)
        Noise of each point, per coordinate over the ground and upwards, metres.
    sway : (P, L)
        What of the noise upwards is not white: autocovariance by lag in frames, square metres.
    fps
        Frames per second.
    shortest
        Frames that a plant must keep; one that would keep fewer stays as it is.
    """
    rest = points, noise, sway, fps, shortest
    alone = _refine(planted, np.zeros_like(planted), *rest, again=False)
    seen_from = _shrunk(alone, max(1, round(SURE_S * fps)))
    return _refine(alone, seen_from, *rest, again=True)


def _refine(
    planted: BoolArray,
    seen_from: BoolArray,
    points: FloatArray,
    noise: FloatArray,
    sway: FloatArray,
    fps: float,
    shortest: float,
    *,
    again: bool,
) -> BoolArray:
    """Both edges of every plant weighed; ``again``: only those seen from a standing point."""
    refined = np.zeros_like(planted)
    n_frames = len(planted)
    apart = _noise_apart(points, seen_from)
    for p, runs in enumerate(column_runs(planted)):
        tracks = _tracks(p, seen_from, points, noise, sway, apart)
        drift = _drift(runs, points[:, p], float(noise[p].mean()), fps)
        firsts = _first_frames(runs, tracks, drift, fps, impact=IMPACT, again=again)
        flipped = [(n_frames - 1 - last, n_frames - 1 - first) for first, last in runs[::-1]]
        back = [t._replace(points=t.points[::-1], usable=t.usable[::-1]) for t in tracks]
        lasts = _first_frames(flipped, back, drift, fps, impact=0.0, again=again)[::-1]
        for run, first, flipped_last in zip(runs, firsts, lasts, strict=True):
            last = n_frames - 1 - flipped_last
            if last - first + 1 < shortest:
                first, last = run
            refined[first : last + 1, p] = True
    return refined


def _shrunk(planted: BoolArray, frames: int) -> BoolArray:
    """Plants less some frames at both ends, but for ends that the clip cuts."""
    shrunk = planted.copy()
    for shift in range(1, frames + 1):
        shrunk[shift:] &= planted[:-shift]
        shrunk[:-shift] &= planted[shift:]
    return shrunk


class Track(NamedTuple):
    """One way to see a point: in the world, or from another point that stands."""

    points: FloatArray
    """Shape (F, 3)."""
    usable: BoolArray
    """Whether what it is seen from stands. Shape (F,)."""
    noise: FloatArray
    """Per coordinate over the ground and upwards. Shape (2,)."""
    sway: FloatArray
    """Noise upwards that is not white: its autocovariance by lag, m2. Shape (L,)."""
    alone: bool
    rolls: bool = False
    """Whether it is that of a heel while its ball stands: it goes up and down, and nowhere else."""


def _noise_apart(points: FloatArray, stands: BoolArray) -> FloatArray:
    """Noise (P, P, 2) of each point seen from each other one, where either stands at all."""
    n_points = points.shape[1]
    pairs = np.array(
        [
            (p, q)
            for p, q in combinations(range(n_points), 2)
            if stands[:, p].any() or stands[:, q].any()
        ],
        dtype=np.int64,
    ).reshape(-1, 2)
    apart = np.zeros((n_points, n_points, 2))
    if len(pairs):
        p, q = pairs.T
        apart[p, q] = apart[q, p] = noise_level(points[:, p] - points[:, q])
    return apart


def _tracks(
    p: int,
    planted: BoolArray,
    points: FloatArray,
    noise: FloatArray,
    sway: FloatArray,
    apart: FloatArray,
) -> list[Track]:
    """The ways to see point ``p``, least noisy first.

    Noise of the root, or of anything above a foot, moves all points alike. Seen from a point that
    stands meanwhile, such noise is gone.
    """
    tracks = [Track(points[:, p], np.ones(len(points), dtype=bool), noise[p], sway[p], True)]
    for q in range(planted.shape[1]):
        stands = planted[:, q]
        if q != p and stands.any():
            seen = points[:, p] - points[:, q]
            both = sway[p] + sway[q]
            level = np.hypot(apart[p, q], [0.0, np.sqrt(both[0])])
            tracks.append(Track(seen, stands, level, both, False))
    # The worse of both directions counts: heels come and go upwards.
    tracks.sort(key=lambda track: float(track.noise.max()))
    if p % 2 == 0 and float(noise[p].max()) > NOISY:
        tracks.insert(0, Track(points[:, p], planted[:, p + 1], noise[p], sway[p], False, True))
    return tracks


def _drift(runs: Sequence[tuple[int, int]], track: FloatArray, noise: float, fps: float) -> float:
    """Speed per axis at which this point creeps while it stands, beyond what noise explains."""
    squares = []
    for first, last in runs:
        trim = (last - first + 1) // 5
        part = track[first + trim : last + 1 - trim]
        n = len(part)
        if n >= 5:
            time = (np.arange(n) - 0.5 * (n - 1)) / fps
            spread = float(time @ time)
            slope = time @ part / spread
            squares.append(float(np.mean(slope**2)) - noise**2 / spread)
    return float(np.clip(np.sqrt(max(np.median(squares), 0.0)), *DRIFTS)) if squares else DRIFTS[1]


def _first_frames(
    runs: Sequence[tuple[int, int]],
    tracks: list[Track],
    drift: float,
    fps: float,
    *,
    impact: float,
    again: bool,
) -> list[int]:
    """First planted frame of every run, weighed again."""
    # Fast clips are weighed on means of neighbouring frames: half a frame at 60 Hz is fine enough.
    block = max(1, round(fps / FINE_HZ))
    rate = fps / block
    widest_out, widest_in = max(1, round(OUT_S * rate)), max(1, round(IN_S * rate))
    outside, inside = max(2, round(OUTSIDE_S * rate)), max(2, round(INSIDE_S * rate))
    firsts = [first for first, _ in runs]
    groups: dict[tuple[int, int, int, int, int], list[int]] = defaultdict(list)
    for i, (first, last) in enumerate(runs):
        # Half of the plant belongs to its other edge, half of the gap to the plant before.
        space_in = (last - first + 1) // (2 * block)
        space_out = first // block if i == 0 else (first - runs[i - 1][1] - 1) // (2 * block)
        seen, space_out, space_in = _best_sight(tracks, first, space_out, space_in, block)
        earliest = min(widest_out, max(space_out - 1, 0))
        latest = min(widest_in, max(space_in - 1, 0))
        before, after = min(earliest + outside, space_out), min(latest + inside, space_in)
        if after >= 2 and (before or latest) and not (again and tracks[seen].alone):
            groups[seen, before, after, earliest, latest].append(i)
    for (seen, before, after, earliest, latest), members in groups.items():
        edges = np.array([firsts[i] for i in members])
        seen_points = np.ascontiguousarray(tracks[seen].points)
        ground, height = edge_windows(seen_points, edges, before, after, block)
        shifts = np.arange(-2 * earliest, 2 * latest + 1) / 2.0
        rests, creep = after - 1 - shifts, round(drift, 3)
        log_evidence = np.zeros((len(members), len(shifts)))
        rolls = tracks[seen].rolls
        densities = ROLLS if rolls else DENSITIES
        for part, noise in zip((ground, height), tracks[seen].noise, strict=True):
            if rolls and part is ground:
                continue
            colour = np.zeros(before + after)
            if part is height:
                sampled = CAUTION**2 * tracks[seen].sway[: len(colour) * block : block]
                colour[: len(sampled)] = sampled
            white = max(float(noise) ** 2 - colour[0] / CAUTION**2, 0.0)
            sigma = round(max(CAUTION * float(np.sqrt(white / block)), STILL), 4)
            log_evidence += edge_evidence(
                part, rests, densities, sigma, creep, rate, impact, colour
            )
        if not before:
            log_evidence[:, 0] += CUT_ROLLING if rolls else CUT
        weight = np.exp(log_evidence - log_evidence.max(axis=1, keepdims=True))
        mean = (weight @ shifts) / weight.sum(axis=1)
        if not before:  # cut plants go on beyond the clip unless that is the less likely
            mean = np.where(weight[:, 0] > 0.5 * weight.sum(axis=1), 0.0, mean)
        for i, shift in zip(members, mean, strict=True):
            firsts[i] += int(np.ceil(shift * block - 1e-9))
    return firsts


def _best_sight(
    tracks: list[Track], first: int, space_out: int, space_in: int, block: int
) -> tuple[int, int, int]:
    """The least noisy track that can be used about frame ``first``, and the frames it leaves."""
    for n, track in enumerate(tracks):
        if track.alone:
            return n, space_out, space_in
        # Frames beyond either space do not count, and a long clip has many.
        before, after = max(first - space_out * block, 0), first + space_in * block
        out = _leading(track.usable[before:first][::-1]) // block
        within = _leading(track.usable[first:after]) // block
        if track.rolls and out < min(space_out, LEAST_SPACE) and within >= LEAST_SPACE:
            return n, 0, within  # the ball stood no earlier, and before it any height is possible
        if out >= min(space_out, LEAST_SPACE) and within >= min(space_in, LEAST_SPACE):
            return n, out, within
    raise AssertionError("a point can always be seen in the world")


def _leading(flags: BoolArray) -> int:
    """How many flags are set before the first that is not."""
    return len(flags) if flags.all() else int(np.argmin(flags))


def edge_windows(
    points: FloatArray, edges: IntArray, before: int, after: int, block: int
) -> tuple[FloatArray, FloatArray]:
    """The track about each of M edges, over the ground (W, M, 2) and upwards (W, M, 1).

    Parameters
    ----------
    points : (F, 3)
        The track, metres.
    edges : (M,)
        First frames of plants.
    before, after
        Blocks outside and inside the plant; W is their sum.
    block
        Frames that are taken together, as their mean.

    Windows run from inside the plant outwards and begin at 0. Each is turned about the vertical so
    that the point leaves along its first axis.
    """
    n, width = len(edges), before + after
    ground, height = np.zeros((width, n, 2)), np.zeros((width, n, 1))
    points = np.ascontiguousarray(points, dtype=np.float64)
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    _windows(len(points), points, n, edges, before, after, block, ground, height)
    return ground, height


def edge_evidence(
    tracks: FloatArray,
    rests: FloatArray,
    densities: FloatArray,
    sigma: float,
    drift: float,
    fps: float,
    impact: float,
    sway: FloatArray,
) -> FloatArray:
    """Log evidence (M, K) of M tracks (W, M, A) for each of K instants of coming to rest.

    Tracks run from inside the plant outwards and begin near 0. ``rests`` (K,) are the instants in
    frames from the innermost one. Axes are independent, and each may move at any of the
    ``densities``. Up to the instant the point stands whatever the density, so those frames are
    eliminated once for all densities and later instants, and only the other frames are factored
    each time. Noise has a white part of size ``sigma`` and a part with the autocovariance ``sway``
    by lag (at least W values).
    """
    n, n_tracks, n_axes = tracks.shape
    n_columns = n_tracks * n_axes
    work = np.zeros(3 * n * n + n + (2 * n + 2 + len(densities)) * n_columns)
    out = np.zeros((n_tracks, len(rests)))
    tracks, rests, densities, sway = (
        np.ascontiguousarray(each, dtype=np.float64)
        for each in (tracks, rests, densities, sway[:n])
    )
    _evidence(
        n, n_tracks, n_axes, tracks, len(rests), rests, np.argsort(rests),
        len(densities), densities, sigma, drift, fps, impact, sway, work, out,
    )  # fmt: skip
    return out
