import dataclasses

import numpy as np
import pytest

from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.motion import edit
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform

from .rigs import random_motion

FLOAT64 = 1e-9


def test_whole_frames_are_taken_exactly():
    m = random_motion(sliding=True)
    s = edit.sample(m, np.array([4.0, 0.0, 12.0]))
    for name in ("root_positions", "joint_translations"):
        assert np.array_equal(getattr(s, name), getattr(m, name)[[4, 0, 12]])
    assert quat.angle_between(s.local_quats, m.local_quats[[4, 0, 12]]).max() < 1e-7


def test_between_frames_it_goes_half_way():
    m = random_motion()
    s = edit.sample(m, np.array([2.5]))
    assert np.abs(s.root_positions[0] - m.root_positions[2:4].mean(axis=0)).max() < FLOAT64
    a = quat.angle_between(m.local_quats[2], s.local_quats[0])
    b = quat.angle_between(s.local_quats[0], m.local_quats[3])
    assert np.abs(a - b).max() < 1e-7


@pytest.mark.parametrize("frames", [[-0.1], [12.1], [np.nan], [], [[1.0]]])
def test_frames_outside_the_clip_are_refused(frames):
    with pytest.raises(ArrayError, match="`frames`"):
        edit.sample(random_motion(), np.array(frames))


def test_resampling_to_a_quarter_keeps_every_fourth_frame():
    m = random_motion(n_frames=41).replace(fps=120.005)
    r = edit.resample(m, fps=30)
    assert r.n_frames == 11
    assert np.array_equal(r.root_positions, m.root_positions[::4])


def test_resampling_up_and_down_again_changes_nothing():
    m = random_motion()
    again = edit.resample(edit.resample(m, fps=90), fps=30)
    assert np.abs(again.world_positions() - m.world_positions()).max() < FLOAT64


def test_concatenation_stacks_frames_as_they_stand():
    m = random_motion(sliding=True)
    joined = edit.concatenate([m, m[2:5]])
    assert joined.n_frames == 16
    assert np.abs(joined.world_positions()[13:] - m.world_positions()[2:5]).max() < FLOAT64


def test_a_rigid_clip_joins_a_sliding_one():
    sliding = random_motion(sliding=True)
    rigid = sliding.replace(joint_translations=None)
    joined = edit.concatenate([rigid, sliding])
    assert np.abs(joined.world_positions()[:13] - rigid.world_positions()).max() < FLOAT64


def test_clips_with_other_bone_lengths_keep_them():
    m = random_motion()
    longer = m.replace(skeleton=dataclasses.replace(m.skeleton, offsets=1.1 * m.skeleton.offsets))
    joined = edit.concatenate([m, longer])
    both = np.concatenate([m.world_positions(), longer.world_positions()])
    assert np.abs(joined.world_positions() - both).max() < FLOAT64


def test_other_skeletons_and_rates_are_refused():
    m = random_motion()
    with pytest.raises(SkeletonMismatchError, match=r"ml\.retarget"):
        edit.concatenate([m, random_motion(seed=8, n_joints=7)])
    with pytest.raises(ArrayError, match=r"ml\.resample"):
        edit.concatenate([m, m.replace(fps=60)])
    with pytest.raises(ArrayError, match="at least one"):
        edit.concatenate([])


def test_moving_turns_about_the_first_root_then_shifts():
    m = random_motion()
    moved = edit.move(m, heading=1.2, x=3.0, z=-1.0)
    start = m.root_positions[0] + np.array([3.0, 0.0, -1.0])
    assert np.abs(moved.root_positions[0] - start).max() < FLOAT64
    q = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), 1.2)
    relative = m.world_positions() - m.root_positions[0]
    assert np.abs(moved.world_positions() - (start + quat.rotate(q, relative))).max() < FLOAT64


def test_a_transform_moves_every_joint_alike():
    m, t = random_motion(), PlanarTransform(0.4, 1.0, 2.0)
    moved = edit.transform(m, t).world_positions()
    assert np.abs(moved - t.apply(m.world_positions())).max() < FLOAT64


@pytest.mark.parametrize(("rate", "fps"), [(30000 / 1001, 30.0), (30.0, 30000 / 1001)])
def test_film_rates_are_not_taken_for_whole_ones(rate, fps):
    m = random_motion(n_frames=3000, n_joints=2).replace(fps=rate)
    assert abs(edit.resample(m, fps=fps).duration_s - m.duration_s) < 1 / fps


@pytest.mark.parametrize("ratio", [3, 7, 49, 98])
def test_at_a_whole_multiple_of_the_rate_old_frames_stay_bit_by_bit(ratio):
    # 49 steps of 1/49 make 0.9999999999999999.
    motion = random_motion(3, n_frames=4)
    fine = edit.resample(motion, fps=motion.fps * ratio)
    assert fine.n_frames == 3 * ratio + 1
    assert fine.root_positions[::ratio].tolist() == motion.root_positions.tolist()
    assert fine.local_quats[::ratio].tolist() == motion.local_quats.tolist()


def test_a_move_by_nothing_changes_nothing_and_one_axis_leaves_the_others():
    m = random_motion()
    assert np.abs(edit.move(m).world_positions() - m.world_positions()).max() < FLOAT64
    for how, by in (({"x": 2.0}, [2.0, 0.0, 0.0]), ({"z": -3.0}, [0.0, 0.0, -3.0])):
        shifted = edit.move(m, **how).world_positions()
        assert np.abs(shifted - m.world_positions() - np.array(by)).max() < FLOAT64
    turned = edit.move(m, heading=0.5)
    assert np.abs(turned.root_positions[0] - m.root_positions[0]).max() < FLOAT64
