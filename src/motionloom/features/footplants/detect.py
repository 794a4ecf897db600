"""Detect footplants: when heel and ball of each foot stand.

The verb is :func:`detect_footplants`. Slow points are found first, in which plants are corrected by
what a foot cannot do. Then the edges of plants are moved: by the evidence of the positions
(:mod:`motionloom.features.footplants.plant_edges`), and in clean clips for as long as a point stays
slow. Last come stances that speed alone does not show.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, of_kind, positive
from motionloom._core import kernel
from motionloom.body.anatomy import ball_height
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.features.footplants.plant_edges import (
    FootSignals,
    FootTracks,
    foot_tracks,
    measure_foot_signals,
    refine_edges,
)
from motionloom.motion.motion import Footplants, Motion, column_runs, runs_of

BODY_PART = 0.2
"""A standing point moves at no more than this part of the body's speed."""
FASTEST = 1.5
"""Never above this speed, m/s, however fast the body is."""
LEAVING = 1.5
"""A plant goes on until its point is this many times faster than what began it."""
SAME_SPOT_M = 0.04
"""Two plants nearer than this, with a short gap, are one."""
LONGEST_GAP_S = 0.1
SLIDING, SLIDE_S, WALKING = 2.5, 0.2, 1.0
"""The one foot that carries a body which walks on, at this speed (m/s) or more, may slide for this
long at this many times the speed that begins a plant, and stands all the same."""
SHUFFLE_M = 0.02
"""A ball that moves on by more than this within a plant has made a small step."""
SPOT_S = 0.12
"""Time from which such a spot is taken, seconds."""
RISE_M = 0.03
"""A point this far over the level of its plant has left it."""
HEEL_UP, TOES_UP = 1.5, 2.5
"""A heel this many ball heights higher over its ball than in a flat foot is in the air, and so is a
ball that is this far over its heel."""
HANGING = 0.6
"""So is a heel that is this far up for most of a plant: the foot stands on its ball."""
BALL_HANGING, HANGING_S = 1.25, 0.3
"""So is a ball that is this far up for most of a plant of at most this long. Ramps and edges of
steps hold balls over heels as well, but for a whole stance."""
HELD_M = 0.08
"""A still foot this far over the one that stands may be held in the air."""
PAUSE_M, PAUSE_S = 0.012, 0.2
"""Least height and most duration of a pause within a step."""
BRIEF_S = 0.1
"""No weight is taken over in less than this from a foot that stands."""


def detect_footplants(
    motion: Motion, *, body: BodyMap | None = None, speed: float = 0.25, shortest_s: float = 0.06
) -> Footplants:
    """When each heel and each ball (toe) of a foot stands.

    A point is planted while it is slow in three dimensions: slower than ``speed``, or than a fifth
    of the body's own speed if that is more, because the captured feet of a runner are never quite
    still. Height over the floor is not used, so stairs and drifting floors are no obstacle; height
    over the other end of the foot is, so a heel that hangs still on tiptoe is not planted. Plants
    of a clean clip include the few frames in which the foot settles and begins to lift; the more
    noise there is, the closer they keep to where the point is at rest. If nothing is slow and the
    body does not fall, the foot under it is planted: see :func:`find_carrying_feet`. Feet that
    slide along with the body are detected in spite of that; feet of an in-place clip, which slide
    under a body at rest, have no plants.

    Parameters
    ----------
    motion
        Any rate from 20 Hz up.
    body
        Roles of its joints; guessed by default.
    speed
        Below this speed a point can stand, m/s.
    shortest_s
        Plants shorter than this are dropped, seconds.

    Returns
    -------
    Footplants
        One column each for left heel, left toe, right heel and right toe.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> plants = detect_footplants(synthetic.clip("walk").motion)
    >>> len(plants.intervals()["left_toe"]) > 1
    True
    """
    of_kind(motion, Motion, "motion")
    speed, shortest_s = positive(speed, "speed"), positive(shortest_s, "shortest_s")
    body = roles_for(motion.skeleton, body)
    return detect_in(foot_tracks(motion, body), motion, body, speed=speed, shortest_s=shortest_s)


