"""Where hips and feet of the source come to be on a body of the target's size."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.body.neutral import SIDES, UP, Stance
from motionloom.rotation import quat

BALL_HEIGHT = 0.04
"""Ball of the foot over the sole as a part of the leg's length (0.02 of stature)."""
UNEVEN = 0.03
"""Ankles that stand on heights farther apart than this part of the leg stand on other ground."""
SAME_HEEL_M = 0.003
"""Heels are not known better than this."""


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


def _unevenness(ankles: FloatArray, balls: FloatArray) -> FloatArray:
    """How much higher than the other each foot of the source stands. Shape (2,).

    Captures stand a little higher on one foot. Where rigs draw the two feet differently, ankles
    and balls disagree on it, and the smaller difference is believed.
    """
    least = np.minimum(np.abs(ankles), np.abs(balls))
    return np.where(ankles * balls > 0.0, np.sign(ankles) * least, 0.0)


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


def _foot_points(stance: Stance, positions: FloatArray, world: FloatArray) -> FloatArray:
    """Left heel, left ball, right heel, right ball (F, 4, 3)."""
    columns = []
    for foot in stance.feet:
        ankle, turned = positions[:, foot.ankle], world[:, foot.ankle]
        columns.append(ankle + quat.rotate(turned, foot.heel))
        ball = ankle + quat.rotate(turned, foot.ball)
        columns.append(ball if foot.toe is None else positions[:, foot.toe])
    return np.stack(columns, axis=1)


def _ankle_levels(
    stance: Stance, positions: FloatArray, planted: BoolArray, leg: float
) -> FloatArray:
    """Height at which each ankle stands, on the lowest ground that it stands on. Shape (2,)."""
    heights = np.stack([positions[:, foot.ankle, 1] for foot in stance.feet], axis=1)  # (F, 2)
    flat = planted[:, 0::2] & planted[:, 1::2]
    if not flat.any():
        # Never flat (a runner, a treadmill): the lowest that the ankles come.
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
