"""Locomotion: walking and running along a course.

A course says where the body is at every moment and in which phase its gait is. The footsteps are
planned along it, and the pelvis and the upper body follow from the phase.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError
from motionloom.rotation import quat
from motionloom.rotation.quat import smootherstep
from motionloom.synthetic.curves import smooth_noise, turned
from motionloom.synthetic.gait import GRAVITY, SWING_KEYS, Gait
from motionloom.synthetic.rolling_feet import Stance, SwingShape, track_foot
from motionloom.synthetic.synthetic_skeleton import Rig
from motionloom.synthetic.take import Setting, Take
from motionloom.synthetic.torso import swinging_upper

LOOK_AHEAD_S = 0.45
"""Seconds by which the eyes are ahead of the feet."""
SURGE = 0.6
"""Less than a bare pendulum's: the leg that swings low takes a part of the body's turning on it."""
MAX_LEAN = np.deg2rad(30.0)
"""Largest lean into a curve."""
TWO_PI = 2.0 * np.pi
PER_FRAME = 4
"""Grid points per frame: footprints are read between them, frames exactly on them."""
SCATTER_M = 0.006
"""Spread of footprints about their ideal places."""
PLATEAU = 0.2
"""Third harmonic of the push in running: makes it rise faster than half a sine."""
Steps = tuple[list[Stance], list[SwingShape]]
"""The stances of one foot, and the swings between them."""


def travel(
    setting: Setting,
    gait: Gait,
    *,
    turn: float,
    sharp: bool = False,
    duration_s: float,
    phase: float,
) -> Take:
    """Somebody moving along an arc that turns by ``turn`` radians in all.

    With ``sharp`` the turn is made within about two steps in the middle of the clip.
    """
    most = float(np.tan(MAX_LEAN)) * GRAVITY / gait.speed * duration_s / (5.0 if sharp else 1.0)
    if abs(turn) > most:
        raise ArrayError(
            f"`turn` at {gait.speed:.2f} m/s must be at most {most:.2f} radians in "
            f"{duration_s:g} s, got {turn:g}. Ask for a longer clip or a lower speed."
        )
    clock = _clock(gait, phase, setting.rng, setting.life)

    def heading(times: FloatArray) -> FloatArray:
        if sharp:
            return turn * smootherstep((times - 0.5 * duration_s) * gait.frequency / 1.25 + 0.5)
        return turn * times / duration_s

    def velocity(times: FloatArray) -> tuple[FloatArray, FloatArray]:
        speed = np.full_like(times, gait.speed)
        if sharp:
            near = (times - 0.5 * duration_s) * gait.frequency / 1.1
            speed *= 1.0 - 0.3 * min(abs(turn), 1.5) * np.exp(-(near**2))
        return speed, np.zeros_like(times)

    course = lay_course(
        duration_s=duration_s,
        fps=setting.fps,
        margin_s=3.2 / gait.frequency,
        velocity=velocity,
        heading=heading,
        phase=clock,
    )
    return follow(setting, gait, course)


def _clock(
    gait: Gait, phase: float, rng: np.random.Generator, life: float
) -> Callable[[FloatArray], FloatArray]:
    """Phase as a function of time: even, but for a little unsteadiness in the steps' timing."""
    rates = gait.frequency * np.array([0.23, 0.41, 0.67])
    starts = rng.uniform(0.0, TWO_PI, 3)
    size = 0.004 * life

    def at(times: FloatArray) -> FloatArray:
        waves = np.sin(TWO_PI * times[:, None] * rates + starts) - np.sin(starts)
        return np.asarray(phase + gait.frequency * times + size * waves.sum(axis=1))

    return at


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """The planned place of the body at every moment, from before the clip to after it."""

    times: FloatArray
    """Seconds, even; the clip runs from 0 to its duration. Shape (N,)."""
    ground: FloatArray
    """World x and z of the body, metres. Shape (N, 2)."""
    heading: FloatArray
    """Where the body faces, radians, not wrapped. Shape (N,)."""
    phase: FloatArray
    """Gait cycles, rising; whole at left heel strikes. Shape (N,)."""
    frames: slice
    """The clip's own frames on the grid."""

    def when(self, phase: float) -> float:
        """Time at which the gait reaches ``phase``."""
        return float(np.interp(phase, self.phase, self.times))

    def place(self, time: float) -> tuple[FloatArray, float]:
        """Ground position (2,) and heading at ``time``."""
        x, z = (float(np.interp(time, self.times, self.ground[:, c])) for c in (0, 1))
        return np.array([x, z]), float(np.interp(time, self.times, self.heading))


