"""Ankle targets: how a foot is turned and shifted so that its held points stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.cleanup.blend_off import blend_off, ease
from motionloom.cleanup.foot import Foot
from motionloom.motion.kinematics import velocities
from motionloom.rotation import quat

__all__ = ["AnkleTarget", "place_ankle"]

UP = np.array([0.0, 1.0, 0.0])
SOFT_TURN = np.radians(3.0)
"""Turns of the foot about the ball set in over this angle."""
MOST_TURN = np.radians(40.0)
"""Beyond this the body has to come nearer instead."""


@dataclass(frozen=True, slots=True, eq=False)
class AnkleTarget:
    """What is done to one foot in every frame."""

    q_foot: FloatArray
    """Turn of the whole foot in the world. Shape (F, 4)."""
    q_toes: FloatArray
    """Turn of the toes in the world: that of the foot without its roll about the ball. (F, 4)"""
    shift: FloatArray
    """Way of the ankle, metres. Shape (F, 3)."""
    roll: FloatArray
    """Turn about the ball until the ankle is in reach, heel up, radians. Shape (F,)."""


def place_ankle(
    foot: Foot, reach: FloatArray, *, length: float, stop: float, roll: bool
) -> AnkleTarget:
    """Turn and shift of the foot that bring its held points onto their places.

    Where heel and ball are both held, the foot takes the shortest turn that lays it along its two
    places. Where only the ball is, and the ankle would be farther from the hip than ``reach``, the
    foot rolls on over the ball, as a foot does that is left behind. Everything runs out smoothly
    in the frames around.

    Parameters
    ----------
    foot
        F frames.
    reach : (F,)
        How far from the hip the ankle may be, metres.
    length, stop
        Frames over which offsets run out, and over which their slopes do.
    roll
        Whether the foot may roll over the ball.
    """
    both = foot.held[:, 0] & foot.held[:, 1]
    sole = foot.ball - foot.heel
    q_lie = quat.exp(_lie(foot, sole, both, length, stop))
    to_heel = quat.rotate(q_lie, foot.heel - foot.ankle)
    to_ball = quat.rotate(q_lie, foot.ball - foot.ankle)
    q_foot = q_lie
    angle = np.zeros(len(both))
    if roll:
        across = _across(quat.rotate(q_lie, sole))
        angle = _roll(foot, to_ball, across, reach, length, stop)
        if angle.any():
            q_roll = quat.from_axis_angle(across, angle)
            q_foot = quat.multiply(q_roll, q_lie)
            to_heel, to_ball = quat.rotate(q_roll, to_heel), quat.rotate(q_roll, to_ball)
    shift = _shift(foot, np.stack([to_heel, to_ball], axis=1), length, stop)
    return AnkleTarget(q_foot, q_lie, shift, angle)


def _lie(foot: Foot, sole: FloatArray, both: BoolArray, length: float, stop: float) -> FloatArray:
    """Rotation vectors that lay the sole along its two places. Shape (F, 3)."""
    if not both.any():
        return np.zeros_like(sole)
    wanted = np.where(both[:, None], foot.places[:, 1] - foot.places[:, 0], sole)
    turns = quat.log(quat.between_vectors(sole, wanted))
    # d x d' / |d|² is how fast the sole turns; a turn that keeps it still runs against that.
    rate = np.cross(sole, velocities(sole, 1.0)) / np.sum(sole * sole, axis=-1, keepdims=True)
    return blend_off(turns, -rate, both, length=length, stop=stop)


def _across(sole: FloatArray) -> FloatArray:
    """Horizontal axis about which a turn lifts the heel, unit. Shape (F, 3)."""
    axis = np.cross(UP, sole)
    return np.asarray(axis / np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-9))


def _roll(
    foot: Foot,
    to_ball: FloatArray,
    across: FloatArray,
    reach: FloatArray,
    length: float,
    stop: float,
) -> FloatArray:
    """Turn about the ball that brings the ankle within reach, where only the ball is held."""
    only_ball = foot.held[:, 1] & ~foot.held[:, 0]
    held = foot.standing
    lever = -to_ball  # ball to ankle
    to_hip = foot.hip - foot.places[:, 1]
    # |lever turned - to_hip| = reach  <=>  a cos + b sin = c
    along = np.sum(to_hip * across, axis=-1) * np.sum(lever * across, axis=-1)
    a = np.sum(to_hip * lever, axis=-1) - along
    b = np.sum(to_hip * np.cross(across, lever), axis=-1)
    size = np.hypot(a, b)
    c = 0.5 * (np.sum(to_hip**2, axis=-1) + np.sum(lever**2, axis=-1) - reach**2) - along
    needed = np.arctan2(b, a) - np.arccos(np.clip(c / np.maximum(size, 1e-12), -1.0, 1.0))
    needed = np.where(only_ball & (needed > 0.0), needed, 0.0)
    if not needed.any():
        return np.zeros(len(needed))
    angle = needed * needed / (needed + SOFT_TURN)
    angle = MOST_TURN * np.tanh(angle / MOST_TURN)
    angle = angle * _since(only_ball, 0.5 * length)
    slope = np.where(
        np.append(held[1:], False), velocities(angle, 1.0), np.append(0.0, np.diff(angle))
    )
    slope = np.where(np.append(False, held[:-1]), slope, 0.0)
    return blend_off(angle[:, None], slope[:, None], held, length=length, stop=stop)[:, 0]


def _since(flags: BoolArray, length: float) -> FloatArray:
    """0 where a run of ``flags`` begins, rising smoothly to 1 over ``length`` frames."""
    frames = np.arange(len(flags))
    start = np.maximum.accumulate(np.where(flags, -1, frames))
    return np.where(flags, 1.0 - ease((frames - start) / length), 0.0)


def _shift(foot: Foot, levers: FloatArray, length: float, stop: float) -> FloatArray:
    """Way of the ankle that brings held points, at ``levers`` (F, 2, 3), onto their places."""
    count = foot.held.sum(axis=1)
    points = foot.ankle[:, None] + levers
    weight = foot.held / np.maximum(count, 1)[:, None]
    gaps = np.einsum("fp,fpc->fc", weight, foot.places - points)
    rates = np.einsum("fp,fpc->fc", weight, velocities(points, 1.0))
    return blend_off(gaps, -rates, count > 0, length=length, stop=stop)
