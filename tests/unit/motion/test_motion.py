import numpy as np
import pytest

from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion, check_rows

from .rigs import random_motion, random_skeleton


def test_a_motion_keeps_its_own_copy():
    m = random_motion()
    root = np.array(m.root_positions)
    copy = Motion(m.skeleton, root, m.local_quats, 30)
    root[:] = 7.0
    assert np.array_equal(copy.root_positions, m.root_positions)


def test_arrays_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        random_motion().local_quats[0] = 0.0


def test_duration_counts_the_steps_between_frames():
    assert random_motion(n_frames=31).duration_s == 1.0


def test_quaternions_a_little_off_are_normalised():
    m = random_motion()
    scaled = Motion(m.skeleton, m.root_positions, m.local_quats * 1.0005, 30)
    assert np.abs(np.linalg.norm(scaled.local_quats, axis=-1) - 1.0).max() < 1e-12


def test_quaternions_far_off_name_frame_and_joint():
    m = random_motion()
    quats = np.array(m.local_quats)
    quats[3, 2] *= 2.0
    with pytest.raises(ArrayError, match=r"got 2 at frame 3, joint 2 \('joint2'\)"):
        Motion(m.skeleton, m.root_positions, quats, 30)


def test_sign_flips_are_taken_out():
    m = random_motion()
    quats = np.array(m.local_quats)
    quats[5:, 1] *= -1.0
    fixed = Motion(m.skeleton, m.root_positions, quats, 30)
    assert not check_rows(fixed.local_quats)[1]
    assert np.abs(fixed.world_positions() - m.world_positions()).max() < 1e-12


@pytest.mark.parametrize("fps", [0, -30, np.nan, np.inf, "fast"])
def test_the_rate_must_make_sense(fps):
    m = random_motion()
    with pytest.raises(ArrayError, match="`fps`"):
        Motion(m.skeleton, m.root_positions, m.local_quats, fps)


def test_no_frames_is_no_motion():
    with pytest.raises(ArrayError, match="at least one frame"):
        Motion(random_skeleton(), np.zeros((0, 3)), np.zeros((0, 9, 4)), 30)


def test_the_skeleton_must_be_one():
    with pytest.raises(ArrayError, match="must be a Skeleton"):
        Motion("bones", np.zeros((1, 3)), np.zeros((1, 1, 4)), 30)


def test_slices_cut_every_array():
    m = random_motion(sliding=True)
    cut = m[3:8]
    assert cut.n_frames == 5
    assert np.abs(cut.world_positions() - m.world_positions()[3:8]).max() < 1e-12


@pytest.mark.parametrize("bad", [slice(5, 5), slice(0, 10, 2), 3])
def test_only_plain_slices_that_keep_a_frame(bad):
    with pytest.raises(ArrayError):
        random_motion()[bad]


def test_the_root_row_of_sliding_joints_is_zero():
    assert not random_motion(sliding=True).joint_translations[:, 0].any()
