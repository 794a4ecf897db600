"""Where the target's ankles have to be, so that feet that stood still stand still."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.body.feet import FootOffsets
from motionloom.motion.contacts import runs_of
from motionloom.motion.limbs import SOFT
from motionloom.rotation import quat
from motionloom.rotation.easing import smoothstep

FADE_S = 0.25
"""What a stance has shifted a foot by is taken back within this time of the swing after it."""
ROLL_S = 0.1
"""What a stance shifts a foot by changes on after it, ever slower, for this time at most."""
SAFE, KEEP = 0.15, 0.5
"""A foot in the air is as far over the floor as the source's up to the first, in foot lengths; of
what the source's is higher it keeps the second at least."""
ROUND_M = 0.005
"""A foot in the air is lifted smoothly, and may stay lower than the source's by this, metres."""
BRIEF_S = 0.05
"""A foot that is in the air for less than this, seconds, has not left its place."""
LEVEL = 0.3
"""A foot is level while heel and ball differ in height by less than this part of its length."""


def ankle_path(
    points: tuple[FloatArray, FloatArray, FloatArray],
    planted: BoolArray,
    foot: FootOffsets,
    q_ankle: FloatArray,
    sideways: FloatArray,
    floor: float,
    fps: float,
) -> FloatArray:
    """Path (F, 3) of the target's ankle for a foot whose heel and ball ought to be here.

    Feet differ in length, so ankle, heel and ball cannot all be met. In the air the ankle is. On
    the ground the point that stands is the pivot: it stays where it was when it came down, first
    the heel, then, foot flat, the ball, without a jump between. There the lower of heel and ball is
    as high as the source's; close to the ground it is no lower.

    Parameters
    ----------
    points : (F, 3) each
        Where ankle, heel and ball of the source's foot would be, scaled to the target.
    planted : (F, 2)
        Whether heel and ball stand.
    foot
        The target's foot.
    q_ankle : (F, 4)
        World rotation of the target's ankle.
    sideways : (F, 3)
        How much farther out the target's hip is: its feet come down that much farther out.
    floor
        Height at which the ball of the target's foot stands, metres.
    fps
        Frames per second.
    """
    ankle, heel, ball = points
    by_heel = heel - quat.rotate(q_ankle, foot.heel)
    by_ball = ball - quat.rotate(q_ankle, foot.ball)
    free = ankle + sideways
    shift = np.zeros_like(free)
    on_heel, on_ball = planted[:, 0], planted[:, 1]
    stances = _stances(on_heel | on_ball, BRIEF_S * fps)
    for first, last in stances:
        for f in range(first + 1, last + 1):
            both = planted[f] & planted[f - 1]
            pivot = by_ball if both[1] else by_heel if both[0] else free
            shift[f] = shift[f - 1] + (pivot[f] - pivot[f - 1]) - (free[f] - free[f - 1])
        # A stance starts where the foot is in the air, so its whole error comes at its end;
        # sharing it between both ends halves the correction that each swing has to make.
        shift[first : last + 1] -= 0.5 * shift[last]
    rise = _lower_point(by_heel[:, 1], by_ball[:, 1], foot, q_ankle) - free[:, 1]
    inside = np.zeros(len(free), dtype=bool)
    for first, last in stances:
        inside[first : last + 1] = True
    shift[:, 1] = np.where(inside, rise, 0.0)
    path = free + _faded(shift, stances, fps)
    length = float(np.linalg.norm(foot.ball - foot.heel))
    clear = np.minimum(heel[:, 1], ball[:, 1]) - floor
    spare = (1.0 - KEEP) * np.maximum(clear - SAFE * length, 0.0)
    short = free[:, 1] + rise - path[:, 1] - spare
    short = np.maximum(short, 0.0)  # nothing in stances
    path[:, 1] += short * short / (short + ROUND_M)
    return path


def _stances(stands: BoolArray, brief: float) -> tuple[tuple[int, int], ...]:
    """First and last frame of each stance; those fewer than ``brief`` frames apart are one."""
    joined: list[tuple[int, int]] = []
    for first, last in runs_of(stands):
        if joined and first - joined[-1][1] - 1 < brief:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    return tuple(joined)


def _lower_point(
    by_heel: FloatArray, by_ball: FloatArray, foot: FootOffsets, q_ankle: FloatArray
) -> FloatArray:
    """Height (F,) of the ankle that puts the lower of heel and ball where it belongs.

    On a level foot both agree; which one leads changes smoothly around that. Contacts do not
    decide it: a heel may be labelled as planted while its foot is on tiptoe.
    """
    sole = foot.heel - foot.ball
    raised = quat.rotate(q_ankle, sole)[:, 1] / max(float(np.linalg.norm(sole)), 1e-9)
    on_ball = smoothstep(np.clip(0.5 + 0.5 * raised / LEVEL, 0.0, 1.0))
    return np.asarray(on_ball * by_ball + (1.0 - on_ball) * by_heel)


def _faded(shift: FloatArray, stances: tuple[tuple[int, int], ...], fps: float) -> FloatArray:
    """``shift`` in stances, led smoothly to zero (or to the next stance's) in swings.

    It leaves a stance as fast as it changed there: a longer foot that rolls over its ball lifts
    its ankle faster than the source's, and must not lose that speed within one frame.
    """
    out = np.array(shift)
    ends = [(-1, -1), *stances, (len(shift), len(shift))]
    for (_, before), (after, _) in pairwise(ends):
        gap = np.arange(before + 1, after)
        if not gap.size:
            continue
        fade = min(max(1, round(FADE_S * fps)), after - before)
        roll = min(max(1.0, ROLL_S * fps), after - before)
        for edge, inside in ((before, before - 1), (after, after + 1)):
            if not 0 <= edge < len(shift):
                continue
            away = np.abs(gap - edge)[:, None]
            out[gap] += smoothstep(np.clip(1.0 - away / fade, 0.0, 1.0)) * shift[edge]
            if any(first <= inside <= last for first, last in stances):
                slope = shift[edge] - shift[inside]
                out[gap] += away * np.maximum(1.0 - away / roll, 0.0) ** 2 * slope
    return out


def held_reach(hip: FloatArray, knee: FloatArray, ankle: FloatArray) -> FloatArray:
    """How far (F,) from the hip an ankle can be put without easing into full stretch, metres.

    As far as the leg is stretched now, or to where the solver begins to ease.
    """
    thigh, shank, span = (
        np.linalg.norm(way, axis=-1) for way in (knee - hip, ankle - knee, ankle - hip)
    )
    return np.asarray(np.maximum(span, (1.0 - SOFT) * (thigh + shank)))


def drop_to_reach(
    hip: FloatArray, ankle: FloatArray, reach: FloatArray, needed: BoolArray
) -> FloatArray:
    """How far (F,) a hip has to come down for the leg to reach its ankle where it is needed."""
    gap = hip - ankle
    level = np.hypot(gap[:, 0], gap[:, 2])
    highest = np.sqrt(np.maximum(reach**2 - level**2, 0.0))
    return np.where(needed, np.maximum(gap[:, 1] - highest, 0.0), 0.0)
