"""Knees: the side they bend to, signed flexion, and repair of knees bent backwards."""

import dataclasses

import numpy as np
import pytest

from motionloom import synthetic
from motionloom._core import CoreError, kernel
from motionloom.body.anatomy import (
    LEAST_FLEXION,
    _rounded,
    find_knees,
    knee_flexion,
    local_flexion,
    repair_knees,
)
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat
from tests.oracles import hinges as plain

ANKLE_M = 1e-3
CLOSE = 1e-9
GAITS = ["walk", "jog", "run"]


def flexion_of(motion, knees=None):
    body = BodyMap.guess(motion.skeleton)
    knees = find_knees(motion.skeleton, body, motion=motion) if knees is None else knees
    return np.degrees(knee_flexion(knees, *motion.world_pose()))


def bent_back(motion, by, frames):
    """The motion with both knees turned about their hinges until they are bent back by ``by``."""
    body = BodyMap.guess(motion.skeleton)
    knees = find_knees(motion.skeleton, body, motion=motion)
    flexion = knee_flexion(knees, *motion.world_pose())
    local = np.array(motion.local_quats)
    for k, knee in enumerate(knees):
        turn = quat.from_axis_angle(
            np.broadcast_to(knee.axis, (motion.n_frames, 3)), -np.radians(by) - flexion[:, k]
        )
        local[frames, knee.knee] = quat.multiply(turn, local[:, knee.knee])[frames]
    return motion.replace(local_quats=local), knees


@pytest.mark.parametrize("gait", GAITS)
def test_knees_of_embedded_clips_bend_forwards_only(gait):
    motion = synthetic.clip(gait).motion
    flexion = flexion_of(motion)
    assert flexion.min() > -1.0
    assert flexion.max() > 30.0


@pytest.mark.parametrize("gait", GAITS)
def test_the_rest_pose_alone_shows_the_same_side(gait):
    motion = synthetic.clip(gait).motion
    body = BodyMap.guess(motion.skeleton)
    by_clip = find_knees(motion.skeleton, body, motion=motion)
    by_rest = find_knees(motion.skeleton, body)
    for one, other in zip(by_clip, by_rest, strict=True):
        assert one.axis @ other.axis > 0.8
        assert one.pole @ other.pole > 0.8


def test_poles_point_ahead_and_are_square_to_the_thigh():
    motion = synthetic.clip("walk").motion
    body = BodyMap.guess(motion.skeleton)
    positions, world = motion.world_pose()
    ahead = positions[-1, 0] - positions[0, 0]
    for knee in find_knees(motion.skeleton, body, motion=motion):
        pole = quat.rotate(world[:, knee.hip], knee.pole)
        assert (pole @ (ahead / np.linalg.norm(ahead)) > 0.5).all()
        thigh = positions[:, knee.knee] - positions[:, knee.hip]
        assert np.abs(np.sum(thigh * pole, axis=-1)).max() < 0.02


def test_flexion_from_the_legs_alone_is_the_same():
    walk = synthetic.clip("walk").motion
    moving = np.tile(walk.skeleton.offsets, (walk.n_frames, 1, 1))
    moving[:, 0] = 0.0
    moving[:, 3:] *= 1.0 + 0.01 * np.sin(np.arange(walk.n_frames))[:, None, None]
    for motion in (walk, walk.replace(joint_translations=moving)):
        knees = find_knees(motion.skeleton, BodyMap.guess(motion.skeleton), motion=motion)
        whole = knee_flexion(knees, *motion.world_pose())
        for k, knee in enumerate(knees):
            assert np.abs(local_flexion(motion, knee) - whole[:, k]).max() < CLOSE


@pytest.mark.parametrize("every", [1, 3])
def test_hinges_are_shown_as_in_the_plain_form(every):
    motion = synthetic.clip("run").motion
    positions, world = motion.world_pose()
    ball, bent = np.array([0.02, -0.05, 0.11]), np.radians(30.0)
    for knee in find_knees(motion.skeleton, BodyMap.guess(motion.skeleton), motion=motion):
        sums, n_bent = np.zeros((3, 3)), np.zeros(1, dtype=np.int64)
        kernel("ml_hinge_show")(
            *positions.shape[:2], positions, world, every, np.array(knee[:3]), ball, bent,
            sums, n_bent,
        )  # fmt: skip
        wanted, n = plain.shown(positions[::every], world[::every], knee[:3], ball, bent)
        assert n_bent[0] == n > 0
        assert np.abs(sums - wanted).max() < CLOSE


def test_joints_that_are_not_there_are_refused():
    three, one = np.zeros(3), np.zeros(1, dtype=np.int64)
    for leg, every in (([0, 1, 2], 1), ([-1, 0, 1], 1), ([0, 1, 0], 0)):
        with pytest.raises(CoreError, match="sizes"):
            kernel("ml_hinge_show")(
                2, 2, np.zeros((2, 2, 3)), np.zeros((2, 2, 4)), every, np.array(leg), three, 0.5,
                np.zeros((3, 3)), one,
            )  # fmt: skip
    for chain, n_offsets in (([2], 1), ([-1], 1), ([1], 3)):
        with pytest.raises(CoreError, match="sizes"):
            kernel("ml_hinge_flexion")(
                2, 2, np.zeros((2, 2, 4)), n_offsets, np.zeros((n_offsets, 2, 3)), 1,
                np.array(chain), 1, three, np.zeros(2),
            )  # fmt: skip


