"""Poses found from joint positions: bones keep their lengths, joints turn as fits best."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import motionloom as ml
from motionloom._core import CoreError, kernel
from motionloom.rotation import quat
from motionloom.tables.paper.pose_forms import mean_of_positions, nested_rotations, with_bones
from motionloom.tables.score.recipe import Recipe, rows_at, weights_of
from tests.oracles.bones import nested_slerp, restored
from tests.oracles.bones import turns as _turns


def rotation_of(q):
    w, x, y, z = q
    return Rotation.from_quat([x, y, z, w])


@pytest.fixture
def star():
    """A root with three bones of different lengths; the first goes on."""
    offsets = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.2, 0.0], [0.1, 0.0, 0.5], [0.4, 0.0, 0.0]]
    names = ("root", "a", "b", "c", "a_end")
    return ml.Skeleton(names, np.array([-1, 0, 0, 0, 1]), np.array(offsets))


def some_joints(star, rng, count):
    joints = star.offsets + 0.3 * rng.normal(size=(count, 5, 3))
    joints[:, 4] += joints[:, 1]
    guess = quat.from_axis_angle(rng.normal(size=(count, 5, 3)), rng.normal(size=(count, 5)))
    return joints, quat.normalize(guess)


def test_a_joint_with_several_bones_turns_as_long_ones_ask(star):
    rng = np.random.Generator(np.random.PCG64(1))
    joints, guess = some_joints(star, rng, 6)
    pose = with_bones(star, joints, guess)
    for t in range(6):
        seen = joints[t, 1:4] - joints[t, 0]
        lengths = np.linalg.norm(star.offsets[1:4], axis=1, keepdims=True)
        wanted = seen / np.linalg.norm(seen, axis=1, keepdims=True) * lengths
        best, _ = Rotation.align_vectors(wanted, star.offsets[1:4])
        found = rotation_of(pose.quats[t, 0])
        assert (found.inv() * best).magnitude() == pytest.approx(0.0, abs=1e-6)


def test_bones_have_the_lengths_of_the_skeleton_and_a_single_one_its_direction(star):
    rng = np.random.Generator(np.random.PCG64(2))
    joints, guess = some_joints(star, rng, 6)
    pose = with_bones(star, joints, guess)
    assert pose.body[:, 0] == pytest.approx(joints[:, 0])
    for joint, parent in ((1, 0), (2, 0), (3, 0), (4, 1)):
        bone = np.linalg.norm(pose.body[:, joint] - pose.body[:, parent], axis=1)
        assert bone == pytest.approx(np.full(6, np.linalg.norm(star.offsets[joint])))
    way, seen = pose.body[:, 4] - pose.body[:, 1], joints[:, 4] - joints[:, 1]
    unit = seen / np.linalg.norm(seen, axis=1, keepdims=True)
    assert way == pytest.approx(0.4 * unit)


def test_a_pose_that_fits_stays_as_it_is(star):
    rng = np.random.Generator(np.random.PCG64(3))
    _, guess = some_joints(star, rng, 4)
    motion = ml.Motion(star, rng.normal(size=(4, 3)), guess, 30.0)
    pose = with_bones(star, motion.world_positions(), guess)
    assert quat.angle_between(pose.quats, guess) == pytest.approx(0.0, abs=1e-6)
    assert pose.body == pytest.approx(motion.world_positions())


def test_a_bone_without_direction_points_as_the_guess_does(star):
    rng = np.random.Generator(np.random.PCG64(4))
    _, guess = some_joints(star, rng, 4)
    motion = ml.Motion(star, rng.normal(size=(4, 3)), guess, 30.0)
    joints = motion.world_positions().copy()
    joints[:, 4] = joints[:, 1]
    pose = with_bones(star, joints, guess)
    assert pose.body == pytest.approx(motion.world_positions())


def test_bones_on_a_line_turn_the_shortest_way_and_others_as_they_fit():
    rng = np.random.Generator(np.random.PCG64(5))
    way = rng.normal(size=(20, 1, 3))
    line = way * np.array([[1.0], [0.5], [-2.0]])
    turns = quat.normalize(rng.normal(size=(20, 4)))
    wanted = quat.rotate(turns[:, None], line)
    found = _turns(line, wanted)
    assert quat.rotate(found[:, None], line) == pytest.approx(wanted)
    shortest = quat.between_vectors(line[:, 0], wanted[:, 0])
    assert quat.angle_between(found, shortest) == pytest.approx(0.0, abs=1e-6)
    cloud = rng.normal(size=(20, 3, 3))
    found = _turns(cloud, quat.rotate(turns[:, None], cloud))
    assert quat.angle_between(found, turns) == pytest.approx(0.0, abs=1e-6)


def test_a_mirrored_cloud_is_met_by_a_rotation():
    rng = np.random.Generator(np.random.PCG64(6))
    cloud = rng.normal(size=(1, 4, 3))
    mirrored = cloud * [-1.0, 1.0, 1.0]
    found = rotation_of(_turns(cloud, mirrored)[0])
    best, _ = Rotation.align_vectors(mirrored[0], cloud[0])
    assert (found.inv() * best).magnitude() == pytest.approx(0.0, abs=1e-6)


def some_recipe(frames, n, family="bernstein"):
    rng = np.random.Generator(np.random.PCG64(n))
    return Recipe(tuple(rng.choice(frames.windows(30), n)), 30, family)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("family", ["bernstein", "eased"])
def test_nested_rotations_are_those_of_the_plain_form(kinds_frames, n, family):
    recipe = some_recipe(kinds_frames, n, family)
    pose = nested_rotations(kinds_frames, recipe)
    parts = weights_of(family, 2, 30)[1]
    plain = nested_slerp(kinds_frames.quats[rows_at(kinds_frames, recipe)], parts)
    assert quat.angle_between(pose.quats, plain) == pytest.approx(0.0, abs=1e-7)


def test_hats_show_every_window_alone_once(kinds_frames):
    recipe = Recipe(
        some_recipe(kinds_frames, 3).rows, 30, "hat", np.tile(np.arange(29)[:, None], 3)
    )
    pose = nested_rotations(kinds_frames, recipe)
    for t, way in ((0, 0), (14, 1), (28, 2)):
        captured = quat.normalize(kinds_frames.quats[recipe.rows[way] + t].astype(np.float64))
        assert quat.angle_between(pose.quats[t], captured) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_restored_bones_are_those_of_the_plain_form(kinds_frames, n):
    recipe = some_recipe(kinds_frames, n)
    mean = mean_of_positions(kinds_frames, recipe, bones=False)
    plain = restored(kinds_frames.skeleton, mean.body, mean.quats)
    pose = mean_of_positions(kinds_frames, recipe)
    assert quat.angle_between(pose.quats, plain) == pytest.approx(0.0, abs=1e-6)


def test_a_skeleton_whose_children_come_first_is_refused():
    parents, offsets = np.array([-1, 2, 0]), np.ones((3, 3))
    quats = np.tile([1.0, 0.0, 0.0, 0.0], (2, 3, 1))
    with pytest.raises(CoreError):
        kernel("ml_bones_restore")(
            2, 3, parents, offsets, np.ones((2, 3, 3)), quats, np.zeros((2, 3, 4)), quats.copy()
        )