def detect_in(
    tracks: FootTracks,
    motion: Motion,
    body: BodyMap,
    *,
    speed: float = 0.25,
    shortest_s: float = 0.06,
) -> Footplants:
    """:func:`detect_footplants` of a motion whose tracks are known."""
    signals = measure_foot_signals(motion, body, tracks)
    begins = np.clip(BODY_PART * signals.body_speed, speed, max(FASTEST, speed))
    # A clip of a few still frames stands, though it is shorter than any plant.
    shortest = min(shortest_s * motion.fps, max(motion.n_frames, 2))
    # Slow points, joined over short gaps, up to where they leave their level.
    slow = _hysteresis(signals.speeds, begins)
    slow = _join(slow, signals.points, LONGEST_GAP_S * motion.fps)
    planted = slow & ~_risen(slow, signals.points[..., 1], signals.noise[:, 1])
    # What feet do: they slide, shuffle, stand on one end, hang still, pause in the air.
    planted |= _slides(planted, signals, begins, motion.fps)
    planted &= ~_shuffles(planted, signals, begins, motion.fps)
    height = ball_height(motion.skeleton, body)
    flat = _flat(planted, signals.points[..., 1], height)
    tilted = _tilted(signals, height, flat)
    planted &= ~tilted
    planted = _without_hanging(planted, signals.points[..., 1], height, flat, motion.fps)
    planted = _long_enough(planted, shortest)
    planted = _without_pauses(planted, signals.points[..., 1], signals.noise[:, 1], motion.fps)
    planted = _to_the_ends(planted, shortest)
    # Edges to the frame, and stances that speed alone does not show.
    planted = refine_edges(
        planted, signals.points, signals.noise, signals.sway, motion.fps, shortest=shortest
    )
    planted = draw_out(planted, signals, motion.fps)
    planted |= find_carrying_feet(planted, signals, begins, tilted, motion.fps)
    return Footplants(_long_enough(planted, shortest))


def _hysteresis(speeds: FloatArray, begins: FloatArray) -> BoolArray:
    """Runs below ``LEAVING * begins`` that somewhere are below ``begins``."""
    slow, still = np.zeros(speeds.shape, dtype=bool), speeds < begins[:, None]
    for k, runs in enumerate(column_runs(speeds < LEAVING * begins[:, None])):
        for first, last in runs:
            slow[first : last + 1, k] = bool(still[first : last + 1, k].any())
    return slow


def _join(planted: BoolArray, points: FloatArray, longest_gap: float) -> BoolArray:
    """Join plants on one spot across gaps that are too short for a step."""
    joined = planted.copy()
    for k, runs in enumerate(column_runs(planted)):
        apart = np.linalg.norm(np.diff(run_medians(points[:, k], runs), axis=0), axis=-1)
        for ((_, b), (c, _)), way in zip(pairwise(runs), apart, strict=True):
            if c - b - 1 <= longest_gap and way < SAME_SPOT_M:
                joined[b + 1 : c, k] = True
    return joined


def _risen(planted: BoolArray, heights: FloatArray, noise: FloatArray) -> BoolArray:
    """Frames of a plant in which the point has left its level, however slowly."""
    risen = np.zeros_like(planted)
    for k, runs in enumerate(column_runs(planted)):
        for (first, last), level in zip(runs, run_medians(heights[:, k], runs), strict=True):
            above = heights[first : last + 1, k] > level + RISE_M + 3.0 * noise[k]
            risen[first : last + 1, k] = above
    return risen


def _slides(planted: BoolArray, signals: FootSignals, begins: FloatArray, fps: float) -> BoolArray:
    """Gaps between plants of a ball in which it slides, for nothing else carries the body.

    Nobody flies for so short a time, with a foot that is so slow; but who kicks may turn or hop.
    """
    slides, plants = np.zeros_like(planted), column_runs(planted)
    for ball, others in ((1, slice(2, 4)), (3, slice(0, 2))):
        idle = ~np.any(planted[:, others], axis=1) & (signals.body_speed > WALKING)
        idle &= signals.speeds[:, ball] < SLIDING * begins
        for (_, before), (after, _) in pairwise(plants[ball]):
            gap = slice(before + 1, after)
            slides[gap, ball] = after - before - 1 <= SLIDE_S * fps and bool(idle[gap].all())
    return slides


