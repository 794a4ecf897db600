"""Series against limits: every frame of every check, of which the worst is kept."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.features.checks.source_limits import BRAKE, HOVER, TRAVEL, Limits, Series
from motionloom.features.checks.verification import CHECKS
from tests.oracles.series import decelerations
from tests.oracles.soles import SOLES, drags, gap_of, is_off, runs, slide_span, tested_points

DEG = np.radians(1.0)
Found = dict[tuple[str, int], tuple[int, float, float]]


def judge(
    series: Series,
    limits: Limits,
    planted: BoolArray,
    fps: float,
    first: int,
    last: int,
    skipped: BoolArray,
    plan: FloatArray,
    held: bool,
    allowed: FloatArray,
    grounds: FloatArray,
    floors: FloatArray | None = None,
) -> Found:
    """The plain form of :func:`judge`: frame, value and limit by check and joint."""
    n_frames = len(skipped)
    within = (np.arange(n_frames) >= first) & (np.arange(n_frames) <= last)
    found: Found = {}

    def note(check: str, joint: int, frame: int, value: float, limit: float) -> None:
        worst = found.get((check, joint))
        if worst is None or abs(value - limit) > abs(worst[1] - worst[2]):
            found[check, joint] = (frame, float(value), float(limit))

    def over(check: str, joint: int, values: FloatArray, most: FloatArray, mask: BoolArray) -> None:
        most = np.broadcast_to(most, values.shape)
        for t in np.flatnonzero((values > most) & mask):
            note(check, joint, int(t), values[t], most[t])

    judge_joints(series, limits, fps, within, skipped, allowed, over)
    good = within & ~skipped
    step = good & ~np.r_[True, skipped[:-1]]
    slowed = decelerations(series.pelvis, fps)
    over("braking", -1, slowed, max(1.3 * limits.body[BRAKE], 9.0), good)
    ways = np.linalg.norm(np.diff(series.pelvis[:, [0, 2]], axis=0), axis=-1)
    over("travel speed", -1, np.r_[0.0, fps * ways], max(1.3 * limits.body[TRAVEL], 0.5), step)
    for k in range(series.carried.shape[1]):
        most = max(1.3 * limits.carried[k], 1.5 * limits.turn[0], 150.0 * DEG)
        over("root bone turn", k, series.carried[:, k], most, step)
    if len(plan):
        off = np.abs((series.heading - plan + np.pi) % (2.0 * np.pi) - np.pi)
        over("heading", -1, off, 30.0 * DEG, good)
    farthest = max(1.25 * limits.body[HOVER], 0.05)
    lands, stands = limits.floor, limits.highest
    if floors is not None:
        lands, stands = floors[:, 0], floors[:, 1]
    for a, b in runs(is_off(series.soles, series.lowest, stands, fps)):
        if b <= first or a > last:
            continue
        if (gap := gap_of(series.mass[:, 1], a, b, fps)) > farthest:
            floor = np.broadcast_to(stands, (n_frames, 4))[a:b]
            both = np.tile(np.minimum(floor[:, :2], floor[:, 2:]), 2)
            down = (series.soles[a:b, :, 1] <= both + 0.04).any(axis=1)
            check = "no foot stands" if 2 * down.sum() > b - a else "hovering"
            note(check, -1, min(max((a + b) // 2, first), last), gap, farthest)
    if not n_frames or not limits.sole[0] < 1e300:
        return found
    for side in range(2):
        bent = series.flexion[:, side]
        back = min(limits.least_flexion[side] - 3.0 * DEG, -5.0 * DEG)
        fold = max(limits.most_flexion[side] + 10.0 * DEG, 160.0 * DEG)
        for t in np.flatnonzero((bent < back) & good):
            note("knee bent backwards", side, int(t), bent[t], back)
        over("knee folded", side, bent, fold, good)
    for point in range(4) if held else ():
        heights = series.soles[:, point, 1]
        low = np.full(n_frames, limits.sole[point] - 0.025)
        if len(grounds):
            low = np.maximum(low, grounds[:, point, 0])
        for t in np.flatnonzero((heights < low) & good):
            note("sole below the floor", point, int(t), heights[t], low[t])
    points = tested_points(series.soles)
    for k, point in enumerate(SOLES) if held else ():
        row = 2 if k >= 4 else k % 2
        for a, b in runs(planted[:, point] & within):
            limit = limits.slide.reshape(4, -1)[row, slide_span(b - a, fps)]
            if len(grounds):
                limit = min(limit, grounds[a, k, 1])
            limit = max(limit, 0.04)
            way = np.hypot(*np.ptp(points[a:b, k][:, [0, 2]], axis=0))
            if b - a >= 3 and way > limit:
                note("sliding contact", point, a, way, limit)
        ways = np.linalg.norm(np.diff(points[:, k][:, [0, 2]], axis=0), axis=-1)
        for h in range(3):
            dragged = np.r_[False, drags(series.soles, lands, fps)[:, k, h]]
            for a, b in runs(dragged):
                so_far = np.zeros(n_frames)
                so_far[a:b] = np.cumsum(ways[a - 1 : b - 1])
                most = np.full(n_frames, 1.2 * limits.drag.reshape(4, 3)[row, h])
                if len(grounds):  # where all of it so far was copied
                    copied = np.logical_and.accumulate(grounds[a:b, k, 2 + h] < np.inf)
                    least = np.minimum(most[a:b], grounds[a:b, k, 2 + h])
                    most[a:b] = np.where(copied, least, most[a:b])
                free = (0.10, 0.10, 0.30)[h]
                over("dragged foot", point, so_far, np.maximum(most, free), dragged & within)
    return found


def judge_joints(series, limits, fps, within, skipped, allowed, over) -> None:
    """Turns, speeds, bends and flips of every joint."""
    n_frames, n_joints = series.turn.shape
    own = allowed if len(allowed) else np.zeros((n_frames, n_joints, 3))
    before, after = np.r_[True, skipped[:-1]], np.r_[skipped[1:], skipped[-1:]]
    bends = within & (np.arange(n_frames) > 0)
    steps = bends & np.r_[False, within[:-1]]  # the step into the first frame is not its own
    if not len(allowed):
        bends, steps = bends & ~skipped & ~before & ~after, steps & ~skipped & ~before
    half, away = max(2, round(0.1 * fps)), 2 * max(1, round(fps / 60.0))
    for n in range(n_joints):
        turn, free = series.turn[:, n], (1.3, 300.0 * DEG) if n else (1.5, 150.0 * DEG)
        most = np.maximum(max(free[0] * limits.turn[n], free[1]), own[:, n, 0])
        over("rotation speed" if n else "pelvis turn", n, turn, most, steps)
        if n:
            most = np.maximum(max(1.3 * limits.speed[n], limits.quick[n]), own[:, n, 1])
            over("speed", n, series.speed[:, n], most, steps)
        most = np.maximum(max(1.5 * limits.bend[n], 80.0), own[:, n, 2])
        over("acceleration", n, series.bend[:, n], most, bends)
        flip = max(1.2 * limits.turn[n], 200.0 * DEG, 4.0 * DEG * fps)
        for t in np.flatnonzero(steps & (turn > np.maximum(flip, 1.1 / 1.15 * own[:, n, 0]))):
            around = np.delete(turn[max(t - half, 1) : t + half + 1], min(half, t - 1))
            usual = 3.0 * np.median(around) if len(around) else np.inf
            near = [turn[u] for u in (t - away, t + away) if 1 <= u < n_frames]
            if all(each <= 0.5 * turn[t] for each in near):
                only = np.arange(n_frames) == t
                over("one-frame flip", n, np.where(turn > usual, turn, 0.0), max(usual, flip), only)
        if n:
            judge_jumps(series.speed[:, n], limits, n, fps, steps, 1.1 / 1.15 * own[:, n, 1], over)
            seen = steps if len(allowed) else steps & ~after
            judge_twitches(series, limits, n, fps, seen, own[:, n, 1], over)


def judge_jumps(speed, limits, n, fps, steps, own, over) -> None:
    """Steps of one bone that stand out from those around them."""
    n_frames, half = len(speed), max(2, round(0.1 * fps))
    quick, longest = max(1.0, fps / 60.0) * limits.quick[n], max(1, int(0.07 * fps))
    for t in np.flatnonzero(steps & (speed > own)):
        nearest = max(speed[t - 1], speed[t + 1] if t + 1 < n_frames else 0.0)
        is_far = speed[t] > 1.875 * quick and speed[t] > 3.0 * nearest
        most = max(1.05 * limits.speed[n], quick)
        runs_of = runs(np.r_[False, speed[1:] > 0.5 * speed[t]])
        width = next(b - a for a, b in runs_of if a <= t < b)
        if not is_far and not (speed[t] > most and width <= longest):
            continue
        most = min(most, 1.875 * quick) if is_far else most
        around = np.delete(speed[max(t - half, 1) : t + half + 1], min(half, t - 1))
        usual = 3.0 * np.median(around) if len(around) else np.inf
        only = np.arange(n_frames) == t
        over("one-frame jump", n, np.where(speed > usual, speed, 0.0), max(usual, most), only)


def judge_twitches(series, limits, n, fps, steps, own, over) -> None:
    """Frames in which one bone is out of place."""
    kink, speed, half = series.kink[:, n], series.speed[:, n], max(2, round(0.1 * fps))
    least = 8.0 / 320.0 * max(1.0, 60.0 / fps) * limits.quick[n]
    for t in np.flatnonzero(steps[:-1] & (kink[:-1] > least)):
        there, back = speed[t : t + 2] / fps
        apart = np.sqrt(max(2.0 * (there**2 + back**2) - 4.0 * kink[t] ** 2, 0.0))
        if apart >= 0.7 * min(there, back) or (speed[t : t + 2] <= own[t : t + 2]).all():
            continue
        around = np.delete(kink[max(t - half, 1) : t + half + 1], min(half, t - 1))
        usual = 6.0 * np.median(around) if len(around) else np.inf
        only, both = np.arange(len(kink)) == t, 2.0 * fps
        over("one-frame jump", n, both * kink, both * max(usual, least), only)


def rows(found: FloatArray) -> Found:
    """Rows of the kernel, in the same form."""
    return {
        (CHECKS[int(check)], int(joint)): (int(frame), value, limit)
        for check, joint, frame, value, limit in found.tolist()
    }
