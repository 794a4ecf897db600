"""The spine absorbs jolts of the hips, and no joint gets too fast."""

import numpy as np

import motionloom as ml
from motionloom.rotation import quat
from motionloom.splicing.pace import pace_caps
from motionloom.splicing.spine import slowed_turns

CARRY = ml.synthetic.clip("carry", duration_s=4.0).motion
WALK = ml.synthetic.clip("walk", turn=1.0, duration_s=3.0).motion
BODY = ml.BodyMap.guess(WALK.skeleton)


def sharpness(motion, joint, frame):
    """Largest acceleration of a joint around a frame, m/s2."""
    way = motion.world_positions()[frame - 6 : frame + 7, joint]
    return np.linalg.norm(np.diff(way, n=2, axis=0), axis=-1).max() * motion.fps**2


def test_a_jolt_of_the_pelvis_reaches_the_head_weakened():
    root = np.array(WALK.root_positions)
    root[60] += [0.0075, 0.0, 0.0065]  # a larger jolt is spread before
    made = ml.splice(CARRY, WALK.replace(root_positions=root), repair_knees=False).motion
    jolt = sharpness(made, BODY.pelvis, 60)
    assert jolt > 40.0
    assert sharpness(made, BODY.head, 60) < 0.7 * jolt


def test_a_tilt_of_the_pelvis_hardly_moves_the_head():
    quats = np.array(WALK.local_quats)
    tilt = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(4.0))
    for frame in (60, 61):
        quats[frame, 0] = quat.multiply(quats[frame, 0], tilt)
    lower = WALK.replace(local_quats=quats)
    made = ml.splice(CARRY, lower, repair_knees=False).motion
    assert sharpness(made, BODY.head, 60) < 0.4 * sharpness(lower, BODY.head, 60)


def test_turns_that_are_slow_enough_stay_and_others_are_slowed():
    angles = np.radians(np.where(np.arange(120) < 60, 0.0, 20.0))
    angles += np.radians(5.0) * np.sin(np.arange(120) / 15.0)
    quats = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), angles)
    slowed = slowed_turns(quats, 60.0, np.radians(400.0))
    steps = 60.0 * np.degrees(quat.angle_between(slowed[:-1], slowed[1:]))
    assert steps.max() <= 400.0
    assert np.allclose(slowed[:30], quats[:30], atol=1e-12)
    assert slowed_turns(quats, 60.0, np.radians(1500.0)) is quats


def test_only_arms_that_are_faster_than_in_the_clips_cap_the_pace():
    frames = np.arange(0.0, WALK.n_frames - 1.0)
    made = CARRY[: len(frames)]
    assert pace_caps(made, frames, CARRY, WALK, BODY) is None
    quats = np.array(made.local_quats)
    angles = np.where(np.arange(len(quats)) < 80, 0.0, 1.0)
    turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), angles)
    quats[:, BODY.left_shoulder] = quat.multiply(turn, quats[:, BODY.left_shoulder])
    caps = pace_caps(made.replace(local_quats=quats), frames, CARRY, WALK, BODY)
    assert caps is not None
    assert caps[79] < 1.0
    assert np.isinf(caps[:60]).all()
    assert np.isinf(caps[100:]).all()
