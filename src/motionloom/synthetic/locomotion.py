"""Locomotion: walking and running along a course."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError
from motionloom.rotation.easing import smootherstep
from motionloom.synthetic.curves import smooth_noise
from motionloom.synthetic.footsteps import plan_steps, stair_base
from motionloom.synthetic.gait import Gait
from motionloom.synthetic.ground_path import Course, lay_course
from motionloom.synthetic.pelvis import GRAVITY, bounce, pelvis_turn, stance_push
from motionloom.synthetic.rolling_feet import track_foot
from motionloom.synthetic.synthetic_skeleton import Rig
from motionloom.synthetic.take import Setting, Take
from motionloom.synthetic.torso import swinging_upper

LOOK_AHEAD_S = 0.45
SURGE = 0.6
"""Less than a bare pendulum's: the leg that swings low takes a part of the body's turning on it."""
MAX_LEAN = np.deg2rad(30.0)
TWO_PI = 2.0 * np.pi


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


def _pendulum(rig: Rig, gait: Gait, phase: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How far the centre of mass sways leftward and surges forward about its course. (F,) each.

    A body on one foot is an inverted pendulum: it is pushed away from the foot at ``g / h`` times
    its distance. The first harmonic of the feet's places across and along the course, divided by
    ``1 + w^2 h / g``, is the way that it can keep up.
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
    way = np.cumsum(speed - speed.mean()) * step
    return np.asarray(np.interp(phase % 0.5 * 2.0 * n, np.arange(n + 1), np.append(way, way[0])))


def _lean(course: Course) -> FloatArray:
    """Lean into the curve, radians, leftward positive. Shape (N,)."""
    step = course.times[1] - course.times[0]
    velocity = np.gradient(course.ground, step, axis=0)
    speed = np.linalg.norm(velocity, axis=-1)
    pull = speed * np.gradient(course.heading, step)  # v^2 / r
    return np.asarray(np.clip(np.arctan(pull / GRAVITY), -MAX_LEAN, MAX_LEAN))
