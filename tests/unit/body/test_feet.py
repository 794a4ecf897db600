"""Heel and ball on skeletons of every habit."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from motionloom import synthetic
from motionloom._core import kernel
from motionloom.body.anatomy import ball_height, foot_offsets, foot_points, stature, tip_points
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.motion.edit import move
from motionloom.motion.motion import Motion, Skeleton, local_from_world
from motionloom.rotation import quat

FLOAT64 = 1e-9


@pytest.fixture(scope="module")
def walk() -> Motion:
    return synthetic.clip("walk").motion


def other_axes(motion: Motion, seed: int = 0) -> Motion:
    """The same motion on a rig whose joints have arbitrary axes and whose rest pose is a heap."""
    rng = np.random.default_rng(seed)
    skeleton = motion.skeleton
    turns = quat.normalize(rng.standard_normal((skeleton.n_joints, 4)))
    world = quat.multiply(motion.world_quats(), turns)
    back = quat.conjugate(turns)
    offsets = np.array(skeleton.offsets)
    offsets[1:] = quat.rotate(back[skeleton.parents[1:]], offsets[1:])
    rig = dataclasses.replace(
        skeleton,
        offsets=offsets,
        end_offsets=quat.rotate(back[skeleton.end_parents], skeleton.end_offsets),
    )
    return Motion(rig, motion.root_positions, local_from_world(rig, world), motion.fps)


def test_the_ball_is_the_toe_joint(walk: Motion) -> None:
    body = BodyMap.guess(walk.skeleton)
    points = foot_points(walk)
    assert points.shape == (walk.n_frames, 4, 3)
    positions = walk.world_positions()
    assert np.array_equal(points[:, 1], positions[:, body.left_toe])
    assert np.array_equal(points[:, 3], positions[:, body.right_toe])


def test_heel_and_ball_of_a_standing_foot_are_level_and_at_ball_height() -> None:
    clip = synthetic.clip("stand")
    height = ball_height(clip.motion.skeleton, BodyMap.guess(clip.motion.skeleton))
    assert np.abs(foot_points(clip.motion)[..., 1] - height).max() < FLOAT64


def test_the_heel_lies_behind_the_ankle_by_its_part_of_stature(walk: Motion) -> None:
    body = BodyMap.guess(walk.skeleton)
    left, right = foot_offsets(walk.skeleton, body)
    for foot in (left, right):
        assert foot.heel @ foot.forward == pytest.approx(-0.04 * stature(walk.skeleton, body))
        assert foot.heel @ foot.up == pytest.approx(foot.ball @ foot.up)
        assert foot.up @ foot.forward == pytest.approx(0.0, abs=FLOAT64)


def test_heel_and_ball_keep_their_distance(walk: Motion) -> None:
    points = foot_points(walk)
    for side in (0, 2):
        apart = np.linalg.norm(points[:, side + 1] - points[:, side], axis=-1)
        assert np.ptp(apart) < FLOAT64


def test_the_tip_is_the_end_site_of_the_toes(walk: Motion) -> None:
    tips = tip_points(walk)
    ends = walk.end_positions()
    body = BodyMap.guess(walk.skeleton)
    at = int(np.flatnonzero(walk.skeleton.end_parents == body.left_toe)[0])
    assert np.abs(tips[:, 0] - ends[:, at]).max() < FLOAT64


def test_points_move_with_the_clip(walk: Motion) -> None:
    moved = foot_points(move(walk, heading=1.0, x=3.0, z=-2.0))
    heights = foot_points(walk)[..., 1]
    assert np.abs(moved[..., 1] - heights).max() < FLOAT64


def test_a_rest_pose_in_a_heap_is_read_from_the_quiet_frames(walk: Motion) -> None:
    heap = other_axes(walk)
    body = BodyMap.guess(walk.skeleton)
    assert np.abs(heap.world_positions() - walk.world_positions()).max() < FLOAT64
    miss = np.linalg.norm(foot_points(heap, body=body) - foot_points(walk), axis=-1)
    # The sole's level is then a mean over quiet frames, of which a few are not quite flat.
    assert miss.max() < 0.015


def test_a_rig_without_toe_joints_takes_its_ball_from_the_end_of_the_foot() -> None:
    names = ["Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg", "RightFoot"]
    names += ["Spine", "Neck", "Head"]
    offsets = [[0, 1, 0], [0.1, 0, 0], [0, -0.45, 0], [0, -0.45, 0]]
    offsets += [[-0.1, 0, 0], [0, -0.45, 0], [0, -0.45, 0], [0, 0.1, 0], [0, 0.4, 0], [0, 0.1, 0]]
    parents = [-1, 0, 1, 2, 0, 4, 5, 0, 7, 8]
    ends = [[0, -0.05, 0.2], [0, -0.05, 0.2], [0, 0.2, 0]]
    skeleton = Skeleton(names, parents, offsets, end_parents=[3, 6, 9], end_offsets=ends)
    body = BodyMap.guess(skeleton)
    left, _ = foot_offsets(skeleton, body)
    assert left.toe is None
    assert left.ball == pytest.approx([0, -0.035, 0.14])
    assert left.tip == pytest.approx([0, -0.05, 0.2])


def test_a_foot_on_one_line_with_its_shank_needs_a_motion(walk: Motion) -> None:
    offsets = np.zeros_like(walk.skeleton.offsets)
    offsets[:, 0] = np.linalg.norm(walk.skeleton.offsets, axis=-1)
    line = dataclasses.replace(walk.skeleton, offsets=offsets)
    with pytest.raises(SkeletonMismatchError, match="motion="):
        foot_offsets(line, BodyMap.guess(walk.skeleton))


def test_feet_must_be_known() -> None:
    rod = Skeleton(["base", "tip"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    with pytest.raises(SkeletonMismatchError, match="ankle"):
        foot_offsets(rod, BodyMap())


def test_a_body_without_any_length_has_no_feet(walk: Motion) -> None:
    rig = walk.skeleton
    point = dataclasses.replace(rig, offsets=0.0 * rig.offsets, end_offsets=0.0 * rig.end_offsets)
    with pytest.raises(SkeletonMismatchError, match="some length"):
        foot_points(walk.replace(skeleton=point))


@pytest.mark.parametrize("toe", [-1, 3])
def test_foot_points_are_those_of_turned_offsets(walk: Motion, toe: int) -> None:
    positions, quats = walk.world_pose()
    heel, ball, n = np.array([0.01, -0.06, -0.04]), np.array([0.0, -0.05, 0.12]), walk.n_frames
    points = np.zeros((n, 4, 3))
    kernel("ml_foot_points")(*positions.shape[:2], positions, quats, 2, toe, 1, heel, ball, points)
    carried = [positions[:, 2] + quat.rotate(quats[:, 2], each) for each in (heel, ball)]
    assert np.array_equal(points[:, 2], carried[0])
    assert np.array_equal(points[:, 3], carried[1] if toe < 0 else positions[:, toe])
    assert not points[:, :2].any()


@pytest.mark.parametrize(
    ("ankle", "toe", "side"),
    [(-1, 0, 0), (2, 0, 0), (0, 2, 0), (0, -2, 0), (0, 0, 2), (0, 0, -1)],
)
def test_feet_that_are_not_there_are_refused(ankle: int, toe: int, side: int) -> None:
    three = np.zeros(3)
    with pytest.raises(ArrayError, match="sizes"):
        kernel("ml_foot_points")(
            1, 2, np.zeros((1, 2, 3)), np.zeros((1, 2, 4)), ankle, toe, side, three, three,
            np.zeros((1, 4, 3)),
        )  # fmt: skip
