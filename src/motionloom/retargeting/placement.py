"""Where hips and feet of the source come to be on a body of the target's size.

Hips, ankles and foot points are scaled by the legs' lengths. Then each ankle of the target gets a
path on which feet that stood still stand still.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.body.anatomy import FootOffsets
from motionloom.body.body_map import BodyMap
from motionloom.body.neutral import SIDES, UP, Stance
from motionloom.motion.motion import SOFT, runs_of
from motionloom.rotation import quat
from motionloom.rotation.quat import smoothstep

BALL_HEIGHT = 0.04
"""Ball of the foot over the sole as a part of the leg's length (0.02 of stature)."""
UNEVEN = 0.03
"""Ankles that stand on heights farther apart than this part of the leg stand on other ground."""
SAME_HEEL_M = 0.003
"""Heels are known to about this, metres."""
FADE_S = 0.25
"""Seconds of a swing within which the shift of the foot in the stance before it is taken back."""
ROLL_S = 0.1
"""Most seconds after a stance in which the shift of its foot goes on changing, ever slower."""
SAFE, KEEP = 0.15, 0.5
"""A foot in the air is as far over the floor as the source's up to the first, in foot lengths. Of
any further height of the source's it keeps at least the second, as a share."""
ROUND_M = 0.005
"""A foot in the air is lifted smoothly, and may stay lower than the source's by this, metres."""
BRIEF_S = 0.05
"""A foot that is in the air for less than this, seconds, has not left its place."""
LEVEL = 0.3
"""A foot is level while heel and ball differ in height by less than this part of its length."""


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """The source scaled to the target's legs, metres, in the world."""

    hips: FloatArray
    """Middle of both hips. Shape (F, 3)."""
    sockets: FloatArray
    """Left and right hip where the source's would be. Shape (F, 2, 3)."""
    ankles: FloatArray
    """Left and right ankle where the source's would be. Shape (F, 2, 3)."""
    points: FloatArray
    """Left heel, left ball, right heel, right ball. Shape (F, 4, 3)."""
    floors: FloatArray
    """Height at which the ball of the target's left and right foot stands. Shape (2,)."""


def place(
    source: Stance, target: Stance, positions: FloatArray, world: FloatArray, planted: BoolArray
) -> Placement:
    """Hips and feet scaled by the legs' lengths about the first frame's place on the ground.

    Ankles stand at different heights over the sole on different rigs, so heights are scaled from
    the level at which the source's ankles stand: a leg that was straight stays straight.

    Parameters
    ----------
    source, target
        Both bodies.
    positions, world : (F, J, 3), (F, J, 4)
        The source's pose.
    planted : (F, 4)
        Which of its foot points stand.
    """
    body = source.body
    hip_joints = body.require("left_hip", "right_hip", task="retargeting")
    leg, target_leg = _leg_length(source), _leg_length(target)
    scale = target_leg / leg
    over, target_over = _ankles_over_balls(source), _ankles_over_balls(target)
    levels = _ankle_levels(source, positions, planted, leg)
    sole = float(np.mean(levels - over)) - BALL_HEIGHT * leg
    hips = between_hips(positions, body)
    centre = np.array([hips[0, 0], sole, hips[0, 2]])

    def scaled(values: FloatArray, level: float, target_level: float) -> FloatArray:
        """Points of the source, of which those at ``level`` come to be at ``target_level``."""
        rise = target_level - sole - scale * (level - sole)
        return np.asarray(centre + scale * (values - centre) + rise * UP)

    level = float(levels.mean())
    target_level = sole + BALL_HEIGHT * target_leg + float(target_over.mean())
    points = _foot_points(source, positions, world)
    # Ankles of a rig are level when it stands, also where its balls are drawn at other heights.
    balls = levels - over
    uneven = scale * _unevenness(levels - level, balls - balls.mean())
    floors = target_level + uneven - target_over
    feet, ankles = [], []
    for k, foot in enumerate(source.feet):
        own = float(floors[k] + target_over[k])
        ankles.append(scaled(positions[:, foot.ankle], float(levels[k]), own))
        on_sole = points[:, 2 * k : 2 * k + 2]
        feet.append(scaled(on_sole, float(levels[k] - over[k]), float(floors[k])))
    return Placement(
        scaled(hips, level, target_level),
        scaled(positions[:, list(hip_joints)], level, target_level),
        np.stack(ankles, axis=1),
        np.concatenate(feet, axis=1),
        floors,
    )


def between_hips(positions: FloatArray, body: BodyMap) -> FloatArray:
    """Middle of both hips (F, 3)."""
    return np.asarray(0.5 * (positions[:, body.left_hip] + positions[:, body.right_hip]))


