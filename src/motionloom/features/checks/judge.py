"""Judge: measured series compared with the limits of the sources, compiled.

One call finds everything that is wrong with a motion: for every check and joint the worst frame.
Public checks and transition tables use the same kernel.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray
from motionloom.features.checks.judge_feet import judge_feet, judge_hovering
from motionloom.features.checks.limits import BRAKE, TRAVEL, Limits, decelerations
from motionloom.features.checks.notes import (
    BEND,
    BRAKING,
    CHECKS,
    FAST,
    FLIP,
    MOST_FOUND,
    PELVIS,
    PLAN,
    ROOT_BONE,
    SPEED,
    TURN,
    note,
)
from motionloom.features.checks.series import Series

__all__ = ["CHECKS", "MOST_FOUND", "judge"]

TURN_MORE, TURN_FREE = 1.3, np.radians(300.0)
SPEED_MORE = 1.3
BEND_MORE, BEND_FREE = 1.5, 80.0
"""A joint may exceed its own maximum in the sources by the first, and always reach the second
(rad/s, m/s2; for speeds see ``CheckRig.quick``)."""
FLIP_TIMES, FLIP_FREE, FLIP_S = 3.0, np.radians(200.0), 0.1
FLIP_MORE = 1.2
"""A step this many times the median of the time around it, above the joint's own maximum by the
last and above the second, rad/s, is a flip."""
FLIP_ALONE = 0.5
"""Two sixtieths of a second before and after a flip its joint turns at most this part as fast."""
FLIP_STEP = np.radians(4.0)
"""Steps smaller than this are not seen as flips, whatever the frame rate, radians."""
PELVIS_MORE, PELVIS_FREE = 1.5, np.radians(150.0)
PLAN_OFF = np.radians(30.0)
BRAKE_MORE, BRAKE_FREE = 1.3, 9.0
TRAVEL_MORE, TRAVEL_FREE = 1.3, 0.5


@njit(cache=True, error_model="numpy")
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
    found: FloatArray,
) -> int:
    """Fill ``found`` with failures; how many there are.

    Parameters
    ----------
    series, limits
        Of the motion, and of its sources.
    planted : (F, 4)
        Contacts of the motion.
    fps
        Frames per second.
    first, last
        Frames that are judged; the others show what goes before and after.
    skipped : (F,)
        Frames that were captured wrong and are passed on as they are.
    plan : (F,) or (0,)
        Headings that the body should have, radians.
    held
        Whether feet were held already: soles, contacts and drags are judged.
    allowed : (F, N, 3) or (0, N, 3)
        Rotation speed, speed and second difference that a source has in the very frame that was
        copied from it: these are its own, whatever they are.
    grounds : (F, 4, 2) or (0, 4, 2)
        Where frames were copied: lowest height of each sole point, and how far the contact that
        starts there may slide, metres.
    found : (M, 5)
        Check, joint (as an index into the judged ones, or -1), frame, value, limit.
    """
    n = _judge_joints(series, limits, fps, first, last, skipped, allowed, found)
    n = _judge_body(series, limits, fps, first, last, skipped, plan, found, n)
    n = judge_hovering(series, limits, fps, first, last, found, n)
    if series.soles.shape[0] > 0 and limits.sole[0] < 1e300:
        n = judge_feet(series, limits, planted, fps, first, last, skipped, held, grounds, found, n)
    return n


@njit(cache=True, error_model="numpy")
def _is_alone(turn: FloatArray, t: int, n: int, fps: float) -> bool:
    """Whether a fast step stands alone: two sixtieths of a second away the joint is calm."""
    stride = max(1, round(fps / 60.0))
    for u in (t - 2 * stride, t + 2 * stride):
        if 1 <= u < len(turn) and turn[u, n] > FLIP_ALONE * turn[t, n]:
            return False
    return True


@njit(cache=True, error_model="numpy")
def _judge_joints(
    series: Series,
    limits: Limits,
    fps: float,
    first: int,
    last: int,
    skipped: BoolArray,
    allowed: FloatArray,
    found: FloatArray,
) -> int:
    n_found, copied = 0, len(allowed) > 0
    half = max(2, round(FLIP_S * fps))
    around = np.zeros(2 * half)
    own_turn, own_speed, own_bend = 0.0, 0.0, 0.0
    for n in range(series.turn.shape[1]):
        turn = max(TURN_MORE * limits.turn[n], TURN_FREE)
        speed = max(SPEED_MORE * limits.speed[n], limits.quick[n])
        bend = max(BEND_MORE * limits.bend[n], BEND_FREE)
        flip = max(FLIP_MORE * limits.turn[n], FLIP_FREE, FLIP_STEP * fps)
        check, name = TURN, n
        if n == 0:
            turn = max(PELVIS_MORE * limits.turn[n], PELVIS_FREE)
            speed, check = np.inf, PELVIS
        for t in range(max(first, 1), last + 1):
            # Copied frames are compared with their source, whose glitches they may repeat.
            if not copied and (skipped[t] or skipped[t - 1]):
                continue
            if copied:
                own_turn, own_speed = allowed[t, n, 0], allowed[t, n, 1]
                own_bend = allowed[t, n, 2]
            value = series.bend[t, n]
            if value > max(bend, own_bend) and (
                copied or not skipped[min(t + 1, len(skipped) - 1)]
            ):
                n_found = note(found, n_found, BEND, name, t, value, max(bend, own_bend))
            if t == first:  # the step into the first frame is not its own
                continue
            if series.turn[t, n] > max(turn, own_turn):
                limit = max(turn, own_turn)
                n_found = note(found, n_found, check, name, t, series.turn[t, n], limit)
            if series.speed[t, n] > max(speed, own_speed):
                limit = max(speed, own_speed)
                n_found = note(found, n_found, SPEED, name, t, series.speed[t, n], limit)
            if series.turn[t, n] > max(flip, own_turn) and _is_alone(series.turn, t, n, fps):
                count = 0
                for u in range(max(t - half, 1), min(t + half, len(series.turn) - 1) + 1):
                    if u != t:
                        around[count] = series.turn[u, n]
                        count += 1
                usual = FLIP_TIMES * np.median(around[:count]) if count else np.inf
                if series.turn[t, n] > usual:
                    n_found = note(
                        found, n_found, FLIP, name, t, series.turn[t, n], max(usual, flip)
                    )
    return n_found


@njit(cache=True, error_model="numpy")
def _judge_body(
    series: Series,
    limits: Limits,
    fps: float,
    first: int,
    last: int,
    skipped: BoolArray,
    plan: FloatArray,
    found: FloatArray,
    n_found: int,
) -> int:
    pelvis = max(PELVIS_MORE * limits.turn[0], PELVIS_FREE)
    brake = max(BRAKE_MORE * limits.body[BRAKE], BRAKE_FREE)
    travel = max(TRAVEL_MORE * limits.body[TRAVEL], TRAVEL_FREE)
    slowed = decelerations(series.pelvis, fps)
    for t in range(first, last + 1):
        if skipped[t]:
            continue
        if slowed[t] > brake:
            n_found = note(found, n_found, BRAKING, -1, t, slowed[t], brake)
        if t > 0 and not skipped[t - 1]:
            x = series.pelvis[t, 0] - series.pelvis[t - 1, 0]
            z = series.pelvis[t, 2] - series.pelvis[t - 1, 2]
            speed = fps * np.sqrt(x * x + z * z)
            if speed > travel:
                n_found = note(found, n_found, FAST, -1, t, speed, travel)
            for k in range(series.carried.shape[1]):
                limit = max(TURN_MORE * limits.carried[k], pelvis)
                if series.carried[t, k] > limit:
                    n_found = note(found, n_found, ROOT_BONE, k, t, series.carried[t, k], limit)
        if len(plan):
            off = series.heading[t] - plan[t]
            off = abs(off - 2.0 * np.pi * np.round(off / (2.0 * np.pi)))
            if off > PLAN_OFF:
                n_found = note(found, n_found, PLAN, -1, t, off, PLAN_OFF)
    return n_found
