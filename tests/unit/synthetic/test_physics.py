"""Bodies of embedded clips move as bodies can: gravity in flight, support otherwise."""

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.features.balance import centre_of_mass
from motionloom.synthetic.gait import GRAVITY, gait_at
from motionloom.synthetic.locomotion import bounce, stance_push
from motionloom.synthetic.synthetic_skeleton import rig
from motionloom.synthetic.take import body_centre

FALL = 0.35  # m/s2: the steps' timing wanders by 1 %, and half a frame is lost at each end
CURVE = 1e-4


@pytest.mark.parametrize(("kind", "speed"), [("jog", None), ("run", None), ("run", 6.0)])
def test_a_runner_falls_with_gravity_in_flight(kind, speed):
    made = synthetic.clip(kind, speed=speed)
    fall = np.diff(centre_of_mass(made.motion), 2, axis=0) * made.motion.fps**2
    air = ~made.footplants.planted.any(axis=1)
    air = air[:-2] & air[1:-1] & air[2:]
    assert air.sum() > 10
    assert fall[air, 1].mean() == pytest.approx(-GRAVITY, abs=FALL)
    assert np.abs(fall[air][:, [0, 2]]).max() < 0.5


def test_the_bounce_of_a_run_is_smooth_and_closes():
    gait = gait_at("run", speed=4.0, cadence=None, height=1.75)
    phase = np.linspace(0.0, 0.5, 20001)
    rise = bounce(gait, phase)
    time = phase / gait.frequency
    assert rise[0] == pytest.approx(rise[-1], abs=1e-9)
    force = np.gradient(np.gradient(rise, time), time)[2:-2] + GRAVITY
    wanted = np.where(phase < gait.stance, stance_push(gait, time), 0.0)[2:-2]
    inside = np.abs(phase[2:-2] - gait.stance) > 1e-3
    np.testing.assert_allclose(force[inside], wanted[inside], atol=2e-2)


def test_the_push_of_a_stance_carries_the_weight_of_a_whole_step():
    gait = gait_at("jog", speed=2.5, cadence=None, height=1.75)
    tau = np.linspace(0.0, gait.stance / gait.frequency, 20001)
    impulse = np.trapezoid(stance_push(gait, tau), tau)
    assert impulse == pytest.approx(GRAVITY * 0.5 / gait.frequency, rel=CURVE)


def test_the_centre_of_mass_agrees_with_the_one_that_is_measured():
    made = synthetic.clip("run")
    ours = body_centre(rig(1.75), made.motion.world_positions())
    np.testing.assert_allclose(ours, centre_of_mass(made.motion), atol=1e-3)


@pytest.mark.parametrize("kind", ["walk", "sneak", "turn", "sidestep", "stand", "kick", "stairs"])
def test_the_centre_of_mass_is_never_jerked(kind):
    made = synthetic.clip(kind)
    push = np.diff(centre_of_mass(made.motion), 2, axis=0) * made.motion.fps**2
    assert np.abs(push).max() < 1.5 * GRAVITY
