"""Clips made step by step: standing, boxing, turning on the spot, side-steps, a kick."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError
from motionloom.rotation import quat
from motionloom.rotation.quat import smootherstep
from motionloom.synthetic.actions import OUT_S, punch_times
from motionloom.synthetic.curves import keyed, smooth_noise, turned
from motionloom.synthetic.gait import GRAVITY, Gait
from motionloom.synthetic.rolling_feet import FootTrack, Stance, SwingShape, track_foot
from motionloom.synthetic.synthetic_skeleton import Rig
from motionloom.synthetic.take import Setting, Take
from motionloom.synthetic.torso import raise_guard, swinging_upper

LEAD_S = 0.5
"""Standing before the first step and after the last."""
TOE_OUT = np.deg2rad(9.0)
"""How far feet at ease point outwards."""
LOOK_AHEAD_S = 0.3
SHIFT_S = 0.28
"""How long the weight takes to go from one foot to the other."""


def stand(setting: Setting, gait: Gait, *, duration_s: float) -> Take:
    """Standing at ease, the weight wandering from foot to foot."""
    take = step_about(setting, gait, _at_ease(setting.rig), [], duration_s=duration_s)
    rng, life = setting.rng, setting.life
    rate, start = rng.uniform(0.12, 0.2), rng.uniform(0.0, 2.0 * np.pi)
    lean = life * np.sin(2.0 * np.pi * rate * take.times + start)
    take.pelvis[:, 0] += 0.025 * lean
    take.upper.chest_roll -= 0.03 * lean
    return take


def _at_ease(rig: Rig, *, stagger: float = 0.03) -> tuple[FootPlacement, FootPlacement]:
    half = 0.052 * rig.height
    return FootPlacement(half, stagger, TOE_OUT), FootPlacement(-half, -stagger, -TOE_OUT)


def box(setting: Setting, gait: Gait, *, duration_s: float) -> Take:
    """Somebody ready to punch; the arms are put on by the action."""
    size = setting.rig.height / 1.75
    feet = (
        FootPlacement(0.10 * size, 0.22 * size, np.deg2rad(10.0)),
        FootPlacement(-0.13 * size, -0.22 * size, np.deg2rad(-40.0)),
    )
    moves = [
        Move(
            1,
            start + OUT_S - 0.02,
            start + OUT_S - 0.02,
            feet[1],
            None,
            peel_s=0.2,
            roll_s=0.26,
            off_pitch=np.deg2rad(26.0),
            strike_pitch=np.deg2rad(26.0),
        )
        for start in punch_times(duration_s)[1::2]
    ]
    posture = dataclasses.replace(gait, knee=np.deg2rad(24.0), lean=np.deg2rad(4.0))
    return step_about(setting, posture, feet, moves, duration_s=duration_s)


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
    sign = 1.0 if speed > 0.0 else -1.0
    leading = 0 if speed > 0.0 else 1
    feet = _at_ease(rig, stagger=0.0)
    moves = []
    for i in range(2 * n_pairs):
        side = leading if i % 2 == 0 else 1 - leading
        x = feet[side].x + sign * stride * (i // 2 + 1) + 0.006 * life * rng.standard_normal()
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


@dataclass(frozen=True, slots=True)
class FootPlacement:
    """Where a foot stands: its ankle over the ground, and where it points."""

    x: float
    z: float
    yaw: float

    def ball(self, rig: Rig) -> FloatArray:
        """The ball of the foot on the ground, world, metres. Shape (3,)."""
        ahead = rig.ball[2]
        return np.array(
            [self.x + ahead * np.sin(self.yaw), rig.ball_height, self.z + ahead * np.cos(self.yaw)]
        )


@dataclass(frozen=True, slots=True)
class Move:
    """One foot leaving the ground and standing again.

    Without a shape only the heel rises and comes down again: then ``land_at`` is ``lift_at``.
    """

    side: int
    """0 left, 1 right."""
    lift_at: float
    land_at: float
    to: FootPlacement
    shape: SwingShape | None
    peel_s: float = 0.16
    """From the heel's rise to the toe's."""
    roll_s: float = 0.075
    """From strike to flat."""
    off_pitch: float = np.deg2rad(28.0)
    strike_pitch: float = np.deg2rad(8.0)
    early: float = 0.25
    """Part of the shift of weight towards the foot that is over when it lands."""


def step_about(
    setting: Setting,
    gait: Gait,
    feet: tuple[FootPlacement, FootPlacement],
    moves: Sequence[Move],
    *,
    duration_s: float,
) -> Take:
    """A body that stands on ``feet`` and makes ``moves``, in time order.

    ``gait`` gives the posture (lean, arms, knees); nothing in it moves here.
    """
    rig, fps, rng, life = setting.rig, setting.fps, setting.rng, setting.life
    times = np.arange(round(duration_s * fps) + 1) / fps
    stances = [_stances(rig, feet[side], [m for m in moves if m.side == side]) for side in (0, 1)]
    tracks = tuple(track_foot(rig, times, *both) for both in stances)
    left, right = tracks
    weight = _weight(times, moves)
    heading = 0.5 * (left.yaw + right.yaw - feet[0].yaw - feet[1].yaw)
    wander = life * np.deg2rad(0.8) * smooth_noise(rng, times, 19)
    drift = life * 0.007 * smooth_noise(rng, times, 3, slow=0.08)
    over = [_middle(rig, track) for track in tracks]
    ground = _balanced(over[1] + weight[:, None] * (over[0] - over[1]), rig, fps)
    pelvis = np.stack(
        [ground[:, 0] + drift[:, 0], 0.3 * drift[:, 1], ground[:, 1] + drift[:, 2]], axis=-1
    )
    roll = 2.0 * gait.list * (weight - 0.5) + 0.5 * wander[:, 1]
    tilt = 0.35 * gait.lean + 0.5 * wander[:, 2]
    pelvis_quats = quat.multiply(
        turned("Y", heading), turned("YZX", 0.5 * wander[:, 0], roll, tilt)
    )
    ahead = np.interp(times + LOOK_AHEAD_S, times, heading)
    still = np.zeros_like(times)
    upper = swinging_upper(gait, still, still, ahead - heading, wander[:, 3:])
    upper.chest_roll += 0.06 * (weight - 0.5)
    level = np.stack([ground[:, 0], still, ground[:, 1]], axis=-1)
    return Take(
        rig, times, level, heading, still + np.nan, (left, right), pelvis, pelvis_quats,
        gait.knee, upper, "follow",
    )  # fmt: skip


def _stances(
    rig: Rig, start: FootPlacement, moves: Sequence[Move]
) -> tuple[list[Stance], list[SwingShape]]:
    """The stances of one foot, the first from long before the clip, the last until long after."""
    long = 1e6
    stances: list[Stance] = []
    strike, flat, pitch, footing = -long, -long, 0.0, start
    for move in moves:
        stances.append(
            Stance(
                strike, flat, move.lift_at - move.peel_s, move.lift_at,
                footing.ball(rig), footing.yaw, pitch, move.off_pitch,
            )
        )  # fmt: skip
        strike, flat = move.land_at, move.land_at + move.roll_s
        pitch, footing = move.strike_pitch, move.to
    stances.append(Stance(strike, flat, long, 2 * long, footing.ball(rig), footing.yaw, pitch, 0.1))
    # A heel that only rises has no swing, and the shape that fills its place is never read.
    return stances, [move.shape or SwingShape((), (), ()) for move in moves]


def _weight(times: FloatArray, moves: Sequence[Move]) -> FloatArray:
    """Part of the weight on the left foot, 0 to 1. Shape (F,)."""
    weight = np.full_like(times, 0.5)
    for move in moves:
        if move.shape is None:
            continue
        leaving = smootherstep((times - move.lift_at) / SHIFT_S + 0.75)
        back = smootherstep((times - move.land_at) / SHIFT_S + move.early)
        weight += (0.43 if move.side == 1 else -0.43) * (leaving - back)
    return np.clip(weight, 0.04, 0.96)


def _balanced(feet: FloatArray, rig: Rig, fps: float) -> FloatArray:
    """Path of a centre of mass (F, 2) that the feet can hold up, pushing at ``feet`` (F, 2).

    An inverted pendulum obeys ``x - (h / g) x'' = p``. The one solution that does not run away is
    ``p`` smoothed by a two-sided exponential, which is one filter forward and one backward.
    """
    keep = float(np.exp(-1.0 / (fps * np.sqrt(0.55 * rig.height / GRAVITY))))
    path = feet
    for _ in range(2):
        # From where it stands, as if it had stood there for ever.
        follow = accumulate(
            (1.0 - keep) * path, lambda now, push: keep * now + push, initial=path[0]
        )
        path = np.array(list(follow)[:0:-1])
    return path


def _middle(rig: Rig, track: FootTrack) -> FloatArray:
    """Ground point a little ahead of the ankle, where a standing body's weight falls. (F, 2)."""
    ahead = 0.25 * rig.ball[2] * np.stack([np.sin(track.yaw), np.cos(track.yaw)], axis=-1)
    return np.asarray(track.ankle[:, [0, 2]] + ahead)
