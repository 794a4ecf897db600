"""Calm legs: steps that are too fast are found and smoothed, everything else stays."""

import numpy as np
import pytest

from motionloom.cleanup.calm import (
    FREE_DEG_S,
    OVER_OWN,
    Leg,
    calm_legs,
    steps_too_fast,
)
from motionloom.motion.body import BodyMap
from motionloom.rotation import quat
from motionloom.synthetic import clip

FPS = 120.0


@pytest.fixture(scope="module")
def walk():
    return clip("walk").motion


def legs_of(motion):
    body, positions = BodyMap.guess(motion.skeleton), motion.world_positions()
    chain = [body.left_hip, body.left_knee, body.left_ankle, body.left_toe]
    return [Leg(chain, positions[:, chain[1]])]


def kicked(motion, frame, degrees):
    """The motion with the left knee turned further at a frame, and back over 20 frames."""
    knee = BodyMap.guess(motion.skeleton).left_knee
    local = np.array(motion.local_quats)
    fade = np.clip(1.0 - (np.arange(motion.n_frames) - frame) / 20.0, 0.0, 1.0)
    fade[:frame] = 0.0
    turn = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(degrees) * fade)
    local[:, knee] = quat.multiply(local[:, knee], turn)
    return motion.replace(local_quats=local)


def test_steps_beyond_the_joints_own_are_too_fast():
    source = np.full((40, 2), np.radians(4.0))
    turns = np.array(source)
    turns[10, 0] = np.radians(4.0) * OVER_OWN + 1e-6
    turns[20, 1] = np.radians(4.0) * OVER_OWN - 1e-6
    fast = steps_too_fast(turns, source.max(axis=0), source, FPS)
    assert np.argwhere(fast).tolist() == [[10, 0]]


def test_slow_joints_may_turn_as_fast_as_any_joint_may():
    source = np.full((40, 1), np.radians(0.1))
    turns = np.array(source)
    turns[5:9] = np.radians(FREE_DEG_S / FPS) - 1e-6  # four steps: fast, but no flip
    assert not steps_too_fast(turns, source.max(axis=0), source, FPS).any()
    turns[5:9] = np.radians(FREE_DEG_S / FPS) + 1e-6
    assert steps_too_fast(turns, source.max(axis=0), source, FPS).sum() == 4


def test_one_step_that_stands_out_is_a_flip():
    source = np.full((40, 1), np.radians(0.5))
    turns = np.array(source)
    turns[20] = np.radians(2.0)
    assert steps_too_fast(turns, source.max(axis=0), source, FPS).sum() == 1
    source[20] = np.radians(2.0)  # the clip has it too
    assert not steps_too_fast(turns, source.max(axis=0), source, FPS).any()


def test_a_kick_is_smoothed_and_other_frames_stay(walk):
    after = kicked(walk, 100, 25.0)
    joints = legs_of(walk)[0].joints
    own, source = (
        quat.turns(walk.local_quats, joints).max(axis=0),
        quat.turns(walk.local_quats, joints),
    )
    assert steps_too_fast(quat.turns(after.local_quats, joints), own, source, walk.fps).any()
    calmed, changed = calm_legs(walk, walk, after, after.world_pose(), legs_of(walk))
    assert not steps_too_fast(quat.turns(calmed.local_quats, joints), own, source, walk.fps).any()
    assert changed[99:101].all()
    assert not changed[:80].any()
    assert np.array_equal(calmed.local_quats[~changed[:, 0]], after.local_quats[~changed[:, 0]])


def test_calm_legs_are_left_as_they_are(walk):
    calmed, changed = calm_legs(walk, walk, walk, walk.world_pose(), legs_of(walk))
    assert calmed is walk
    assert not changed.any()


@pytest.mark.parametrize(("other", "is_flip"), [(17, True), (18, True), (19, False), (21, False)])
def test_a_flip_stands_out_from_the_steps_right_before_and_after_it(other, is_flip):
    source = np.full((40, 1), np.radians(0.4))
    source[0] = np.radians(2.0)  # the joint's own fastest
    turns = np.array(source)
    turns[20] = np.radians(2.4)  # less than any joint may always turn
    turns[other] = np.radians(2.1)
    fast = steps_too_fast(turns, source.max(axis=0), source, FPS)
    assert bool(fast[20, 0]) == is_flip
