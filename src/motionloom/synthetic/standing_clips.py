"""Clips made step by step: standing, turning on the spot, side-steps, a kick."""

from __future__ import annotations

import numpy as np

from motionloom.errors import ArrayError
from motionloom.rotation.easing import smootherstep
from motionloom.synthetic.curves import keyed
from motionloom.synthetic.gait import Gait
from motionloom.synthetic.rolling_feet import SwingShape
from motionloom.synthetic.stepping import FootPlacement, Move, step_about
from motionloom.synthetic.synthetic_skeleton import Rig
from motionloom.synthetic.take import Setting, Take
from motionloom.synthetic.torso import raise_guard

LEAD_S = 0.5
"""Standing before the first step and after the last."""
TOE_OUT = np.deg2rad(9.0)


def _at_ease(rig: Rig, *, stagger: float = 0.03) -> tuple[FootPlacement, FootPlacement]:
    half = 0.052 * rig.height
    return FootPlacement(half, stagger, TOE_OUT), FootPlacement(-half, -stagger, -TOE_OUT)


def stand(setting: Setting, gait: Gait, *, duration_s: float) -> Take:
    """Standing at ease, the weight wandering from foot to foot."""
    take = step_about(setting, gait, _at_ease(setting.rig), [], duration_s=duration_s)
    rng, life = setting.rng, setting.life
    rate, start = rng.uniform(0.12, 0.2), rng.uniform(0.0, 2.0 * np.pi)
    lean = life * np.sin(2.0 * np.pi * rate * take.times + start)
    take.pelvis[:, 0] += 0.025 * lean
    take.upper.chest_roll -= 0.03 * lean
    return take