def lay_course(
    *,
    duration_s: float,
    fps: float,
    margin_s: float,
    velocity: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
    heading: Callable[[FloatArray], FloatArray],
    phase: Callable[[FloatArray], FloatArray],
) -> Course:
    """The course whose body moves at ``velocity`` (forward, leftward), from the origin at time 0.

    Parameters
    ----------
    duration_s, fps
        Of the clip; it has ``round(duration_s * fps) + 1`` frames.
    margin_s
        How far the course reaches beyond both ends of the clip, for the steps that cross them.
    velocity, heading, phase
        Functions of time, seconds (N,).
    """
    n_frames = round(duration_s * fps) + 1
    before = int(np.ceil(margin_s * fps)) * PER_FRAME
    step = 1.0 / (fps * PER_FRAME)
    n = 2 * before + (n_frames - 1) * PER_FRAME + 1
    times = np.asarray((np.arange(n) - before) * step, dtype=np.float64)
    facing = heading(times)
    forward, left = velocity(times)
    sin, cos = np.sin(facing), np.cos(facing)
    rate = np.stack(np.broadcast_arrays(forward * sin + left * cos, forward * cos - left * sin), 1)
    ground = np.zeros((n, 2))
    ground[1:] = np.cumsum(0.5 * step * (rate[1:] + rate[:-1]), axis=0)
    ground -= ground[before]
    return Course(
        times,
        ground,
        facing,
        phase(times),
        slice(before, before + (n_frames - 1) * PER_FRAME + 1, PER_FRAME),
    )


def follow(setting: Setting, gait: Gait, course: Course) -> Take:
    """Somebody moving along a course."""
    rig, rng, life = setting.rig, setting.rng, setting.life
    lean = _lean(course)
    here = course.frames
    times, phase = course.times[here], course.phase[here]
    first_step = stair_base(gait, phase)
    tracks = tuple(
        track_foot(
            rig,
            times,
            *plan_steps(
                rig, gait, course, side, lean=lean, first_step=first_step, rng=rng, life=life
            ),
        )
        for side in (1, -1)
    )
    heading, ground = course.heading[here], course.ground[here]
    wander = life * np.deg2rad(0.7) * smooth_noise(rng, times, 19)
    drift = life * 0.003 * smooth_noise(rng, times, 2)
    sway, surge = _pendulum(rig, gait, phase)
    sway = sway + drift[:, 0]
    level = gait.rise * (2.0 * phase - first_step - 0.5)
    pelvis = np.stack(
        [
            ground[:, 0] + sway * np.cos(heading) + surge * np.sin(heading),
            level + bounce(gait, phase) + 0.5 * drift[:, 1],
            ground[:, 1] - sway * np.sin(heading) + surge * np.cos(heading),
        ],
        axis=-1,
    )
    ahead = np.interp(times + LOOK_AHEAD_S, course.times, course.heading)
    return Take(
        rig,
        times,
        np.stack([ground[:, 0], level, ground[:, 1]], axis=-1),
        heading,
        phase,
        (tracks[0], tracks[1]),
        pelvis,
        pelvis_turn(gait, phase, heading, lean[here], 0.5 * wander[:, :3]),
        gait.knee,
        swinging_upper(gait, phase, lean[here], ahead - heading, wander[:, 3:]),
        carriage="clear" if gait.flight else "steady",
    )


def _lean(course: Course) -> FloatArray:
    """Lean into the curve, radians, leftward positive. Shape (N,)."""
    step = course.times[1] - course.times[0]
    velocity = np.gradient(course.ground, step, axis=0)
    speed = np.linalg.norm(velocity, axis=-1)
    pull = speed * np.gradient(course.heading, step)  # v^2 / r
    return np.asarray(np.clip(np.arctan(pull / GRAVITY), -MAX_LEAN, MAX_LEAN))


def stair_base(gait: Gait, phase: FloatArray) -> int:
    """Number of the lowest stair step stood on in a clip, counted from the left strike at phase 0.

    Steps are counted twice per cycle; the lowest one of the clip lies at height 0.
    """
    if gait.rise > 0.0:
        return int(np.floor(2.0 * (phase[0] - gait.stance))) + 1
    return int(np.floor(2.0 * phase[-1]))


