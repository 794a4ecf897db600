"""Stepping: a standing body that moves one foot at a time, its weight over the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.rotation import quat
from motionloom.rotation.easing import smootherstep
from motionloom.synthetic.curves import smooth_noise, turned
from motionloom.synthetic.gait import Gait
from motionloom.synthetic.pelvis import GRAVITY
from motionloom.synthetic.rolling_feet import FootTrack, Stance, SwingShape, track_foot
from motionloom.synthetic.synthetic_skeleton import Rig
from motionloom.synthetic.take import Setting, Take
from motionloom.synthetic.torso import swinging_upper

LOOK_AHEAD_S = 0.3
SHIFT_S = 0.28
"""How long the weight takes to go from one foot to the other."""


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
    """Way of a centre of mass (F, 2) that the feet can hold up, pushing at ``feet`` (F, 2).

    An inverted pendulum obeys ``x - (h / g) x'' = p``. The one solution that does not run away is
    ``p`` smoothed by a two-sided exponential, which is one filter forward and one backward.
    """
    keep = float(np.exp(-1.0 / (fps * np.sqrt(0.55 * rig.height / GRAVITY))))
    way = feet
    for _ in range(2):
        # From where it stands, as if it had stood there for ever.
        follow = accumulate((1.0 - keep) * way, lambda now, push: keep * now + push, initial=way[0])
        way = np.array(list(follow)[:0:-1])
    return way


def _middle(rig: Rig, track: FootTrack) -> FloatArray:
    """Ground point a little ahead of the ankle, where a standing body's weight falls. (F, 2)."""
    ahead = 0.25 * rig.ball[2] * np.stack([np.sin(track.yaw), np.cos(track.yaw)], axis=-1)
    return np.asarray(track.ankle[:, [0, 2]] + ahead)
