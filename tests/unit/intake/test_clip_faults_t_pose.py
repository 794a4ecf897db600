from __future__ import annotations

import numpy as np

from motionloom.body.body_map import BodyMap
from motionloom.intake.clip_faults import count_t_pose_frames
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

X = np.array([1.0, 0.0, 0.0])


def with_front(motion: Motion, pose: np.ndarray, times: int = 1) -> Motion:
    root = np.concatenate([motion.root_positions[:1]] * times + [motion.root_positions])
    quats = np.concatenate([pose[None]] * times + [motion.local_quats])
    return motion.replace(root_positions=root, local_quats=quats)


def count(motion: Motion) -> int:
    return count_t_pose_frames(motion, BodyMap.guess(motion.skeleton))


def test_a_rest_pose_in_front_of_the_motion_is_counted(person) -> None:
    motion = person()
    assert count(with_front(motion, motion.skeleton.rest_quats)) == 1


def test_a_held_t_pose_is_counted_whole(person) -> None:
    motion = person()
    assert count(with_front(motion, motion.skeleton.rest_quats, times=5)) == 5


def test_a_t_pose_that_is_not_the_rest_pose_is_seen_by_its_arms(person) -> None:
    motion = person()
    pose = np.array(motion.skeleton.rest_quats)
    for leg in ("LeftUpLeg", "RightUpLeg", "Spine"):  # as CMU's added frame: legs turned at rest
        pose[motion.skeleton.index(leg)] = quat.from_axis_angle(X, 0.35)
    assert count(with_front(motion, pose)) == 1


def test_a_jump_out_of_another_pose_is_no_t_pose(person) -> None:
    motion = person()
    pose = np.array(motion.local_quats[0])
    pose[motion.skeleton.index("Spine")] = quat.from_axis_angle(X, 1.0)
    assert count(with_front(motion, pose)) == 0


def test_a_performer_who_lowers_the_arms_smoothly_is_kept(person) -> None:
    motion = person(120)
    arm = motion.skeleton.index("LeftArm"), motion.skeleton.index("RightArm")
    quats = np.array(motion.local_quats)
    share = np.clip(np.arange(120) / 60, 0, 1)[:, None]
    for j in arm:
        quats[:, j] = quat.slerp(np.broadcast_to(quat.IDENTITY, (120, 4)), quats[:, j], share[:, 0])
    assert count(motion.replace(local_quats=quats)) == 0


def test_a_clip_that_is_all_t_pose_keeps_its_frames(person) -> None:
    motion = person(10)
    still = motion.replace(local_quats=np.tile(motion.skeleton.rest_quats, (10, 1, 1)))
    assert count(still) == 0


def test_one_and_two_frames_are_kept(person) -> None:
    motion = person(10)
    front = with_front(motion, motion.skeleton.rest_quats)
    assert count(front[:1]) == 0
    assert count(front[:2]) == 0


def test_a_thing_without_arms_keeps_its_rest_pose(person) -> None:
    motion = person()
    front = with_front(motion, motion.skeleton.rest_quats)
    assert count_t_pose_frames(front, BodyMap()) == 0


def test_a_glitch_after_the_t_pose_does_not_hide_it(person) -> None:
    motion = with_front(person(), person().skeleton.rest_quats)
    quats = np.array(motion.local_quats)
    quats[3:, 5] = quat.multiply(quat.from_axis_angle(X, 1.6), quats[3:, 5])
    assert count(motion.replace(local_quats=quats)) == 1
