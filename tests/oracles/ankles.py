"""How a foot is turned and shifted so that its held points stand."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.cleanup.legs import AnkleTarget, Foot
from motionloom.motion.motion import runs_of
from motionloom.rotation import quat
from motionloom.rotation.quat import ease
from tests.oracles.blend_off import blend_off
from tests.oracles.quat import multiply, rotate
from tests.oracles.twitches import calm_twitches

SOFT_TURN, MOST_TURN = np.radians(3.0), np.radians(40.0)
GROWTH_M, LEAST_TILT = 0.01, 1e-6


def place_ankle(
    foot: Foot,
    reach: FloatArray,
    ground: FloatArray,
    *,
    length: float,
    stop: float,
    free_change: float,
    roll: bool,
) -> AnkleTarget:
    """The plain form of :func:`place_ankle`: one step after another over all frames."""
    both = foot.held[:, 0] & foot.held[:, 1]
    levers = np.stack([foot.heel - foot.ankle, foot.ball - foot.ankle], axis=1)
    if both.any():
        turns = _lie(levers, foot.places, both)
        q_lie = quat.exp(blend_off(turns, both, length=length, stop=stop))
        levers = rotate(q_lie[:, None], levers)
    else:
        q_lie = np.tile(quat.IDENTITY, (len(both), 1))
    turns, levers = calm_twitches(
        foot.ankle, foot.held, foot.places, levers, free_change=free_change, stop=stop
    )
    q_lie = multiply(turns, q_lie)
    q_foot, angle = q_lie, np.zeros(len(both))
    only_ball = foot.held[:, 1] & ~foot.held[:, 0]
    if roll and only_ball.any():
        across, needed = roll_needed(levers, foot.hip, foot.places[:, 1], reach, only_ball)
        angle = _soft_roll(needed, only_ball, foot.standing, length, stop)
        if angle.any():
            q_roll = quat.from_axis_angle(across, angle)
            q_foot = multiply(q_roll, q_lie)
            levers = rotate(q_roll[:, None], levers)
    tilt = tilt_needed(levers, foot, ground)
    if tilt.any():
        tilt = blend_off(tilt[:, None], foot.standing, length=length, stop=stop)[:, 0]
        q_tilt = quat.from_axis_angle(_across(levers), tilt)
        q_foot = multiply(q_tilt, q_foot)
        levers = rotate(q_tilt[:, None], levers)
        # Toes go up with the ball, but stay on the ground where the heel goes up.
        q_lie = np.where((tilt < 0.0)[:, None], multiply(q_tilt, q_lie), q_lie)
    return AnkleTarget(q_foot, q_lie, _shift(foot, levers, length, stop), angle, levers)


def tilt_needed(levers: FloatArray, foot: Foot, ground: FloatArray) -> FloatArray:
    """Turn of a foot on one held point that keeps its other point out of the ground. (F,)."""
    tilt = np.zeros(len(levers))
    one = np.flatnonzero(foot.held[:, 0] != foot.held[:, 1])
    sole = levers[one, 1] - levers[one, 0]
    length = np.maximum(np.sqrt(np.sum(sole * sole, axis=-1)), 1e-9)
    slope = np.arcsin(np.clip(sole[:, 1] / length, -1.0, 1.0))
    ground = np.broadcast_to(ground, foot.held.shape)[one]
    heel_least = np.minimum(foot.heel[one, 1], ground[:, 0])
    ball_least = np.minimum(foot.ball[one, 1], ground[:, 1])
    steepest = np.sin(MOST_TURN)
    least = np.clip((ball_least - foot.places[one, 0, 1]) / length, -steepest, steepest)
    most = np.clip((foot.places[one, 1, 1] - heel_least) / length, -steepest, steepest)
    tilt[one] = np.where(
        foot.held[one, 0],
        -np.maximum(np.arcsin(least) - slope, 0.0),
        np.maximum(slope - np.arcsin(most), 0.0),
    )
    return np.where(np.abs(tilt) > LEAST_TILT, tilt, 0.0)


def _across(levers: FloatArray) -> FloatArray:
    """Level axis across the foot, unit; a positive turn about it lifts the heel. Shape (F, 3)."""
    sole = levers[:, 1] - levers[:, 0]
    axis = np.stack([sole[:, 2], np.zeros(len(sole)), -sole[:, 0]], axis=1)
    size = np.sqrt(np.sum(axis * axis, axis=-1, keepdims=True))
    return np.where(size > 1e-9, axis / np.maximum(size, 1e-9), np.array([1.0, 0.0, 0.0]))


def _lie(levers: FloatArray, places: FloatArray, both: BoolArray) -> FloatArray:
    """Rotation vectors that lay the sole along its two places where ``both`` are held. (F, 3)."""
    turns = np.zeros((len(levers), 3))
    for f in range(len(levers)):
        if not both[f]:
            continue
        d, u = levers[f, 1] - levers[f, 0], places[f, 1] - places[f, 0]
        x = d[1] * u[2] - d[2] * u[1]
        y = d[2] * u[0] - d[0] * u[2]
        z = d[0] * u[1] - d[1] * u[0]
        sin = np.sqrt(x * x + y * y + z * z)
        if sin > 0.0:
            part = np.arctan2(sin, d[0] * u[0] + d[1] * u[1] + d[2] * u[2]) / sin
            turns[f, 0], turns[f, 1], turns[f, 2] = part * x, part * y, part * z
    return turns


def roll_needed(
    levers: FloatArray,
    hip: FloatArray,
    place: FloatArray,
    reach: FloatArray,
    only_ball: BoolArray,
) -> tuple[FloatArray, FloatArray]:
    """Axes about which a foot rolls over its ball, and the least turns that suffice."""
    n = len(levers)
    axes, angles = np.zeros((n, 3)), np.zeros(n)
    for f in range(n):
        x, z = levers[f, 1, 2] - levers[f, 0, 2], levers[f, 0, 0] - levers[f, 1, 0]
        size = np.sqrt(x * x + z * z)
        if size < 1e-9:
            axes[f, 0] = 1.0
            continue
        x, z = x / size, z / size
        axes[f, 0], axes[f, 2] = x, z
        if not only_ball[f]:
            continue
        g, arm = hip[f] - place[f], -levers[f, 1]
        along = (g[0] * x + g[2] * z) * (arm[0] * x + arm[2] * z)
        a = g[0] * arm[0] + g[1] * arm[1] + g[2] * arm[2] - along
        b = -g[0] * z * arm[1] + g[1] * (z * arm[0] - x * arm[2]) + g[2] * x * arm[1]
        c = -along - 0.5 * reach[f] ** 2
        for k in range(3):
            c += 0.5 * (g[k] ** 2 + arm[k] ** 2)
        most = np.sqrt(a * a + b * b)
        if most > 0.0:
            angles[f] = max(0.0, np.arctan2(b, a) - np.arccos(min(1.0, max(-1.0, c / most))))
    return axes, angles


def _soft_roll(
    needed: FloatArray, only_ball: BoolArray, standing: BoolArray, length: float, stop: float
) -> FloatArray:
    """The roll: sets in smoothly, is bounded, and runs out after the hold. Shape (F,)."""
    if not needed.any():
        return needed
    angle = MOST_TURN * np.tanh(needed * needed / (needed + SOFT_TURN) / MOST_TURN)
    angle = angle * _since(only_ball, 0.5 * length)
    return blend_off(angle[:, None], standing, length=length, stop=stop)[:, 0]


def _since(flags: BoolArray, length: float) -> FloatArray:
    """0 where a run of ``flags`` begins, rising smoothly to 1 over ``length`` frames."""
    frames = np.arange(len(flags))
    start = np.maximum.accumulate(np.where(flags, -1, frames))
    return np.where(flags, 1.0 - ease((frames - start) / length, nested=True), 0.0)


def _shift(foot: Foot, levers: FloatArray, length: float, stop: float) -> FloatArray:
    """Way of the ankle that brings held points, at ``levers`` (F, 2, 3), onto their places."""
    weight = foot.held / np.maximum(foot.held.sum(axis=1), 1)[:, None]
    gaps = np.einsum("fp,fpc->fc", weight, foot.places - foot.ankle[:, None] - levers)
    return _bounded(blend_off(gaps, foot.standing, length=length, stop=stop), foot.standing)


def _bounded(shift: FloatArray, standing: BoolArray) -> FloatArray:
    """The shift (F, 3) of a foot which, once free, grows no further than a little."""
    size = np.sqrt(np.sum(shift * shift, axis=-1))
    for first, last in runs_of(~standing):
        edges = [size[f] for f in (first - 1, last + 1) if 0 <= f < len(size)]
        most = max(edges, default=0.0)
        over = np.maximum(size[first : last + 1] - most, 0.0)
        if over.any():
            less = (most + GROWTH_M * np.tanh(over / GROWTH_M)) / (most + over + 1e-12)
            shift[first : last + 1] *= np.where(over > 0.0, less, 1.0)[:, None]
    return shift
