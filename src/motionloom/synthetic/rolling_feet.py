"""Feet that roll and never slide: stances with exact pivots, and the swings between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.rotation import quat
from motionloom.synthetic.curves import hermite, keyed, peel, peel_end_rate, turned
from motionloom.synthetic.synthetic_skeleton import Rig

PEEL_S = 0.035
"""How long a heel that leaves the ground gathers speed."""
SLAP = 0.5
"""Rate at which the sole starts to come down at strike, relative to its mean rate."""


@dataclass(frozen=True, slots=True)
class Stance:
    """One plant of one foot: when its parts come down and leave, and where it stands.

    The foot strikes at ``strike_pitch``, turns about its heel (or about its ball, where the
    forefoot strikes) to ``base_pitch`` by ``flat_at``, rests there until ``heel_off``, and turns
    about its ball to ``off_pitch`` at ``toe_off``. Pitch is positive with the heel up.
    """

    strike: float
    flat_at: float
    heel_off: float
    toe_off: float
    ball: FloatArray
    """Ball of the foot on the ground, world, metres. Shape (3,)."""
    yaw: float
    strike_pitch: float
    off_pitch: float
    base_pitch: float = 0.0
    """Above 0 for a foot on its toes, whose heel never comes down."""


@dataclass(frozen=True, slots=True)
class SwingShape:
    """Keys of a swing between toe-off and strike: part of the swing, pitch, height of the ball."""

    at: tuple[float, ...]
    pitch: tuple[float, ...]
    lift: tuple[float, ...]
    """Ball over the straight line between both stands, metres."""
    arrive: float = 0.0
    """Speed over the ground that the foot still has at strike, metres per second."""
    drop: float = 0.0
    """Speed downward at strike, metres per second."""
    waypoints: tuple[tuple[float, float, float], ...] = ()
    """Where given, the ball passes here at the keys: leftward, up, forward of where it stood, in
    the foot's own heading, metres; ``lift`` is then not read."""


@dataclass(frozen=True, slots=True, eq=False)
class FootTrack:
    """Where a foot is in every frame."""

    ankle: FloatArray
    """World, metres. Shape (F, 3)."""
    quats: FloatArray
    """``q_world_foot``. Shape (F, 4)."""
    yaw: FloatArray
    """Shape (F,)."""
    bend: FloatArray
    """Toes bent up in the ball joint, radians. Shape (F,)."""
    heel_planted: BoolArray
    toe_planted: BoolArray


def track_foot(
    rig: Rig, times: FloatArray, stances: Sequence[Stance], swings: Sequence[SwingShape]
) -> FootTrack:
    """The foot in every frame, from its stances in time order and the swings between them.

    Parameters
    ----------
    rig
        The body.
    times : (F,)
        Seconds; must lie between the first stance's strike and the last one's toe-off.
    stances
        S stances, not overlapping.
    swings
        S - 1 shapes.
    """
    n = len(times)
    ball, yaw, pitch, bend = np.zeros((n, 3)), np.zeros(n), np.zeros(n), np.zeros(n)
    heel_planted, toe_planted = np.zeros(n, bool), np.zeros(n, bool)
    for i, stance in enumerate(stances):
        first, last = np.searchsorted(times, (stance.strike, stance.toe_off), side="left")
        # A frame at the very moment of toe-off still stands.
        last = int(np.searchsorted(times, stance.toe_off, side="right"))
        here = slice(int(first), last)
        if here.stop > here.start:
            t = times[here]
            pitch[here], bend[here] = _stance_pitch(t, stance)
            yaw[here] = stance.yaw
            ball[here] = _ball_in_stance(rig, stance, pitch[here])
            lands_on_heel = stance.strike_pitch < 0.0
            down = stance.flat_at if not lands_on_heel and stance.strike_pitch else stance.strike
            if stance.base_pitch == 0.0:
                heel_planted[here] = (t >= down) & (t <= stance.heel_off)
            toe_planted[here] = t >= (stance.flat_at if lands_on_heel else stance.strike)
        if i + 1 < len(stances):
            upto = int(np.searchsorted(times, stances[i + 1].strike, side="left"))
            between = slice(last, upto)
            if between.stop > between.start:
                swung = _swing(rig, times[between], stance, stances[i + 1], swings[i])
                ball[between], yaw[between], pitch[between], bend[between] = swung
    quats = turned("YX", yaw, pitch)
    return FootTrack(
        ball - quat.rotate(quats, rig.ball), quats, yaw, bend, heel_planted, toe_planted
    )


