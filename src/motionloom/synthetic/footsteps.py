"""Footsteps: where and when each foot stands, planned along a course."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.synthetic.gait import SWING_KEYS, Gait
from motionloom.synthetic.ground_path import Course
from motionloom.synthetic.rolling_feet import Stance, SwingShape
from motionloom.synthetic.synthetic_skeleton import Rig

Steps = tuple[list[Stance], list[SwingShape]]
"""The stances of one foot, and the swings between them."""

SCATTER_M = 0.006
"""Spread of footprints about their ideal places."""


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
        the feet are planted that much outside of the body's path.
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
