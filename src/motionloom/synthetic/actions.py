"""Actions of the upper body, on top of standing or of any gait: wave, carry, push, punch."""

from __future__ import annotations

import dataclasses

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.rotation.quat import smootherstep
from motionloom.synthetic.curves import keyed
from motionloom.synthetic.gait import Gait
from motionloom.synthetic.take import Take
from motionloom.synthetic.torso import raise_guard

ACTIONS = ("carry", "punch", "push", "wave")
WALKED = {"carry": 1.1, "push": 0.9}
"""Actions that are done walking unless a speed says otherwise, and how fast, metres per second."""

PUNCH_EVERY_S = 0.85
OUT_S = 0.28
"""From the start of a punch to its reach."""


def suit_gait(action: str | None, gait: Gait) -> Gait:
    """The gait of somebody whose hands are busy."""
    if action == "carry":
        gait = dataclasses.replace(gait, lean=gait.lean - np.deg2rad(7.0))
    elif action == "push":
        # The feet stay behind the body, which leans on what it pushes.
        gait = dataclasses.replace(
            gait,
            lean=max(gait.lean, np.deg2rad(24.0)),
            knee=max(gait.knee, np.deg2rad(12.0)),
            under=max(gait.under - 0.06, 0.3 * gait.under),
        )
    else:
        return gait
    return dataclasses.replace(gait, arm=0.0, yaw=0.6 * gait.yaw)


def act(action: str, take: Take) -> None:
    """Put an action on a take."""
    {"carry": _carry, "push": _push, "wave": _wave, "punch": _punch}[action](take)


def _carry(take: Take) -> None:
    """A box held before the belly: hands fixed to the chest."""
    up, whole = take.upper, np.ones_like(take.times)
    for arm in (up.left, up.right):
        arm.move(whole, flex=6.0, out=14.0, twist=16.0, elbow=84.0, pronate=-35.0, wrist=8.0)
        arm.move(whole, shrug=1.5, reach=4.0)
    up.head_pitch += np.deg2rad(4.0)


def _push(take: Take) -> None:
    """Both palms on something heavy, arms nearly straight."""
    up, whole = take.upper, np.ones_like(take.times)
    for arm in (up.left, up.right):
        arm.move(whole, flex=90.0, out=6.0, twist=8.0, elbow=18.0, pronate=72.0, wrist=-62.0)
        arm.move(whole, shrug=2.0, reach=10.0)
    up.chest_yaw *= 0.5
    up.head_pitch += np.deg2rad(2.0)


def _wave(take: Take) -> None:
    """The right hand up and to and fro, then down again."""
    times, end = take.times, float(take.times[-1])
    up, down = 0.12 * end, 0.88 * end
    raised = smootherstep((times - up) / 0.6 + 0.5) - smootherstep((times - down) / 0.6 + 0.5)
    swing = np.sin(2.0 * np.pi * 1.7 * (times - up)) * raised**2
    arm, body = take.upper.right, take.upper
    arm.move(raised, flex=28.0, out=68.0, twist=-72.0, elbow=92.0 + 22.0 * swing, pronate=0.0)
    arm.move(raised, wrist=0.0, shrug=9.0)
    arm.wrist = arm.wrist + np.deg2rad(12.0) * np.cos(2.0 * np.pi * 1.7 * (times - up)) * raised**2
    body.chest_roll += np.deg2rad(3.0) * raised
    body.head_roll -= np.deg2rad(2.0) * raised


def punch_times(duration_s: float) -> list[float]:
    """When each punch starts: left and right hand by turns, the first one left."""
    n = max(1, int((duration_s - 0.6) / PUNCH_EVERY_S))
    start = 0.5 * (duration_s - n * PUNCH_EVERY_S) + 0.15
    return [start + i * PUNCH_EVERY_S for i in range(n)]


def _punch(take: Take) -> None:
    """Left and right straights by turns out of a guard: hips, then shoulder, then elbow."""
    up, times = take.upper, take.times
    raise_guard(up, np.ones_like(times))
    stands = bool(np.isnan(take.phase).all())
    base = np.deg2rad(-28.0) if stands else 0.0
    hips, chest = np.full_like(times, base), np.full_like(times, base)
    for i, start in enumerate(punch_times(float(times[-1]))):
        right = i % 2 == 1
        side, sign = (up.right, 1.0) if right else (up.left, -1.0)
        size = 1.0 if right else 0.35
        turn = sign * size * np.deg2rad(62.0 if stands else 40.0)
        hips += sign * size * np.deg2rad(38.0) * _thrust(times, start, 0.0)
        chest += turn * _thrust(times, start, 0.03)
        # The fist goes straight ahead, whichever way the chest has turned by then.
        out = sign * np.rad2deg(base + turn) + 2.0
        shoulder, elbow = _thrust(times, start, 0.05), _thrust(times, start, 0.07)
        side.move(shoulder, flex=86.0, out=out, twist=6.0, reach=16.0, shrug=5.0)
        side.move(elbow, elbow=8.0, pronate=70.0)
    take.lean_pelvis(yaw=hips if stands else 0.4 * (hips - base))
    up.chest_yaw = (0.3 * up.chest_yaw + chest) if stands else up.chest_yaw + chest
    up.chest_lean += np.deg2rad(6.0)
    up.head_pitch += np.deg2rad(8.0)


def _thrust(times: FloatArray, start: float, late: float) -> FloatArray:
    """0, out to 1, and back, ``late`` seconds behind the hips."""
    at = np.array([0.0, 0.0, OUT_S - late + 0.02, OUT_S + 0.05, 0.62, 0.66]) + start + late
    at[0] = at[1] - 0.05
    values = np.array([0.0, 0.0, 1.0, 0.97, 0.0, 0.0])
    inside = keyed(times, tuple(at), values)
    return np.asarray(np.clip(inside, 0.0, 1.02))