def _leg_length(stance: Stance) -> float:
    """Hip to ankle along the bones, the mean of both legs."""
    lengths = []
    for (side, _), foot in zip(SIDES, stance.feet, strict=True):
        chain = stance.skeleton.chain(foot.ankle)
        below_hip = chain[chain.index(getattr(stance.body, f"{side}_hip")) + 1 :]
        lengths.append(np.linalg.norm(stance.skeleton.offsets[list(below_hip)], axis=1).sum())
    return float(np.mean(lengths))


def _ankles_over_balls(stance: Stance) -> FloatArray:
    """Height of each ankle over the ball of its flat foot. Shape (2,)."""
    return np.array([-float(foot.ball @ foot.up) for foot in stance.feet])


def _ankle_levels(
    stance: Stance, positions: FloatArray, planted: BoolArray, leg: float
) -> FloatArray:
    """Height at which each ankle stands, on the lowest ground that it stands on. Shape (2,)."""
    heights = np.stack([positions[:, foot.ankle, 1] for foot in stance.feet], axis=1)  # (F, 2)
    flat = planted[:, 0::2] & planted[:, 1::2]
    if not flat.any():
        # Never flat (a runner, a treadmill): the lowest height of the ankles.
        return np.full(2, np.quantile(heights.min(axis=1), 0.05))
    common = float(np.quantile(heights[flat], 0.25))
    own = [
        float(np.quantile(heights[flat[:, k], k], 0.25)) if flat[:, k].any() else common
        for k in range(2)
    ]
    # Captures stand a little higher on one foot; a foot on a box stands much higher, and may.
    if abs(own[0] - own[1]) > UNEVEN * leg:
        return np.full(2, common)
    return np.array(own)


def _unevenness(ankles: FloatArray, balls: FloatArray) -> FloatArray:
    """How much higher than the other each foot of the source stands. Shape (2,).

    Captures stand a little higher on one foot. Where rigs draw the two feet differently, ankles
    and balls disagree on it, and the smaller difference is believed.
    """
    least = np.minimum(np.abs(ankles), np.abs(balls))
    return np.where(ankles * balls > 0.0, np.sign(ankles) * least, 0.0)


def _foot_points(stance: Stance, positions: FloatArray, world: FloatArray) -> FloatArray:
    """Left heel, left ball, right heel, right ball (F, 4, 3)."""
    columns = []
    for foot in stance.feet:
        ankle, turned = positions[:, foot.ankle], world[:, foot.ankle]
        columns.append(ankle + quat.rotate(turned, foot.heel))
        ball = ankle + quat.rotate(turned, foot.ball)
        columns.append(ball if foot.toe is None else positions[:, foot.toe])
    return np.stack(columns, axis=1)


def with_heels_of(source: Stance, target: Stance) -> Stance:
    """The target with the source's heels, scaled by the legs, where the two hardly differ.

    How far heels are behind ankles is estimated from stature, and rigs of one person differ in
    stature by where the head ends.
    """
    scale = _leg_length(target) / _leg_length(source)
    feet = []
    for own, foot in zip(source.feet, target.feet, strict=True):
        longer = scale * float(own.heel @ own.forward) - float(foot.heel @ foot.forward)
        heel = foot.heel + longer * foot.forward if abs(longer) < SAME_HEEL_M else foot.heel
        feet.append(dataclasses.replace(foot, heel=heel))
    return dataclasses.replace(target, feet=(feet[0], feet[1]))


def ankle_path(
    points: tuple[FloatArray, FloatArray, FloatArray],
    planted: BoolArray,
    foot: FootOffsets,
    q_ankle: FloatArray,
    sideways: FloatArray,
    floor: float,
    fps: float,
) -> FloatArray:
    """Path (F, 3) of the target's ankle for a foot with heel and ball at the given points.

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
        np.linalg.norm(bone, axis=-1) for bone in (knee - hip, ankle - knee, ankle - hip)
    )
    return np.asarray(np.maximum(span, (1.0 - SOFT) * (thigh + shank)))


def drop_to_reach(
    hip: FloatArray, ankle: FloatArray, reach: FloatArray, needed: BoolArray
) -> FloatArray:
    """How far (F,) a hip has to come down for the leg to reach its ankle where ``needed``."""
    gap = hip - ankle
    level = np.hypot(gap[:, 0], gap[:, 2])
    highest = np.sqrt(np.maximum(reach**2 - level**2, 0.0))
    return np.where(needed, np.maximum(gap[:, 1] - highest, 0.0), 0.0)