def turn_in_place(
    setting: Setting, gait: Gait, *, turn: float, cadence: float | None, duration_s: float | None
) -> Take:
    """Turning on the spot by stepping, the foot on the inside of the turn first."""
    rig = setting.rig
    n_pairs = max(1, int(np.ceil(abs(turn) / np.deg2rad(50.0))))
    per_minute = 96.0 if cadence is None else _cadence(cadence, 50.0, 140.0, "turn on the spot")
    beat = 60.0 / per_minute
    needed = 2 * n_pairs * beat + 2 * LEAD_S
    duration_s = needed if duration_s is None else _long_enough(duration_s, needed, "turn")
    start = 0.5 * (duration_s - needed) + LEAD_S
    inner = 0 if turn >= 0.0 else 1
    feet = _at_ease(rig, stagger=0.0)
    moves = []
    for i in range(2 * n_pairs):
        side = inner if i % 2 == 0 else 1 - inner
        heading = turn * (i // 2 + 1) / n_pairs
        to = _turned(feet[side], heading)
        lift = start + i * beat + 0.15 * beat
        moves.append(Move(side, lift, lift + 0.62 * beat, to, _low_step(rig), peel_s=0.12))
    return step_about(setting, gait, feet, moves, duration_s=duration_s)


def sidestep(
    setting: Setting,
    gait: Gait,
    *,
    speed: float | None,
    cadence: float | None,
    duration_s: float | None,
) -> Take:
    """Stepping sideways, leftward, or rightward where the speed is negative; feet never cross."""
    rig, rng, life = setting.rig, setting.rng, setting.life
    speed = 0.32 * rig.height / 1.75 if speed is None else float(speed)
    per_minute = 100.0 if cadence is None else _cadence(cadence, 50.0, 130.0, "side-step")
    stride = abs(speed) * 120.0 / per_minute
    if not 0.06 <= stride / rig.height <= 0.25:
        low, high = (part * rig.height * per_minute / 120.0 for part in (0.06, 0.25))
        raise ArrayError(
            f"`speed` of side-steps at {per_minute:.0f} steps per minute must be {low:.2f} to "
            f"{high:.2f} m/s either way, got {speed:g}."
        )
    beat = 60.0 / per_minute
    duration_s = 4.0 if duration_s is None else float(duration_s)
    n_pairs = max(1, int((duration_s - 2 * LEAD_S) / (2 * beat)))
    duration_s = _long_enough(duration_s, 2 * n_pairs * beat + 2 * LEAD_S, "sidestep")
    start = 0.5 * (duration_s - 2 * n_pairs * beat)
    way = 1.0 if speed > 0.0 else -1.0
    leading = 0 if speed > 0.0 else 1
    feet = _at_ease(rig, stagger=0.0)
    moves = []
    for i in range(2 * n_pairs):
        side = leading if i % 2 == 0 else 1 - leading
        x = feet[side].x + way * stride * (i // 2 + 1) + 0.006 * life * rng.standard_normal()
        to = FootPlacement(x, 0.006 * life * rng.standard_normal(), feet[side].yaw)
        lift = start + i * beat + 0.12 * beat
        moves.append(
            Move(side, lift, lift + 0.6 * beat, to, _low_step(rig), peel_s=0.12, early=0.65)
        )
    return step_about(setting, gait, feet, moves, duration_s=duration_s)


def kick(setting: Setting, gait: Gait, *, duration_s: float | None) -> Take:
    """A front kick with the right foot: chamber, extend, back to the chamber, down."""
    rig = setting.rig
    needed = 2.0
    duration_s = 2.6 if duration_s is None else _long_enough(duration_s, needed, "kick")
    lift = 0.5 * (duration_s - needed) + 0.55
    size = rig.height / 1.75
    span = 1.05
    feet = (
        FootPlacement(0.08 * size, 0.10 * size, TOE_OUT),
        FootPlacement(-0.10 * size, -0.14 * size, -2.0 * TOE_OUT),
    )
    ways = size * np.array(
        [
            [0.0, 0.12, 0.04],
            [0.0, 0.42, 0.36],
            [0.0, 0.79, 1.055],
            [0.0, 0.46, 0.44],
            [0.0, 0.12, 0.10],
        ]
    )
    # Straight ahead of the body, though the foot points a little out.
    ways[:, 0] += 0.04 * size + ways[:, 2] * np.tan(2.0 * TOE_OUT)
    shape = SwingShape(
        (0.14, 0.36, 0.50, 0.66, 0.88),
        tuple(np.deg2rad([50.0, 48.0, -28.0, 34.0, 14.0])),
        (0.0,) * 5,
        waypoints=tuple(map(tuple, ways)),
    )
    down = FootPlacement(feet[1].x, feet[1].z, feet[1].yaw)
    move = Move(1, lift, lift + span, down, shape, peel_s=0.2, roll_s=0.12)
    take = step_about(setting, gait, feet, [move], duration_s=duration_s)
    u = np.clip((take.times - lift) / span, -0.4, 1.5)
    at = (-0.4, 0.0, 0.36, 0.50, 0.66, 1.0, 1.5)
    back = keyed(u, at, np.deg2rad([0.0, 0.0, 6.0, 20.0, 8.0, 0.0, 0.0]))
    twist = keyed(u, at, np.deg2rad([0.0, -6.0, 4.0, 16.0, 6.0, 0.0, 0.0]))
    up = take.upper
    up.chest_lean -= back
    up.chest_yaw -= 0.6 * twist
    take.lean_pelvis(tilt=-0.8 * back, yaw=twist)
    raise_guard(up, smootherstep((take.times - lift) / 0.35 + 1.1) - smootherstep((u - 1.0) / 0.35))
    up.right.flex -= 0.8 * keyed(u, at, np.array([0.0, 0.0, 0.3, 0.9, 0.4, 0.0, 0.0]))
    up.right.elbow -= 0.9 * keyed(u, at, np.array([0.0, 0.0, 0.2, 0.9, 0.4, 0.0, 0.0]))
    return take


def _low_step(rig: Rig) -> SwingShape:
    size = rig.height / 1.75
    return SwingShape(
        (0.3, 0.7), tuple(np.deg2rad([26.0, 8.0])), (0.055 * size, 0.045 * size), 0.15, 0.25
    )


def _turned(footing: FootPlacement, heading: float) -> FootPlacement:
    cos, sin = np.cos(heading), np.sin(heading)
    x = footing.x * cos + footing.z * sin
    return FootPlacement(x, footing.z * cos - footing.x * sin, footing.yaw + heading)


def _cadence(cadence: float, low: float, high: float, what: str) -> float:
    if not low <= cadence <= high:
        raise ArrayError(
            f"`cadence` of a {what} must be {low:g} to {high:g} steps per minute, got {cadence:g}."
        )
    return float(cadence)


def _long_enough(duration_s: float, needed: float, kind: str) -> float:
    if duration_s < needed - 1e-9:
        raise ArrayError(
            f"`duration_s` must be at least {needed:.2f} for this {kind}, got {duration_s:g}."
        )
    return float(duration_s)
