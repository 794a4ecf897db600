import numpy as np
import pytest

from motionloom import synthetic
from motionloom.errors import ArrayError
from motionloom.motion.motion import (
    end_positions,
    forward_into,
    forward_kinematics,
    local_from_world,
    velocities,
)
from motionloom.rotation import quat
from tests.oracles import kinematics as plain
from tests.oracles.quat import rotate

from .rigs import random_motion

FLOAT64 = 1e-12


@pytest.mark.parametrize("sliding", [False, True])
def test_the_kernel_matches_its_plain_form(sliding):
    m = random_motion(sliding=sliding)
    wanted = plain.forward_kinematics(
        m.skeleton, m.root_positions, m.local_quats, joint_translations=m.joint_translations
    )
    for ours, theirs in zip(m.world_pose(), wanted, strict=True):
        assert np.abs(ours - theirs).max() < FLOAT64


def test_bones_keep_their_lengths():
    m = random_motion()
    p, parents = m.world_positions(), m.skeleton.parents[1:]
    lengths = np.linalg.norm(p[:, 1:] - p[:, parents], axis=-1)
    assert np.abs(lengths - np.linalg.norm(m.skeleton.offsets[1:], axis=-1)).max() < FLOAT64


def test_world_rotations_give_back_the_local_ones():
    m = random_motion()
    local = local_from_world(m.skeleton, m.world_quats())
    assert quat.angle_between(local, m.local_quats).max() < 1e-7


def test_end_sites_follow_their_joint():
    m = random_motion()
    p, q = m.world_pose()
    tip = p[:, -1] + rotate(q[:, -1], m.skeleton.end_offsets[0])
    assert np.abs(end_positions(m.skeleton, p, q)[:, 0] - tip).max() < FLOAT64


def test_shapes_that_do_not_fit_are_named():
    m = random_motion()
    with pytest.raises(ArrayError, match=r"`local_quats` must have shape \(F, 9, 4\)"):
        forward_kinematics(m.skeleton, m.root_positions, m.local_quats[:, :4])
    with pytest.raises(ArrayError, match="`root_positions`"):
        forward_kinematics(m.skeleton, m.root_positions[:3], m.local_quats)


def test_velocity_of_a_steady_walk_is_its_speed():
    x = np.linspace(0.0, 2.0, 21)[:, None]
    assert np.abs(velocities(x, 10.0) - 1.0).max() < FLOAT64


def test_a_single_frame_does_not_move():
    assert np.array_equal(velocities(np.ones((1, 3)), 30.0), np.zeros((1, 3)))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused_wherever_they_are(bad):
    m = random_motion()
    roots, quats = np.array(m.root_positions), np.array(m.local_quats)
    roots[4, 1] = bad
    with pytest.raises(ArrayError, match="must be finite"):
        forward_kinematics(m.skeleton, roots, m.local_quats)
    quats[2, 3, 0] = bad
    with pytest.raises(ArrayError, match="must be finite"):
        forward_kinematics(m.skeleton, m.root_positions, quats)
    with pytest.raises(ArrayError, match="arrays of numbers"):
        forward_kinematics(m.skeleton, m.root_positions, "quats")
    with pytest.raises(ArrayError, match=r"shape \(F, 9, 4\)"):
        forward_kinematics(m.skeleton, m.root_positions, m.local_quats[0])


def test_no_frames_have_no_poses():
    m = random_motion()
    positions, quats = forward_kinematics(m.skeleton, np.zeros((0, 3)), np.zeros((0, 9, 4)))
    assert (positions.shape, quats.shape) == ((0, 9, 3), (0, 9, 4))


def test_two_frames_move_at_their_difference():
    assert velocities(np.array([[1.0, 2.0], [1.5, 0.0]]), 30.0).tolist() == [[15.0, -60.0]] * 2
    three = velocities(np.array([0.0, 1.0, 4.0])[:, None], 2.0)
    assert three[:, 0].tolist() == [2.0, 4.0, 6.0]


def test_a_pose_is_written_to_memory_that_is_given():
    walk = synthetic.clip("walk").motion
    out = tuple(np.ones((*walk.local_quats.shape[:2], width)) for width in (3, 4))
    rig = walk.skeleton
    made = forward_into(rig, walk.root_positions, walk.local_quats, None, out)
    for found, given, wanted in zip(made, out, walk.world_pose(), strict=True):
        assert found is given
        assert np.array_equal(found, wanted)


def test_a_motion_alone_has_all_that_is_needed():
    m = synthetic.clip("walk", duration_s=0.5).motion
    for ours, whole in zip(forward_kinematics(m), m.world_pose(), strict=True):
        assert np.array_equal(ours, whole)
    with pytest.raises(ArrayError, match="given alone"):
        forward_kinematics(m, m.root_positions)
    with pytest.raises(ArrayError, match="must be given with a skeleton"):
        forward_kinematics(m.skeleton)
