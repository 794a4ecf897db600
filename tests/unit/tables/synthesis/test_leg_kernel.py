"""Legs that follow their feet, and bodies that come down, against their plain forms."""

from dataclasses import replace

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError
from motionloom.motion.motion import forward_kinematics
from motionloom.rotation import quat
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.synthesis.synthesis import NOT_HELD, Foot, follow_feet, lower_root, rig_of
from tests.oracles import leg_kernel as plain


@pytest.fixture(scope="module")
def walk():
    """A rig, and joints and local rotations of a walk."""
    frames = frames_of([ml.synthetic.clip("walk", duration_s=1.5).motion])
    motion = frames.motion(0, frames.n_rows - 1)
    quats = np.array(motion.local_quats)
    return rig_of(frames), forward_kinematics(motion.skeleton, motion.root_positions, quats), quats


def random_holds(rng, n):
    held = np.where(rng.random((2, n // 5 + 1)) < 0.5, 0, NOT_HELD)
    return np.repeat(held, 5, axis=1)[:, :n].copy()


@pytest.mark.parametrize("size", [0.0, 1e-9, 0.01, 0.1, 0.5])
@pytest.mark.parametrize("side", [0, 1])
def test_legs_match_their_plain_form(walk, size, side):
    rig, (positions, world), quats = walk
    n = len(quats)
    rng = np.random.Generator(np.random.PCG64(7))
    held = random_holds(rng, n)[side]
    shifts = size * rng.normal(size=(n, 3))
    tilts = np.where(rng.random(n) < 0.4, size * rng.random(n), 0.0)
    drops = np.where(rng.random(n) < 0.6, 0.2 * size * rng.random(n), 0.0)
    out = quats.copy()
    foot = Foot(side, held, shifts, shifts)
    missed = follow_feet(rig, foot, shifts, tilts, drops, (positions, world), out)
    given = rig, side, held, shifts, tilts, drops, positions, world, quats
    expected, worst = plain.follow_feet(*given)
    assert np.abs(out - expected).max() < 1e-9
    assert missed == pytest.approx(worst, abs=1e-12)
    assert (out == quats).all() == (size < 1e-8)


def test_a_heel_that_comes_up_to_reach_does_not_drop_when_the_hold_ends(walk):
    rig, (positions, world), quats = walk
    n, side = len(quats), 0
    ankle, at = rig.legs[side, 2], np.arange(n)
    held = np.where((at > 20) & (at <= 40), 0, NOT_HELD)
    shifts, none = np.zeros((n, 3)), np.zeros(n)
    shifts[:, 2] = -np.interp(at, [30, 40, 60], [0.0, 0.5, 0.0])  # ever farther behind
    out = quats.copy()
    foot = Foot(side, held, shifts, shifts)
    follow_feet(rig, foot, shifts, none, none, (positions, world), out)
    frames = frames_of([ml.synthetic.clip("walk", duration_s=1.5).motion])
    root = frames.motion(0, n - 1).root_positions
    made = forward_kinematics(frames.skeleton, root, out)[1][:, ankle]
    rolled = np.degrees(quat.angle_between(world[:, ankle], made))
    assert rolled[40] > 20.0
    assert np.abs(np.diff(rolled)).max() < 0.2 * rolled.max()


@pytest.mark.parametrize("n", [1, 2, 9, 60])
@pytest.mark.parametrize("size", [0.0, 0.05, 0.3, 2.0])
def test_bodies_come_down_as_in_the_plain_form(walk, n, size):
    rig, (positions, _), _ = walk
    rng = np.random.Generator(np.random.PCG64(n))
    held, shifts = random_holds(rng, n), size * rng.normal(size=(2, n, 3))
    part = np.ascontiguousarray(positions[:n])
    drops = lower_root(rig, part, held, shifts)
    assert np.abs(drops - plain.lower_root(part, rig.legs, held, shifts)).max() < 1e-12


def test_a_leg_of_joints_that_are_not_there_is_refused(walk):
    rig, (positions, world), quats = walk
    n = len(quats)
    rig = replace(rig, legs=np.array([[1, 2, 3], [4, 5, 99]]))
    held, none, shifts = np.zeros((2, n), dtype=np.int64), np.zeros(n), np.zeros((n, 3))
    with pytest.raises(ArrayError, match="sizes do not fit"):
        lower_root(rig, positions, held, np.zeros((2, n, 3)))
    foot = Foot(1, held[1], shifts, shifts)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        follow_feet(rig, foot, shifts, none, none, (positions, world), quats.copy())
