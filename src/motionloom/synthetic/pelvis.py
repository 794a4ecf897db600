"""The pelvis: carried along the course, never higher than the legs reach."""

from __future__ import annotations

from typing import Literal

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._filters import running_mean, running_minimum
from motionloom.rotation import quat
from motionloom.synthetic.curves import soft_minimum, turned
from motionloom.synthetic.gait import Gait
from motionloom.synthetic.rolling_feet import FootTrack
from motionloom.synthetic.synthetic_skeleton import Rig

GRAVITY = 9.81
Carriage = Literal["steady", "clear", "follow"]
"""``steady``: at a constant height but for the bounce; a few frames may be pressed down by the
ceiling, because one odd step should not make a whole clip crouch. ``clear``: under the ceiling
everywhere, so that a planned fall is kept as it is. ``follow``: up and down with the ceiling,
slowly, as a body does that stands now with closed and now with spread feet."""
FOLLOW_S = 0.18
ROUND_S = 0.04
SOFT_M = 0.004
"""Width of the rounding where the pelvis meets the reach of a leg."""
PLATEAU = 0.2
"""Third harmonic of the push in running: makes it rise faster than half a sine."""
TWO_PI = 2.0 * np.pi


def bounce(gait: Gait, phase: FloatArray) -> FloatArray:
    """Rise of the pelvis over its mean course through the cycle, metres. Shape (F,).

    Walking: an inverted pendulum, lowest just after each strike. Running: a parabola in flight,
    and in stance what a push leaves of it that grows from nothing, stays, and fades to nothing, so
    that the acceleration has no jump.
    """
    if not gait.flight:
        return np.asarray(-0.5 * gait.bob * np.cos(2.0 * TWO_PI * (phase - 0.05)))
    stand, fly = _stand_and_fly(gait)
    tau = (phase % 0.5) / gait.frequency  # since the last strike
    fall = 0.5 * GRAVITY * fly
    turn = stand / np.pi
    size, angle = _push_size(gait), tau / turn
    pushed = turn * (tau - turn * np.sin(angle)) + PLATEAU * turn / 3.0 * (
        tau - turn / 3.0 * np.sin(3.0 * angle)
    )
    in_stance = size * pushed - fall * tau - 0.5 * GRAVITY * tau**2
    in_flight = fall * (tau - stand) - 0.5 * GRAVITY * (tau - stand) ** 2
    return np.asarray(np.where(tau < stand, in_stance, in_flight))


def stance_push(gait: Gait, since_strike: FloatArray) -> FloatArray:
    """Push of the ground on a runner, per mass, at times in stance, metres per second squared."""
    angle = np.pi * since_strike / _stand_and_fly(gait)[0]
    return np.asarray(_push_size(gait) * (np.sin(angle) + PLATEAU * np.sin(3.0 * angle)))


def _stand_and_fly(gait: Gait) -> tuple[float, float]:
    return gait.stance / gait.frequency, (0.5 - gait.stance) / gait.frequency


def _push_size(gait: Gait) -> float:
    """What makes the push of one stance carry the weight of stance and flight together."""
    stand, fly = _stand_and_fly(gait)
    return GRAVITY * (stand + fly) / (2.0 * stand / np.pi * (1.0 + PLATEAU / 3.0))


def hip_ceiling(
    rig: Rig, track: FootTrack, hips: FloatArray, knee: FloatArray | float
) -> FloatArray:
    """Highest that a hip may be for the leg to stay bent by ``knee`` radians. Shape (F,).

    Parameters
    ----------
    rig
        The body.
    track
        The foot.
    hips : (F, 3)
        The hip joint; only its place over the ground is read.
    knee
        Smallest knee flexion, radians.
    """
    reach = np.sqrt(rig.thigh**2 + rig.shank**2 + 2 * rig.thigh * rig.shank * np.cos(knee))
    away = np.sum((hips - track.ankle)[:, [0, 2]] ** 2, axis=-1)
    # A foot beyond reach in the plane is a planning fault: let the pelvis sink instead of failing.
    return np.asarray(track.ankle[:, 1] + np.sqrt(np.maximum(reach**2 - away, 0.09 * reach**2)))


def settle(
    rig: Rig,
    wanted: FloatArray,
    quats: FloatArray,
    tracks: tuple[FootTrack, FootTrack],
    knee: FloatArray | float,
    *,
    fps: float,
    carriage: Carriage,
) -> FloatArray:
    """Pelvis positions (F, 3) along ``wanted``, as high as both legs allow.

    Parameters
    ----------
    rig
        The body.
    wanted : (F, 3)
        Where the pelvis should be; its heights are taken up to a constant, or, with ``"follow"``,
        up to a slow curve.
    quats : (F, 4)
        ``q_world_pelvis``.
    tracks
        Left and right foot.
    knee
        Smallest knee flexion, radians.
    fps
        Frames per second.
    carriage
        How the wanted heights meet the ceiling that the legs set.
    """
    ceilings = []
    for side, track in zip(("Left", "Right"), tracks, strict=True):
        arm = quat.rotate(quats, rig.skeleton.offsets[rig.at(f"{side}UpLeg")])
        ceilings.append(hip_ceiling(rig, track, wanted + arm, knee) - arm[:, 1])
    soft = SOFT_M * rig.height / 1.75
    ceiling = np.minimum(*ceilings)
    margin = ceiling - wanted[:, 1]
    if carriage == "clear":
        height = wanted[:, 1] + (float(margin.min()) - 3.0 * soft)
    elif carriage == "steady":
        height = wanted[:, 1] + float(np.quantile(margin, 0.05))
        # A leg that is set down bends the ceiling sharply; the body rounds that off.
        ceiling = _slow_floor(ceiling, round(ROUND_S * fps))
    else:
        height = wanted[:, 1] + _slow_floor(margin, round(FOLLOW_S * fps))
        soft *= 0.35  # the floor is smooth already
    out = np.array(wanted)
    out[:, 1] = soft_minimum(soft, height, ceiling)
    return out


def _slow_floor(values: FloatArray, width: int) -> FloatArray:
    """A smooth curve on or under ``values`` (F,): the lowest nearby, then averaged twice."""
    lowest = running_minimum(values, width)
    for _ in range(2):  # each reaches half of the width to either side, so no value is exceeded
        lowest = running_mean(lowest, width // 2)
    return lowest


def pelvis_turn(
    gait: Gait, phase: FloatArray, heading: FloatArray, lean: FloatArray, noise: FloatArray
) -> FloatArray:
    """``q_world_pelvis`` (F, 4): turning with the leading leg, dropping on the swing side.

    Parameters
    ----------
    gait
        How far it turns and drops.
    phase, heading : (F,)
        Gait cycles, and where the body faces.
    lean : (F,)
        Into the curve, leftward positive.
    noise : (F, 3)
        Added turn, list and tilt, radians.
    """
    middle = 0.5 * gait.stance if gait.flight else 0.2
    yaw = -gait.yaw * np.cos(TWO_PI * phase) + noise[:, 0]
    roll = gait.list * np.cos(TWO_PI * (phase - middle)) + noise[:, 1]
    tilt = 0.35 * gait.lean + np.deg2rad(1.0) * np.cos(2.0 * TWO_PI * phase) + noise[:, 2]
    lean_quats = turned("YZ", heading, -lean)
    return quat.multiply(lean_quats, turned("YZX", yaw, roll, tilt))