def test_a_healthy_clip_comes_back_as_it_is():
    motion = synthetic.clip("walk").motion
    repair = repair_knees(motion)
    assert repair.motion is motion
    assert repair.notes == ()


@pytest.mark.parametrize("by", [4.0, 12.0, 19.0])
def test_knees_bent_backwards_are_bent_forwards_and_ankles_stay(by):
    frames = slice(40, 90)
    broken, knees = bent_back(synthetic.clip("walk").motion, by, frames)
    assert flexion_of(broken, knees)[frames].max() < -0.9 * by
    repair = repair_knees(broken, knees=knees)
    assert flexion_of(repair.motion, knees).min() > 0.0
    before, after = broken.world_positions(), repair.motion.world_positions()
    feet = [knee.ankle for knee in knees]
    feet += [j for foot in feet for j in broken.skeleton.children(foot)]
    assert np.linalg.norm(after - before, axis=-1)[:, feet].max() < ANKLE_M
    arms = [broken.skeleton.index(name) for name in ("Head", "LeftHand", "RightHand")]
    assert np.abs(after - before)[:, arms].max() < CLOSE
    assert len(repair.notes) == (2 if -np.radians(by) < LEAST_FLEXION else 0)


def test_the_note_names_side_frames_and_angle():
    broken, knees = bent_back(synthetic.clip("walk").motion, 12.0, slice(40, 60))
    note = repair_knees(broken, knees=knees).notes[0]
    assert note.startswith("the left knee bends backwards by more than 5 degrees in 20 of 241")
    assert "(12 degrees)" in note


def test_frames_with_clearly_bent_knees_are_not_touched():
    broken, knees = bent_back(synthetic.clip("walk").motion, 12.0, slice(40, 60))
    bent = flexion_of(broken, knees).min(axis=1) > 21.0
    assert bent.any()
    repaired = repair_knees(broken, knees=knees).motion
    same = np.abs(np.sum(repaired.local_quats * broken.local_quats, axis=-1))[bent]
    assert np.abs(same - 1.0).max() < CLOSE


def test_a_body_without_legs_comes_back_as_it_is():
    bone = Skeleton(["root", "tip"], [-1, 0], [[0, 0, 0], [0, 0.5, 0]])
    still = Motion(bone, np.zeros((4, 3)), np.tile(quat.IDENTITY, (4, 2, 1)), fps=30)
    assert repair_knees(still).motion is still


def test_legs_that_are_folded_flat_have_knees_with_a_direction():
    """The shank lies exactly on the thigh: no bend says to which side."""
    motion = synthetic.clip("walk").motion
    body = BodyMap.guess(motion.skeleton)
    offsets = np.array(motion.skeleton.offsets)
    for side in ("left", "right"):
        knee, ankle = getattr(body, f"{side}_knee"), getattr(body, f"{side}_ankle")
        offsets[knee], offsets[ankle] = (0.0, -0.4, 0.0), (0.0, 0.4, 0.0)
    skeleton = dataclasses.replace(motion.skeleton, offsets=offsets)
    still = np.tile(quat.IDENTITY, (20, skeleton.n_joints, 1))
    flat = Motion(skeleton, np.zeros((20, 3)), still, 30.0)
    for knee in find_knees(skeleton, body, motion=flat):
        assert np.isfinite([*knee.axis, *knee.pole]).all()


def test_knees_that_are_barely_bent_back_are_left_alone():
    for by, is_left_alone in ((0.9, True), (1.5, False)):
        bent, knees = bent_back(synthetic.clip("walk").motion, by, slice(40, 60))
        assert flexion_of(bent, knees).min() == pytest.approx(-by, abs=1e-6)
        repair = repair_knees(bent, knees=knees)
        assert (repair.motion is bent) is is_left_alone
        assert repair.notes == ()


def test_two_witnesses_of_three_decide_the_side():
    """A clip whose knees are clearly bent backwards: feet at rest and in the clip say otherwise."""
    walk = synthetic.clip("walk").motion
    backwards, knees = bent_back(walk, 40.0, slice(0, walk.n_frames))
    found = find_knees(walk.skeleton, BodyMap.guess(walk.skeleton), motion=backwards)
    for knee, true in zip(found, knees, strict=True):
        assert knee.axis @ true.axis > 0.9
        assert knee.pole @ true.pole > 0.9
    assert flexion_of(backwards, found) == pytest.approx(np.full((walk.n_frames, 2), -40.0), abs=5)


def test_rounded_flexion_is_even_near_zero_and_left_alone_where_clearly_bent():
    angles = np.radians([-30.0, -5.0, 0.0, 5.0, 20.0, 90.0])
    rounded = np.degrees(_rounded(angles))
    # Below 5 degrees the root of the squares of the angle and of 5 degrees; from 20 on itself.
    assert rounded == pytest.approx([np.sqrt(925.0), np.sqrt(50.0), 5.0, np.sqrt(50.0), 20.0, 90.0])
    half = np.degrees(_rounded(np.radians([12.5])))[0]  # half way: the mean of both
    assert half == pytest.approx(0.5 * (12.5 + np.hypot(12.5, 5.0)))
