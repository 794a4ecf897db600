"""Legs with a pole: the knee stays on its side and never jumps."""

import numpy as np
import pytest

from motionloom.errors import ArrayError
from motionloom.motion.motion import SOFT, solve_limb
from motionloom.rotation import quat
from tests.oracles import limbs as plain

THIGH, SHANK = 0.42, 0.40
FULL = THIGH + SHANK
POLE = np.array([0.0, 0.0, 1.0])
CLOSE = 1e-9
STRAIGHT = 1e-7
"""At full stretch the knee's offset is the square root of what rounding leaves."""
FINE = 4001


def leg(flexion, side):
    """Knee and ankle (F, 3) of a hanging thigh, flexed by degrees, the shank turned sideways."""
    angle, side = np.broadcast_arrays(np.radians(flexion), np.radians(side))
    knee = np.tile([0.0, -THIGH, 0.0], (len(angle), 1))
    away = np.stack(
        [np.sin(angle) * np.sin(side), -np.cos(angle), -np.sin(angle) * np.cos(side)], axis=-1
    )
    return knee, knee + SHANK * away


def solved(knee, ankle, target, soft=SOFT):
    zero = np.zeros_like(knee)
    return solve_limb(zero, knee, ankle, target, pole=np.broadcast_to(POLE, knee.shape), soft=soft)


def random_legs(n=400):
    rng = np.random.Generator(np.random.PCG64(3))
    knee, ankle = leg(rng.uniform(-20, 140, n), rng.uniform(-30, 30, n))
    turn = quat.normalize(rng.normal(size=(n, 4)))
    pole = quat.rotate(turn, np.broadcast_to(POLE, (n, 3)))
    knee, ankle = quat.rotate(turn, knee), quat.rotate(turn, ankle)
    target = ankle + 0.2 * rng.normal(size=(n, 3))
    return knee, ankle, target, pole


def test_the_kernel_matches_its_plain_form():
    knee, ankle, target, pole = random_legs()
    zero = np.zeros_like(knee)
    for soft in (0.0, SOFT, 0.05):
        ours = solve_limb(zero, knee, ankle, target, pole=pole, soft=soft)
        wanted = plain.solve_leg(zero, knee, ankle, target, pole, soft)
        for name in ("middle", "end", "miss"):
            assert np.abs(getattr(ours, name) - getattr(wanted, name)).max() < STRAIGHT
        for name in ("q_upper", "q_lower"):
            assert quat.angle_between(getattr(ours, name), getattr(wanted, name)).max() < 1e-6


def test_bones_stay_rigid_and_turns_carry_them():
    knee, ankle, target, pole = random_legs()
    s = solve_limb(np.zeros_like(knee), knee, ankle, target, pole=pole)
    assert np.abs(np.linalg.norm(s.middle, axis=-1) - THIGH).max() < CLOSE
    assert np.abs(np.linalg.norm(s.end - s.middle, axis=-1) - SHANK).max() < CLOSE
    assert np.abs(quat.rotate(s.q_upper, knee) - s.middle).max() < CLOSE
    assert np.abs(quat.rotate(s.q_lower, ankle - knee) - (s.end - s.middle)).max() < CLOSE


def test_a_healthy_leg_whose_ankle_stays_is_left_as_it_is():
    knee, ankle = leg(np.linspace(0.5, 140, 60), 15.0)
    s = solved(knee, ankle, ankle)
    assert np.abs(s.middle - knee).max() < CLOSE
    assert quat.angle_between(s.q_upper, quat.IDENTITY).max() < 1e-6
    assert quat.angle_between(s.q_lower, quat.IDENTITY).max() < 1e-6


def test_a_leg_bent_backwards_bends_forwards_and_reaches_the_same_place():
    knee, ankle = leg(np.linspace(-25, -1, 40), 5.0)
    s = solved(knee, ankle, ankle, soft=0.0)
    assert s.miss.max() < CLOSE
    line = ankle / np.linalg.norm(ankle, axis=-1, keepdims=True)
    out = s.middle - np.sum(s.middle * line, axis=-1, keepdims=True) * line
    assert (out @ POLE > 0.0).all()


@pytest.mark.parametrize("reach", [0.7, 0.95, 0.985, 1.0, 1.1])
def test_a_knee_that_passes_through_straight_does_not_jump(reach):
    # From bent forwards to bent backwards and sideways: a solver that keeps the side flips here.
    t = np.linspace(0.0, 1.0, FINE)
    knee, ankle = leg(12.0 - 24.0 * t, 40.0 * np.sin(9.0 * t))
    s = solved(knee, ankle, ankle * (reach * FULL / np.linalg.norm(ankle, axis=-1))[:, None])
    steps = np.linalg.norm(np.diff(s.middle, axis=0), axis=-1)
    assert steps.max() < 60.0 * 0.5 / FINE  # no faster than the knee goes from one end to the other
    turns = quat.angle_between(s.q_upper[1:], s.q_upper[:-1])
    assert np.degrees(turns).max() < 0.1
    without = solve_limb(
        np.zeros_like(knee), knee, ankle, 0.9 * ankle, np.tile([1.0, 0, 0], (FINE, 1))
    )
    assert np.linalg.norm(np.diff(without.middle, axis=0), axis=-1).max() > 0.1


def test_a_target_that_moves_out_of_reach_stretches_the_leg_smoothly():
    knee, ankle = leg(np.full(FINE, 40.0), 0.0)
    wanted = np.linspace(0.8, 1.4, FINE) * FULL
    s = solved(knee, ankle, ankle * (wanted / np.linalg.norm(ankle, axis=-1))[:, None], soft=0.03)
    spans = np.linalg.norm(s.end, axis=-1)
    assert (np.diff(spans) >= -CLOSE).all()
    assert spans.max() <= FULL + CLOSE
    in_reach = wanted < 0.97 * FULL
    assert s.miss[in_reach].max() < CLOSE
    bends = np.linalg.norm(np.diff(s.middle, 2, axis=0), axis=-1)
    hard = solved(knee, ankle, ankle * (wanted / np.linalg.norm(ankle, axis=-1))[:, None], soft=0.0)
    assert bends.max() < 0.02 * np.linalg.norm(np.diff(hard.middle, 2, axis=0), axis=-1).max()


def test_no_knee_bends_by_more_than_160_degrees():
    knee, ankle = leg(np.full(50, 90.0), 0.0)
    s = solved(knee, ankle, ankle * np.linspace(0.6, 0.0, 50)[:, None])
    upper, lower = s.middle, s.end - s.middle
    cos = np.sum(upper * lower, axis=-1) / (THIGH * SHANK)
    assert np.degrees(np.arccos(cos)).max() < 160.0 + 1e-6


def test_a_pole_or_a_hinge_is_needed():
    with pytest.raises(ArrayError, match="hinge"):
        solve_limb(*np.zeros((4, 1, 3)))
