"""Points of a drawn body, against forward kinematics."""

import numpy as np
import pytest

import motionloom as ml
from motionloom._core import CoreError, kernel
from motionloom.rotation import quat

place = kernel("ml_points_place")


def placed(motion, frame, joints, offsets):
    skeleton, n = motion.skeleton, motion.skeleton.n_joints
    bones = np.ascontiguousarray(skeleton.offsets)
    parents = np.asarray(skeleton.parents, dtype=np.int64)
    out = np.zeros((len(joints), 3))
    root, local = motion.root_positions[frame].copy(), motion.local_quats[frame].copy()
    place(n, parents, bones, root, local, len(joints), joints, offsets, np.zeros((n, 7)), out)
    return out


def test_points_go_with_their_joints():
    motion = ml.synthetic.clip("run", duration_s=1.0).motion
    rng = np.random.Generator(np.random.PCG64(2))
    joints = rng.integers(0, motion.skeleton.n_joints, 40)
    offsets = rng.normal(size=(40, 3))
    positions, world = motion.world_pose()
    for frame in (0, 17):
        wanted = positions[frame, joints] + quat.rotate(world[frame, joints], offsets)
        assert np.abs(placed(motion, frame, joints, offsets) - wanted).max() < 1e-12


@pytest.mark.parametrize("past", [-1, 0])
def test_a_joint_that_is_none_is_refused(past):
    motion = ml.synthetic.clip("stand", duration_s=0.5).motion
    joint = -1 if past < 0 else motion.skeleton.n_joints
    with pytest.raises(CoreError):
        placed(motion, 0, np.array([0, joint]), np.zeros((2, 3)))
    assert placed(motion, 0, np.array([0, motion.skeleton.n_joints - 1]), np.zeros((2, 3))).any()
