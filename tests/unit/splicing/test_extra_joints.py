"""Rigs with more joints: a second collarbone, twist joints, a base of the neck.

Joints that never turn are inserted into the chains of arms, neck and spine. The bodies and their
motions stay the same, so the splices must too.
"""

import dataclasses
from functools import cache

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat
from motionloom.splicing.body_parts import parts_of
from motionloom.splicing.level_head import _down_to_shoulder, _steady_collar

CARRY = ml.synthetic.clip("carry", duration_s=2.5).motion
WALK = ml.synthetic.clip("walk", duration_s=2.5).motion
BODY = ml.BodyMap.guess(WALK.skeleton)
NAMES = WALK.skeleton.names
TURN = quat.from_axis_angle(np.array([0.3, 0.5, 0.81]), np.radians(70.0))
ARMS = ("LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand", "RightShoulder", "RightArm")
WHERE = ("arms", "left_arm", "right_arm", "head", "torso", "chest")
SAME_DEGREES = 0.01


def with_joints(motion, *children, at=0.0):
    """The same motion with a still joint above each of some joints, part of the way up to them."""
    for child in children:
        motion = _with_joint(motion, motion.skeleton.index(child), at)
    return motion


def _with_joint(motion, joint, at):
    """A motion with one joint more, turned by ``TURN``, which the joint below turns back."""
    old = motion.skeleton
    parents = [parent + (parent >= joint) for parent in old.parents.tolist()]
    parents[joint : joint + 1] = [parents[joint], joint]
    offsets = np.insert(old.offsets, joint, at * old.offsets[joint], axis=0)
    offsets[joint + 1] = quat.rotate(quat.conjugate(TURN), (1.0 - at) * old.offsets[joint])
    names = [*old.names[:joint], f"{old.names[joint]}Base", *old.names[joint:]]
    quats = np.insert(motion.local_quats, joint, TURN, axis=1)
    quats[:, joint + 1] = quat.multiply(quat.conjugate(TURN), motion.local_quats[:, joint])
    skeleton = ml.Skeleton(names, parents, offsets)
    return ml.Motion(skeleton, motion.root_positions, quats, motion.fps)


def shaking(motion):
    """A chest that shakes by 20 degrees four times a second."""
    angles = np.radians(20.0) * np.sin(8.0 * np.pi * np.arange(motion.n_frames) / motion.fps)
    quats, chest = np.array(motion.local_quats), BODY.spine[-1]
    shake = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), angles)
    quats[:, chest] = quat.multiply(shake, quats[:, chest])
    return motion.replace(local_quats=quats)


LOWER = shaking(WALK)


@cache
def spliced(where, children=(), at=0.0):
    return ml.splice(*(with_joints(m, *children, at=at) for m in (CARRY, LOWER)), where=where)


def apart(made, plain):
    """How far rotations of the joints that both have are apart in the world, degrees. (F, J)."""
    joints = [made.skeleton.index(name) for name in NAMES]
    return np.degrees(quat.angle_between(made.world_quats()[:, joints], plain.world_quats()))