def _shuffles(
    planted: BoolArray, signals: FootSignals, begins: FloatArray, fps: float
) -> BoolArray:
    """Fast frames within a plant of a ball that lead to another spot, while the other foot stands.

    A foot that carries the body alone may slide in a capture, but it makes no small steps; and
    heels roll.
    """
    shuffles = np.zeros_like(planted)
    width, plants = max(1, round(SPOT_S * fps)), column_runs(planted)
    quick = column_runs((signals.speeds >= begins[:, None]) & planted)
    for ball, others in ((1, slice(2, 4)), (3, slice(0, 2))):
        least = SHUFFLE_M + 3.0 * float(signals.noise[ball].max())
        carried = np.any(planted[:, others], axis=1)
        points = signals.points[:, ball]
        for first, last in plants[ball]:
            for start, stop in ((a, b + 1) for a, b in quick[ball] if first <= a <= last):
                before = points[max(start - width, first) : start]
                after = points[stop : min(stop + width, last + 1)]
                if len(before) and len(after) and carried[start:stop].all():
                    apart = np.median(after, axis=0) - np.median(before, axis=0)
                    shuffles[start:stop, ball] = np.linalg.norm(apart) > least
    return shuffles


def _flat(planted: BoolArray, heights: FloatArray, height: float) -> FloatArray:
    """How high either heel is over its ball in a flat foot, metres. Shape (2,).

    Rigs differ in that, so the lowest that it is while both stand tells it.
    """
    flat = np.zeros(2)
    for side in (0, 1):
        heel, ball = 2 * side, 2 * side + 1
        both = planted[:, heel] & planted[:, ball]
        if both.any():
            flat[side] = np.quantile((heights[:, heel] - heights[:, ball])[both], 0.1)
    return np.clip(flat, 0.0, height)


def _tilted(signals: FootSignals, height: float, flat: FloatArray) -> BoolArray:
    """Points that hang in the air because the foot stands on its other end.

    On tiptoe a heel can be quite still without standing on anything.
    """
    over = signals.points[:, 0::2, 1] - signals.points[:, 1::2, 1]  # (F, 2) heel over ball
    tilted = np.zeros(signals.speeds.shape, dtype=bool)
    tilted[:, 0::2] = over > flat + HEEL_UP * height
    tilted[:, 1::2] = -over > TOES_UP * height
    return tilted