def _roll_in(t: FloatArray, stance: Stance) -> FloatArray:
    """0 at strike to 1 when flat, landing without a bounce."""
    length = stance.flat_at - stance.strike
    if length <= 0.0:
        return np.ones_like(t)
    u = np.clip((t - stance.strike) / length, 0.0, 1.0)[:, None]
    zero = np.zeros(1)
    return hermite(u[:, 0], zero, zero + SLAP, zero + 1.0, zero)[:, 0]


def _peel_start(length: float) -> float:
    return min(PEEL_S / length, 0.5)


def _stance_pitch(t: FloatArray, stance: Stance) -> tuple[FloatArray, FloatArray]:
    """Pitch of the foot and bend of the toes while it stands."""
    base = stance.base_pitch
    pitch = stance.strike_pitch + (base - stance.strike_pitch) * _roll_in(t, stance)
    length = max(stance.toe_off - stance.heel_off, 1e-9)
    rising = t > stance.heel_off
    risen = base + (stance.off_pitch - base) * peel(
        (t - stance.heel_off) / length, _peel_start(length)
    )
    pitch = np.where(rising, risen, np.where(t >= stance.flat_at, base, pitch))
    return pitch, np.maximum(pitch, 0.0)


def _ball_in_stance(rig: Rig, stance: Stance, pitch: FloatArray) -> FloatArray:
    """The ball stays put, except while the foot turns about its heel at strike."""
    on_heel = pitch < 0.0
    if not np.any(on_heel):
        return np.broadcast_to(stance.ball, (len(pitch), 3))
    arm = rig.ball - rig.heel
    flat = quat.rotate(turned("Y", np.array([stance.yaw])), arm)
    tipped = quat.rotate(turned("YX", stance.yaw, pitch), arm)
    return np.where(on_heel[:, None], stance.ball - flat + tipped, stance.ball)


def _swing(
    rig: Rig, t: FloatArray, leave: Stance, land: Stance, shape: SwingShape
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Ball (N, 3), yaw, pitch and bend of a foot in the air; joins both stances without a jerk."""
    length = land.strike - leave.toe_off
    u = (t - leave.toe_off) / length
    rise = max(leave.toe_off - leave.heel_off, 1e-9)
    off_rate = peel_end_rate(_peel_start(rise)) * (leave.off_pitch - leave.base_pitch) / rise
    roll = land.flat_at - land.strike
    strike_rate = SLAP * (land.base_pitch - land.strike_pitch) / roll if roll > 0.0 else 0.0
    pitch = keyed(
        u,
        (0.0, *shape.at, 1.0),
        np.array([leave.off_pitch, *shape.pitch, land.strike_pitch]),
        off_rate * length,
        strike_rate * length,
    )
    start = leave.ball
    end = _ball_in_stance(rig, land, np.array([land.strike_pitch]))[0]
    # Speed of the ball at strike: it turns about a heel that is at rest already.
    ahead = _ball_in_stance(rig, land, np.array([land.strike_pitch + 1e-6]))[0]
    end_rate = (ahead - end) * 1e6 * strike_rate * length
    along = (end - start)[[0, 2]]
    end_rate[[0, 2]] += shape.arrive * length * along / max(float(np.linalg.norm(along)), 1e-9)
    keys = (0.0, *shape.at, 1.0)
    if shape.waypoints:
        places = start + quat.rotate(turned("Y", leave.yaw), np.array(shape.waypoints))
        ball = keyed(u, keys, np.concatenate([start[None], places, end[None]]), 0.0, end_rate)
    else:
        ball = hermite(u, start, np.zeros(3), end, end_rate)
        lift = keyed(u, keys, np.array([0.0, *shape.lift, 0.0]), 0.0, -shape.drop * length)
        ball[:, 1] += lift
    turn = hermite(u, np.array([leave.yaw]), np.zeros(1), np.array([land.yaw]), np.zeros(1))[:, 0]
    return ball, turn, pitch, _swing_bend(u, leave, land, off_rate * length, strike_rate * length)


def _swing_bend(
    u: FloatArray, leave: Stance, land: Stance, start_rate: float, end_rate: float
) -> FloatArray:
    """Toes straighten in the first half of the swing; those that land first are bent by then."""
    on_toes = land.strike_pitch > 0.0
    start, end = max(leave.off_pitch, 0.0), max(land.strike_pitch, 0.0)
    keys = np.array([start, end + 0.12 * (start - end), end])
    return keyed(u, (0.0, 0.45, 1.0), keys, 0.6 * start_rate, end_rate if on_toes else 0.0)
