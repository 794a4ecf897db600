"""Locomotion: walking and running along a course."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.synthetic.curves import smooth_noise
from motionloom.synthetic.feet import track_foot
from motionloom.synthetic.footsteps import plan_steps
from motionloom.synthetic.gait import Gait
from motionloom.synthetic.path import Course, lay_course
from motionloom.synthetic.pelvis import GRAVITY, bounce, pelvis_turn
from motionloom.synthetic.rig import Rig
from motionloom.synthetic.take import Take
from motionloom.synthetic.torso import swinging_upper

__all__ = ["travel"]

LOOK_AHEAD_S = 0.45
MAX_LEAN = np.deg2rad(30.0)
TWO_PI = 2.0 * np.pi


def travel(
    rig: Rig,
    gait: Gait,
    *,
    turn: float,
    duration_s: float,
    fps: float,
    phase: float,
    rng: np.random.Generator,
    life: float,
) -> Take:
    """Somebody moving along an arc that turns by ``turn`` radians in all."""
    course = lay_course(
        duration_s=duration_s,
        fps=fps,
        margin_s=3.2 / gait.frequency,
        velocity=lambda t: (np.full_like(t, gait.speed), np.zeros_like(t)),
        heading=lambda t: turn * t / duration_s,
        phase=_clock(gait, phase, rng, life),
    )
    return follow(rig, gait, course, rng=rng, life=life)


def follow(rig: Rig, gait: Gait, course: Course, *, rng: np.random.Generator, life: float) -> Take:
    """Somebody moving along a course."""
    lean = _lean(course)
    here = course.frames
    times, phase = course.times[here], course.phase[here]
    tracks = tuple(
        track_foot(rig, times, *plan_steps(rig, gait, course, side, lean=lean, rng=rng, life=life))
        for side in (1, -1)
    )
    heading, ground = course.heading[here], course.ground[here]
    wander = life * np.deg2rad(0.7) * smooth_noise(rng, times, 19)
    drift = life * 0.003 * smooth_noise(rng, times, 2)
    middle = 0.5 * gait.stance
    sway = 0.5 * gait.sway * np.cos(TWO_PI * (phase - middle)) + drift[:, 0]
    surge = -0.010 * np.sin(2.0 * TWO_PI * (phase - 0.03)) * (not gait.flight)
    pelvis = np.stack(
        [
            ground[:, 0] + sway * np.cos(heading) + surge * np.sin(heading),
            bounce(gait, phase) + 0.5 * drift[:, 1],
            ground[:, 1] - sway * np.sin(heading) + surge * np.cos(heading),
        ],
        axis=-1,
    )
    ahead = np.interp(times + LOOK_AHEAD_S, course.times, course.heading)
    upper = swinging_upper(gait, phase, lean[here], ahead - heading, wander[:, 3:])
    return Take(
        rig,
        times,
        ground,
        heading,
        phase,
        (tracks[0], tracks[1]),
        pelvis,
        pelvis_turn(gait, phase, heading, lean[here], 0.5 * wander[:, :3]),
        gait.knee,
        upper,
        airborne=gait.flight,
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


def _lean(course: Course) -> FloatArray:
    """Lean into the curve, radians, leftward positive. Shape (N,)."""
    step = course.times[1] - course.times[0]
    velocity = np.gradient(course.ground, step, axis=0)
    speed = np.linalg.norm(velocity, axis=-1)
    pull = speed * np.gradient(course.heading, step)  # v^2 / r
    return np.clip(np.arctan(pull / GRAVITY), -MAX_LEAN, MAX_LEAN)