def _without_hanging(
    planted: BoolArray, heights: FloatArray, height: float, flat: FloatArray, fps: float
) -> BoolArray:
    """Drop plants of points that are still but off the ground.

    Heels are so in walking backwards, balls where somebody stands with the toes pulled up.
    """
    standing, plants = planted.copy(), column_runs(planted)
    for heel in (0, 2):
        ball = heel + 1
        over = heights[:, heel] - heights[:, ball] - flat[heel // 2]
        runs = plants[heel]
        for (first, last), level in zip(runs, run_medians(over, runs), strict=True):
            if level > HANGING * height:
                standing[first : last + 1, heel] = False
        runs = plants[ball]
        for (first, last), level in zip(runs, run_medians(over, runs), strict=True):
            if last - first + 1 < HANGING_S * fps and level < -BALL_HANGING * height:
                standing[first : last + 1, ball] = False
    return standing


def _without_pauses(
    planted: BoolArray, heights: FloatArray, noise: FloatArray, fps: float
) -> BoolArray:
    """Drop plants of a foot that only pauses, or is held, in the air.

    All the while the other foot stands. A foot that is held is well above the standing one. So is a
    foot on a stair, but then the other foot leaves and this one carries. A foot that pauses within
    a step pauses above the places where it stands before and after, or for a moment only.
    """
    standing = planted.copy()
    for k, runs in enumerate(column_runs(planted)):
        others = slice(2, 4) if k < 2 else slice(0, 2)
        ground = np.where(planted[:, others], heights[:, others], np.inf).min(axis=1)
        levels = run_medians(heights[:, k], runs).tolist()
        for i, (first, last) in enumerate(runs):
            if np.mean(np.isfinite(ground[first : last + 1])) < 0.95:
                continue
            cut = first == 0 or last == len(planted) - 1
            above = heights[first : last + 1, k] - ground[first : last + 1]
            held = not cut and np.mean(above > HELD_M) > 0.95
            neighbours = levels[max(i - 1, 0) : i] + levels[i + 1 : i + 2]
            rise = levels[i] - max(neighbours, default=levels[i])
            # Only one neighbour tells little: it may be the next step of a stair.
            highest = HELD_M if len(neighbours) < 2 else np.inf
            pauses = last - first + 1 < PAUSE_S * fps and PAUSE_M + 2.0 * noise[k] < rise < highest
            brief = not cut and last - first + 1 < BRIEF_S * fps
            if held or pauses or brief:
                standing[first : last + 1, k] = False
    return standing


def _to_the_ends(planted: BoolArray, nearly: float) -> BoolArray:
    """Draw out plants that nearly reach an end of the clip to that end.

    No step fits in between, and speeds are the least certain there.
    """
    drawn = planted.copy()
    n_frames = len(planted)
    for k, runs in enumerate(column_runs(planted)):
        for first, last in runs:
            if first < nearly:
                drawn[:first, k] = True
            if n_frames - 1 - last < nearly:
                drawn[last:, k] = True
    return drawn


def _long_enough(planted: BoolArray, shortest: float) -> BoolArray:
    """Plants of at least ``shortest`` frames. Shape (F, P)."""
    long = np.zeros_like(planted)
    for k, runs in enumerate(column_runs(planted)):
        for first, last in runs:
            long[first : last + 1, k] = last - first + 1 >= shortest
    return long


# --- Ends of plants in clean clips: feet that settle, roll and lift gradually
#
# A captured foot does not come to rest at one instant. It touches the ground and still gives or
# rolls for some frames, and before it leaves it has begun to move. Edges placed where the point is
# truly at rest lie inside the plant that a person would mark. So plants are drawn out for as long
# as their point stays slow. That can only be seen while noise is well below those speeds: a noisy
# clip keeps the edges it has.

SETTLING = 0.2
"""A point that settles or begins to lift is slower than this, m/s, ..."""
SETTLING_PART = 0.12
"""... or than this part of the body's speed."""
ROLLING = 0.5
"""A heel over which the foot rolls onto its ball may be this fast, m/s: it is round, so the point
that stands for it moves."""
FURTHEST_S = 0.17
"""No edge moves by more than this, seconds."""
CERTAIN = 1.5
"""A speed is called slow if it is so even with this many times its noise added, in squares."""
LIFT_M = 0.03
"""A point this far over where it stands has left, however slowly."""
BUMP = 1.4
"""Bumps up to this many times as fast are passed if the point is slow again behind them."""
DOWN_M = 0.005
"""A heel over which the foot rolls is no higher than this over where it then stands."""


def draw_out(planted: BoolArray, signals: FootSignals, fps: float) -> BoolArray:
    """``planted`` (F, 4) with every plant drawn out for as long as its point stays slow."""
    drawn = planted.copy()
    steady = np.maximum(SETTLING_PART * signals.body_speed, SETTLING)
    furthest = max(1, round(FURTHEST_S * fps))
    for k, runs in enumerate(column_runs(planted)):
        speeds = np.hypot(signals.sharp_speeds[:, k], CERTAIN * signals.sharp_noise[k])
        slow, bumpy = speeds < steady, speeds < BUMP * steady
        rolls = np.zeros_like(slow)
        if k % 2 == 0:
            rolls = (speeds < np.maximum(ROLLING, steady)) & ~planted[:, k + 1]
        # The fastest frame between two plants keeps them apart.
        apart = [b + 1 + int(np.argmax(speeds[b + 1 : c])) for (_, b), (c, _) in pairwise(runs)]
        heights = signals.points[:, k, 1]
        levels = run_medians(heights, runs)
        bounds = [-1, *apart, len(planted)]
        for (first, last), level, (left, right) in zip(
            runs, levels, pairwise(bounds), strict=False
        ):
            before = slice(max(first - furthest, left + 1), first)
            after = slice(last + 1, min(last + 1 + furthest, right))
            above = heights[before] - level
            low, rolled = above < LIFT_M, rolls[before] & (above < DOWN_M)
            rests, passes = slow[before] & low | rolled, bumpy[before] & low | rolled
            reach = _frames_to_last_rest(passes[::-1], rests[::-1])
            drawn[first - reach : first, k] = True
            low = heights[after] - level < LIFT_M
            reach = _frames_to_last_rest(bumpy[after] & low, slow[after] & low)
            drawn[last : last + reach + 1, k] = True
    return drawn


def _frames_to_last_rest(passes: BoolArray, rests: BoolArray) -> int:
    """Frames up to the last that rests, of those before the first that does not even pass."""
    way = rests if passes.all() else rests[: np.argmin(passes)]
    return len(way) - int(np.argmax(way[::-1])) if way.any() else 0


# --- Stances that speed alone does not show: a body that does not fall stands on something
#
# A body that floats in the data, or brakes hard, has no foot that is still, and yet it does not
# fall. The foot under it then carries it, if it is the lowest point of the body and slow for most
# of the time.

FALLING = -4.9
"""A pelvis that accelerates upwards by less than this, m/s2, is in flight: half of gravity."""
LEAST_CARRYING_S = 0.1
"""No foot carries a body for less than this, seconds."""
SLOW, SLOW_PART = 0.9, 2.0
"""The foot is slower than this, m/s, or than this many times the speed that begins a plant."""
MIDDLE = 0.3
"""It must be so slow somewhere in the middle of the time that it carries, this part from either
end. Feet of a clip that walks in place are slow only where they turn round."""
TRAVEL_M = 0.1
"""And it must not go farther than this."""
LOWEST_M = 0.03
"""The foot is the lowest point of the body, to within this."""
RESTING_M = 0.02
"""A point this far over its lowest place does not rest yet, or has left."""
ADJOINS_S = 0.05
"""A stance this near to another one of the same foot is a part of it."""
CLEAN_M = 0.002
"""In noisier clips accelerations say little."""


def find_carrying_feet(
    planted: BoolArray, signals: FootSignals, begins: FloatArray, tilted: BoolArray, fps: float
) -> BoolArray:
    """Frames (F, 4) in which a foot carries the body although it is not still.

    Parameters
    ----------
    planted : (F, 4)
        Plants by speed. Stances are only looked for where there are none.
    signals
        Of the same clip.
    begins : (F,)
        Speed that begins a plant, m/s.
    tilted : (F, 4)
        Points that are off the ground because the foot stands on its other end.
    fps
        Frames per second.
    """
    carrying = np.zeros_like(planted)
    if float(signals.noise.max()) > CLEAN_M:
        return carrying
    held = ~planted.any(axis=1) & (signals.lift > FALLING)
    heights = signals.points[..., 1]
    lower = np.argmin(np.minimum(heights[:, 0::2], heights[:, 1::2]), axis=1)  # 0 left, 1 right
    slow = signals.speeds < np.maximum(SLOW, SLOW_PART * begins)[:, None]
    for side in (0, 1):
        kinds = [2 * side, 2 * side + 1]
        own = np.asarray(planted[:, kinds].any(axis=1))
        low = heights[:, kinds].min(axis=1) < signals.lowest + LOWEST_M
        for first, last in runs_of(held & (lower == side) & low):
            if last - first + 1 < LEAST_CARRYING_S * fps:
                continue
            part = slice(first, last + 1)
            for kind in kinds:
                stands = slow[part, kind] & ~tilted[part, kind]
                before, after = _neighbours(planted[:, kind], first, last, ADJOINS_S * fps)
                if before and after:
                    carrying[part, kind] = stands.all()
                elif not _neighbours(own, first, last, ADJOINS_S * fps).any():
                    carrying[part, kind] = _stance(stands, signals.points[part, kind])
    return carrying


def _stance(stands: BoolArray, points: FloatArray) -> BoolArray:
    """The slow stretch (F,) about the middle of a time of support, if the point (F, 3) rests.

    A point that slows down twice flaps, as feet with lost markers do.
    """
    stance = np.zeros_like(stands)
    n = len(stands)
    if len(runs_of(stands)) != 1:
        return stance
    for first, last in runs_of(stands & (points[:, 1] < points[:, 1].min() + RESTING_M)):
        way = points[first : last + 1, [0, 2]]
        travel = float(np.hypot(*(way.max(axis=0) - way.min(axis=0))))
        if first < (1.0 - MIDDLE) * n and last >= MIDDLE * n and travel < TRAVEL_M:
            stance[first : last + 1] = True
    return stance


def _neighbours(planted: BoolArray, first: int, last: int, near: float) -> BoolArray:
    """Whether a stance adjoins a plant before it and one after it. Shape (2,).

    Between two plants it joins them. At one end it would only make a plant longer, and edges of
    plants are found by other means.
    """
    reach = max(1, round(near))
    before, after = planted[max(first - reach, 0) : first], planted[last + 1 : last + 1 + reach]
    return np.array([before.any(), after.any()])


# --- Medians over plants

_medians = kernel("ml_run_medians")


def run_medians(values: FloatArray, runs: Sequence[tuple[int, int]]) -> FloatArray:
    """Median of ``values`` over each run.

    Parameters
    ----------
    values : (F,) or (F, C)
        Finite numbers.
    runs
        First and last frame of R runs.

    Returns
    -------
    array : (R,) or (R, C)
    """
    spans = np.array(runs, dtype=np.int64).reshape(len(runs), 2)
    n, n_columns = len(values), prod(values.shape[1:])
    columns = np.ascontiguousarray(values, dtype=np.float64)
    out = np.zeros((len(runs), *values.shape[1:]))
    _medians(n, n_columns, columns, len(runs), spans, np.zeros(n), out)
    return out
