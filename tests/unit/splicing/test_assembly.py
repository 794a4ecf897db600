"""Parts put on legs: which joints are copied, and how a soft spine fades."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat
from motionloom.splicing.assembly import _offsets, _put_on, _softened
from motionloom.splicing.body_parts import parts_of

WALK = ml.synthetic.clip("walk", duration_s=0.5).motion
PUNCH = ml.synthetic.clip("punch", duration_s=0.5).motion
BODY = ml.BodyMap.guess(WALK.skeleton)
(TORSO,) = parts_of(WALK.skeleton, BODY, "torso")
N = WALK.n_frames


def test_the_joints_of_parts_are_the_actions_and_all_others_the_locomotions():
    parts = parts_of(WALK.skeleton, BODY, "arms")
    made = _put_on(WALK, PUNCH[:N], parts)
    arms = [joint for part in parts for joint in part.joints]
    others = np.setdiff1d(np.arange(WALK.skeleton.n_joints), arms)
    assert np.array_equal(made.local_quats[:, arms], PUNCH.local_quats[:N, arms])
    assert np.array_equal(made.local_quats[:, others], WALK.local_quats[:, others])
    assert np.array_equal(made.root_positions, WALK.root_positions)
    assert made.joint_translations is None


def sliding(motion, size):
    """The motion with offsets of the joints that differ from those of the skeleton."""
    offsets = _offsets(motion) + size * np.arange(motion.n_frames)[:, None, None]
    return motion.replace(joint_translations=offsets)


@pytest.mark.parametrize(("slides", "glides"), [(True, False), (False, True), (True, True)])
def test_offsets_that_move_come_with_their_joints(slides, glides):
    legs = sliding(WALK, 1e-3) if slides else WALK
    action = sliding(PUNCH[:N], 2e-3) if glides else PUNCH[:N]
    made = _put_on(legs, action, [TORSO]).joint_translations
    still = np.array(WALK.skeleton.offsets)
    assert not made[:, 0].any()  # the root's place is not an offset
    for joint in range(1, WALK.skeleton.n_joints):
        size = 2e-3 * glides if joint in TORSO.joints else 1e-3 * slides
        expected = still[joint] + size * np.arange(N)[:, None]
        assert made[:, joint] == pytest.approx(np.broadcast_to(expected, (N, 3)), abs=1e-12)


def test_a_soft_spine_takes_one_share_more_from_joint_to_joint():
    """Three spine joints, each turned by one angle: a quarter, a half and three quarters of it."""
    axis, angle = np.array([0.6, 0.0, 0.8]), 0.4
    turn = quat.from_axis_angle(axis, angle)
    quats = np.array(WALK.local_quats)
    for joint in BODY.spine:
        quats[:, joint] = quat.multiply(quats[:, joint], turn)
    hard = WALK.replace(local_quats=quats)
    soft = _softened(hard, WALK, TORSO, BODY)
    for joint, share in zip(BODY.spine, (0.25, 0.5, 0.75), strict=True):
        part = quat.from_axis_angle(axis, share * angle)
        expected = quat.multiply(WALK.local_quats[:, joint], part)
        assert quat.angle_between(soft.local_quats[:, joint], expected).max() < 1e-7
    hanging = [j for j in TORSO.joints if j not in BODY.spine]
    apart = quat.angle_between(soft.world_quats(), hard.world_quats())
    assert apart[:, hanging].max() < 1e-6
    legs = np.setdiff1d(np.arange(WALK.skeleton.n_joints), TORSO.joints)
    assert np.array_equal(soft.local_quats[:, legs], hard.local_quats[:, legs])
    elbow = BODY.left_elbow  # hangs on a shoulder, not on the spine: its own rotation stays
    assert np.array_equal(soft.local_quats[:, elbow], hard.local_quats[:, elbow])


def test_only_spine_joints_of_the_part_fade():
    (chest,) = parts_of(WALK.skeleton, BODY, "chest")
    quats = np.array(WALK.local_quats)
    turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), 0.6)
    quats[:, BODY.spine] = quat.multiply(quats[:, BODY.spine], turn)
    hard = WALK.replace(local_quats=quats)
    soft = _softened(hard, WALK, chest, BODY)
    below = list(BODY.spine[:-1])
    assert np.array_equal(soft.local_quats[:, below], hard.local_quats[:, below])
    half = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), 0.3)
    expected = quat.multiply(WALK.local_quats[:, chest.joint], half)
    assert quat.angle_between(soft.local_quats[:, chest.joint], expected).max() < 1e-7
