"""Capture glitches are found; motion as bodies make it is not."""

import dataclasses

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.body_map import ROLES
from motionloom.features.glitches.glitch_frames import find_glitches
from motionloom.rotation import quat

KINDS = ml.synthetic.kinds()
RATES = (24, 30, 50, 60, 100, 120, 240)


def displaced(motion, frame, metres):
    root = np.array(motion.root_positions)
    root[frame] += [metres, 0.0, 0.0]
    return motion.replace(root_positions=root)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fps", RATES)
def test_motion_as_bodies_make_it_does_not_jump_and_a_frame_elsewhere_does(kind, fps):
    motion = ml.synthetic.clip(kind, fps=fps).motion
    assert find_glitches(motion) == ()
    middle = motion.n_frames // 2
    found = find_glitches(displaced(motion, middle, 0.1))
    assert [jump.frame for jump in found] == [middle]


def test_one_frame_elsewhere_is_found_and_no_other():
    motion = displaced(ml.synthetic.clip("run").motion, 41, 0.12)
    assert [jump.frame for jump in find_glitches(motion)] == [41]


@pytest.mark.parametrize("fps", RATES)
def test_a_jump_that_stays_names_both_frames(fps):
    motion = ml.synthetic.clip("walk", fps=fps).motion
    root = np.array(motion.root_positions)
    root[50:, 0] += 0.15
    found = find_glitches(motion.replace(root_positions=root))
    assert [jump.frame for jump in found] == [49, 50]


def test_a_joint_that_flips_for_one_frame_is_named():
    motion = ml.synthetic.clip("stand").motion
    joint = motion.skeleton.names.index("Head")
    quats = np.array(motion.local_quats)
    quats[30, joint] = quat.multiply(quat.exp(np.array([0.0, 1.2, 0.0])), quats[30, joint])
    found = find_glitches(motion.replace(local_quats=quats))
    assert {jump.joint for jump in found} == {"Head"}
    assert 30 in {jump.frame for jump in found}


def test_fingers_are_not_looked_at():
    """Captures make them up."""
    motion = ml.synthetic.clip("stand").motion
    body = ml.BodyMap.guess(motion.skeleton)
    hand = motion.skeleton.names.index("LeftHand")
    quats = np.array(motion.local_quats)
    quats[30, hand] = quat.multiply(quat.exp(np.array([0.0, 1.2, 0.0])), quats[30, hand])
    flipped = motion.replace(local_quats=quats)
    assert find_glitches(flipped, body=body) != ()
    without = dataclasses.replace(body, **{role: None for role in ROLES if "wrist" in role})
    assert find_glitches(flipped, body=without) == ()


def test_what_is_small_is_let_be():
    assert find_glitches(displaced(ml.synthetic.clip("walk").motion, 41, 0.005)) == ()


def test_the_quality_check_names_glitches_and_fails_them():
    motion = displaced(ml.synthetic.clip("walk").motion, 41, 0.12)
    found = ml.verify(motion, sources=[motion])
    assert [jump.frame for jump in found.glitches] == [41]
    assert "capture glitch" in {each.check for each in found.failed}


@pytest.mark.parametrize("fps", [60, 240])
def test_few_frames_give_no_glitch(fps):
    for frames in (4, 5, 8, 9):
        assert find_glitches(ml.synthetic.clip("walk", fps=fps).motion[:frames]) == ()