def plan_steps(
    rig: Rig,
    gait: Gait,
    course: Course,
    side: int,
    *,
    lean: FloatArray,
    first_step: int = 0,
    rng: np.random.Generator,
    life: float,
) -> Steps:
    """Stances and swings of one foot all along the course.

    Parameters
    ----------
    rig, gait
        The body, and how it steps.
    course
        Where it goes.
    side
        1 for the left foot, -1 for the right.
    lean : (N,)
        Lean of the body into the curve at every moment of the course, radians, leftward positive;
        the feet are planted outside of the body's path by it.
    first_step
        The step, two to a cycle, whose ground is at height 0; used on stairs.
    rng
        Where the scatter comes from.
    life
        Size of the scatter in place; 0 for none.
    """
    offset = 0.0 if side > 0 else 0.5
    first = int(np.ceil(course.phase[0] - offset)) + 1
    last = int(np.floor(course.phase[-1] - offset)) - 1
    stances: list[Stance] = []
    swings: list[SwingShape] = []
    # Half of stature: the height over the ground at which the pull of a curve acts.
    high = 0.53 * rig.height
    for k in range(first, last + 1):
        cycle = k + offset
        scatter = life * SCATTER_M * rng.standard_normal(2)
        wobble = 1.0 + 0.02 * life * rng.standard_normal(6)
        over = course.when(cycle + gait.under)
        ground, heading = course.place(over)
        outward = high * np.tan(float(np.interp(over, course.times, lean)))
        yaw = heading + side * gait.toe_out + 0.02 * life * float(rng.standard_normal())
        across = side * 0.5 * gait.width + scatter[0] - outward
        x = ground[0] + across * np.cos(heading) + scatter[1] * np.sin(heading)
        z = ground[1] - across * np.sin(heading) + scatter[1] * np.cos(heading)
        stair = gait.rise * (round(2.0 * cycle) - first_step)
        ahead = rig.ball[2]
        ball = np.array([x + ahead * np.sin(yaw), rig.ball_height + stair, z + ahead * np.cos(yaw)])
        stances.append(
            Stance(
                strike=course.when(cycle),
                flat_at=course.when(cycle + gait.flat_at),
                heel_off=course.when(cycle + gait.heel_off),
                toe_off=course.when(cycle + gait.stance),
                ball=ball,
                yaw=yaw,
                strike_pitch=gait.strike_pitch * wobble[0],
                off_pitch=gait.off_pitch * wobble[1],
                base_pitch=gait.base_pitch,
            )
        )
        swings.append(
            SwingShape(
                SWING_KEYS,
                tuple(value * wobble[2] for value in gait.swing_pitch),
                tuple(value * wobble[3] for value in gait.swing_lift),
                arrive=gait.arrive,
                drop=gait.drop,
            )
        )
    return stances, swings[:-1]


def _pendulum(rig: Rig, gait: Gait, phase: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How far the centre of mass sways leftward and surges forward about its course. (F,) each.

    A body on one foot is an inverted pendulum: it is pushed away from the foot at ``g / h`` times
    its distance. The first harmonic of the feet's places across and along the course, divided by
    ``1 + w^2 h / g``, is the sway that it can keep up.
    """
    swing = TWO_PI * gait.frequency
    slow = 0.55 * rig.height / GRAVITY
    across = 4.0 / np.pi * 0.5 * gait.width / (1.0 + swing**2 * slow)
    middle = 0.5 * gait.stance
    sway = across * np.cos(TWO_PI * (phase - middle))
    if gait.flight:
        return sway, _brake_and_drive(rig, gait, phase)
    step = 0.5 * gait.speed / gait.frequency
    rolled = rig.ball[2] - rig.heel[2]  # the foot itself carries the weight forward by this
    along = SURGE * max(step - rolled, 0.0) / np.pi / (1.0 + 4.0 * swing**2 * slow)
    both = 0.5 * (gait.stance - 0.5)  # middle of the time with both feet down
    return sway, along * np.sin(2.0 * TWO_PI * (phase - both))


def _brake_and_drive(rig: Rig, gait: Gait, phase: FloatArray) -> FloatArray:
    """Forward surge (F,) of a runner: slowed before the middle of each stance, then driven on.

    The ground pushes along the line from the foot to the centre of mass, in flight not at all.
    """
    n = 512
    tau = np.arange(n) / n * 0.5 / gait.frequency  # since strike, over one step
    stand = gait.stance / gait.frequency
    lever = gait.speed * (tau - 0.5 * stand) / (0.55 * rig.height)
    push = np.where(tau < stand, stance_push(gait, tau), 0.0) * lever
    step = tau[1]
    speed = np.cumsum(push - push.mean()) * step
    surge = np.cumsum(speed - speed.mean()) * step
    return np.asarray(
        np.interp(phase % 0.5 * 2.0 * n, np.arange(n + 1), np.append(surge, surge[0]))
    )


def bounce(gait: Gait, phase: FloatArray) -> FloatArray:
    """Rise of the pelvis over its mean course through the cycle, metres. Shape (F,).

    Walking: an inverted pendulum, lowest just after each strike. Running: a parabola in flight;
    in stance a push that grows from nothing, stays, and fades to nothing bends it, so that the
    acceleration has no jump.
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
    """Push with which one stance carries the weight of stance and flight together."""
    stand, fly = _stand_and_fly(gait)
    return GRAVITY * (stand + fly) / (2.0 * stand / np.pi * (1.0 + PLATEAU / 3.0))


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
