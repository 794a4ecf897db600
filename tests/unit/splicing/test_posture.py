"""The two turns of a splice: nearest rotations, hips' axes, arms' pace."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import motionloom as ml
from motionloom.motion.edit import sample
from motionloom.rotation import quat
from motionloom.splicing.posture import hip_frames, nearest_rotation
from motionloom.splicing.timing import MOST, UNSEEN, arm_speeds, unrushed

RNG = np.random.Generator(np.random.PCG64(7))
PUNCH = ml.synthetic.clip("punch", duration_s=3.0).motion
WALK = ml.synthetic.clip("walk", duration_s=3.0).motion
BODY = ml.BodyMap.guess(PUNCH.skeleton)


def test_the_nearest_rotation_is_that_of_another_library():
    a, b = RNG.normal(size=(2, 20, 4, 3))
    found = nearest_rotation(a, b)
    for k in range(20):
        theirs, _ = Rotation.align_vectors(a[k], b[k])
        assert np.allclose(quat.to_matrix(found[k]), theirs.as_matrix(), atol=1e-9)


def test_a_known_turn_is_found_whatever_the_size():
    b = RNG.normal(size=(5, 3))
    turn = quat.normalize(RNG.normal(size=4))
    found = nearest_rotation(3.0 * quat.rotate(turn, b), b)
    assert quat.angle_between(found, turn) < 1e-7


def test_points_on_one_line_turn_by_the_shortest_arc():
    b = np.array([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]])
    a = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]])
    found = nearest_rotation(a, b)
    assert np.allclose(quat.rotate(found, b), a)
    assert quat.angle_between(found, quat.IDENTITY) == pytest.approx(np.pi / 2)


def test_a_mirrored_cloud_still_gives_a_rotation():
    b = RNG.normal(size=(6, 3))
    found = nearest_rotation(b * np.array([-1.0, 1.0, 1.0]), b)
    assert np.linalg.norm(found) == pytest.approx(1.0)


def test_the_hips_axes_have_the_left_hip_on_x_and_up_on_y():
    positions = PUNCH.world_positions()
    axes = hip_frames(positions, BODY)
    across = positions[:, BODY.left_hip] - positions[:, BODY.right_hip]
    seen = quat.rotate(axes, across)
    assert np.abs(seen[:, 1:]).max() < 1e-9
    assert seen[:, 0].min() > 0.0
    up = quat.rotate(axes, np.array([0.0, 1.0, 0.0]))
    assert up[:, 1].min() > 0.9
    assert np.abs(up[:, 2]).max() < 1e-9


def test_hurried_punches_are_held_back_to_little_more_than_their_own_speed():
    frames = np.arange(0.0, PUNCH.n_frames - 1, 1.9)
    calm = unrushed(frames, PUNCH, WALK, BODY, sure=np.zeros(len(frames)))
    made = sample(PUNCH, calm)
    own = arm_speeds(PUNCH, BODY).max()
    assert arm_speeds(sample(PUNCH, frames), BODY).max() > 1.6 * own
    assert arm_speeds(made, BODY).max() < 1.05 * MOST * own
    assert calm[0] == frames[0]
    assert np.diff(calm).min() > 0.5


def test_a_pace_that_is_the_gaits_own_is_kept_where_the_locomotion_moves_as_fast():
    frames = np.arange(0.0, PUNCH.n_frames - 1, 1.9)
    quick = sample(PUNCH, frames)
    assert unrushed(frames, PUNCH, quick, BODY, sure=np.ones(len(frames))) is frames


def test_even_at_the_gaits_own_pace_no_joint_gets_much_faster_than_in_either_clip():
    frames = np.arange(0.0, PUNCH.n_frames - 1, 1.9)
    made = sample(PUNCH, unrushed(frames, PUNCH, WALK, BODY, sure=np.ones(len(frames))))
    joints = [BODY.left_shoulder, BODY.left_elbow, BODY.right_shoulder, BODY.right_elbow]

    def fastest(motion):
        quats = motion.local_quats[:, joints]
        return motion.fps * quat.angle_between(quats[:-1], quats[1:]).max(axis=0)

    own = np.maximum(fastest(PUNCH), fastest(WALK))
    assert (fastest(sample(PUNCH, frames)) > 1.5 * own).any()
    assert (fastest(made) < 1.05 * MOST * np.maximum(own, UNSEEN)).all()


def test_a_pace_that_rushes_no_arm_is_kept():
    frames = np.arange(0.0, PUNCH.n_frames - 1, 1.1)
    assert unrushed(frames, PUNCH, WALK, BODY, sure=np.zeros(len(frames))) is frames