@pytest.mark.filterwarnings("ignore::motionloom.MotionLoomWarning")
@pytest.mark.parametrize("at", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("where", WHERE)
def test_extra_joints_in_arms_and_under_the_neck_change_nothing(where, at):
    made, plain = spliced(where, (*ARMS, "Neck"), at), spliced(where)
    assert made.timewarp.frames == pytest.approx(plain.timewarp.frames)
    assert apart(made.motion, plain.motion).max() < SAME_DEGREES


@pytest.mark.filterwarnings("ignore::motionloom.MotionLoomWarning")
@pytest.mark.parametrize("child", ["LeftShoulder", "LeftArm"])
def test_one_side_with_an_extra_joint_moves_as_the_other_one_does(child):
    made, plain = spliced("arms", (child,)), spliced("arms")
    assert apart(made.motion, plain.motion).max() < SAME_DEGREES


@pytest.mark.filterwarnings("ignore::motionloom.MotionLoomWarning")
@pytest.mark.parametrize("where", ["head", "torso", "chest"])
def test_a_neck_of_three_joints_turns_the_head_as_one_of_two_does(where):
    off = apart(spliced(where, ("Head",)).motion, spliced(where).motion)
    others = [joint for joint in range(len(NAMES)) if joint != BODY.neck]  # it takes a third less
    assert off[:, others].max() < SAME_DEGREES


@pytest.mark.parametrize("soft", [False, True])
def test_a_still_joint_in_the_spine_that_the_body_does_not_name_changes_nothing(soft):
    upper, lower = (with_joints(motion, "Spine1", "Spine2", at=0.5) for motion in (CARRY, LOWER))
    spine = [NAMES[joint] for joint in BODY.spine]
    body = ml.BodyMap.from_names(lower.skeleton, {"spine": spine})
    assert len(body.spine) == 3
    made = ml.splice(upper, lower, body=body, soft=soft)
    off = apart(made.motion, ml.splice(CARRY, LOWER, soft=soft).motion)
    assert off.max() < SAME_DEGREES


@pytest.mark.parametrize("where", ["arms", "left_arm", "right_arm"])
def test_an_arm_ends_where_the_other_one_branches_off(where):
    fewer = dataclasses.replace(BODY, spine=BODY.spine[:-1])
    parts, wanted = (parts_of(WALK.skeleton, body, where) for body in (fewer, BODY))
    assert [part.joints for part in parts] == [part.joints for part in wanted]


def test_the_base_of_a_neck_is_no_chest():
    motion = with_joints(WALK, "Neck")
    skeleton = motion.skeleton
    body = ml.BodyMap.guess(skeleton)
    assert skeleton.names[body.spine[-1]] == "NeckBase"
    (part,) = parts_of(skeleton, body, "chest")
    assert skeleton.names[part.joint] == "Spine2"
    assert {"LeftHand", "RightHand", "Head"} <= {skeleton.names[joint] for joint in part.joints}


def test_a_collarbone_given_as_spine_is_no_chest():
    left = int(WALK.skeleton.parents[BODY.left_shoulder])
    body = dataclasses.replace(BODY, spine=(*BODY.spine, left))
    (part,) = parts_of(WALK.skeleton, body, "chest")
    assert part.joint == BODY.spine[-1]


def test_two_moving_collarbones_are_slowed_together():
    """The first jerks, the second turns against it: what they carry is still."""
    motion = with_joints(WALK, "LeftArm")
    skeleton = motion.skeleton
    first, second, shoulder = (skeleton.index(f"Left{x}") for x in ("Shoulder", "ArmBase", "Arm"))
    body = ml.BodyMap.guess(skeleton)
    (part,) = parts_of(skeleton, body, "left_arm")
    arm = _down_to_shoulder(skeleton, part, body)
    assert arm == (first, second, shoulder)
    quats = np.array(motion.local_quats)
    sway = quat.from_axis_angle(
        np.array([1.0, 0.0, 0.0]), 0.4 * np.sin(np.arange(motion.n_frames) / 2.0)
    )
    quats[:, first] = quat.multiply(quats[:, first], sway)
    quats[:, second] = quat.multiply(quat.conjugate(sway), quats[:, second])
    found = quats.copy()
    _steady_collar(found, arm, motion)
    assert found == pytest.approx(quats, abs=1e-12)

    action = motion.replace(local_quats=quats)
    quats[:, second] = motion.local_quats[:, second]
    quick = quats.copy()
    _steady_collar(quick, arm, motion.replace(local_quats=quats))
    assert quick == pytest.approx(quats, abs=1e-12)  # as fast as in the action

    found = quats.copy()
    _steady_collar(found, arm, action)
    before, after = (motion.replace(local_quats=each).world_quats() for each in (quats, found))
    assert np.degrees(quat.angle_between(before[:, shoulder], after[:, shoulder]).max()) < 1e-5
    carried = quat.angle_between(after[1:, second], after[:-1, second])
    assert carried.max() < quat.angle_between(before[1:, second], before[:-1, second]).max()
