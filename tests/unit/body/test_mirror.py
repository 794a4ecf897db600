"""The looking glass, for any joint axes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motionloom.body.body_map import facing
from motionloom.body.mirror import _pair_flip, _plane_flip, mirror
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

from .test_body_map import PERSON, person

FLOAT64 = 1e-9
GLASS = np.array([-1.0, 1.0, 1.0])


def moving(skeleton: Skeleton, seed: int, n_frames: int = 8) -> Motion:
    rng = np.random.default_rng(seed)
    steps = 0.3 * rng.normal(size=(n_frames, skeleton.n_joints, 3))
    start = quat.normalize(rng.normal(size=(1, skeleton.n_joints, 4)))
    quats = quat.multiply(start, quat.exp(np.cumsum(steps, axis=0)))
    return Motion(skeleton, rng.normal(size=(n_frames, 3)), quats, fps=30)


def with_other_axes(skeleton: Skeleton, seed: int, *, rest_is_a_pose: bool) -> Skeleton:
    """The same person with a random frame at every joint; its rest pose may be no pose at all."""
    rng = np.random.default_rng(seed)
    own = quat.normalize(rng.normal(size=(skeleton.n_joints, 4)))  # q_world_joint in the T-pose
    parents = np.maximum(skeleton.parents, 0)
    rest = own.copy()
    rest[1:] = quat.multiply(quat.conjugate(own[parents[1:]]), own[1:])
    offsets = quat.rotate(quat.conjugate(own[parents]), skeleton.offsets)
    offsets[0] = skeleton.offsets[0]
    return Skeleton(
        skeleton.names,
        skeleton.parents,
        offsets,
        rest if rest_is_a_pose else np.tile(quat.IDENTITY, (skeleton.n_joints, 1)),
        skeleton.end_parents,
        quat.rotate(quat.conjugate(own[skeleton.end_parents]), skeleton.end_offsets),
    )


def swapped(positions: np.ndarray) -> np.ndarray:
    partner = np.arange(positions.shape[1])
    for left, right in ((5, 1), (6, 2), (7, 3), (8, 4), *((18 + i, 13 + i) for i in range(5))):
        partner[left], partner[right] = right, left
    return positions[:, partner] * GLASS


@pytest.mark.parametrize("rest_is_a_pose", [True, False])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_every_joint_is_where_its_partner_was_in_the_glass(rest_is_a_pose: bool, seed: int) -> None:
    skeleton = with_other_axes(person(), seed, rest_is_a_pose=rest_is_a_pose)
    clip = moving(skeleton, seed)
    seen = mirror(clip, body=PERSON)
    assert np.allclose(seen.world_positions(), swapped(clip.world_positions()), atol=1e-6)
    assert seen.skeleton is clip.skeleton


@pytest.mark.parametrize("rest_is_a_pose", [True, False])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**16))
def test_mirroring_twice_changes_nothing(rest_is_a_pose: bool, seed: int) -> None:
    clip = moving(with_other_axes(person(), seed, rest_is_a_pose=rest_is_a_pose), seed)
    back = mirror(mirror(clip, body=PERSON), body=PERSON)
    assert np.allclose(back.local_quats, clip.local_quats, atol=FLOAT64)
    assert np.allclose(back.root_positions, clip.root_positions, atol=FLOAT64)


def test_a_symmetric_pose_with_a_rest_pose_is_its_own_image() -> None:
    skeleton = with_other_axes(person(), 3, rest_is_a_pose=True)
    standing = Motion(skeleton, np.zeros((1, 3)), skeleton.rest_quats[None], fps=30)
    seen = mirror(standing, body=PERSON)
    assert np.allclose(quat.angle_between(seen.local_quats, standing.local_quats), 0.0, atol=1e-6)


def test_a_mirrored_body_faces_the_other_way_about() -> None:
    clip = moving(person(), 5)
    assert np.allclose(
        np.cos(facing(mirror(clip, body=PERSON), body=PERSON)),
        np.cos(facing(clip, body=PERSON)),
        atol=1e-6,
    )


def test_joint_translations_are_mirrored_too() -> None:
    skeleton = with_other_axes(person(), 7, rest_is_a_pose=True)
    clip = moving(skeleton, 7)
    sliding = skeleton.offsets + 0.02 * np.random.default_rng(7).normal(
        size=(clip.n_frames, skeleton.n_joints, 3)
    )
    clip = clip.replace(joint_translations=sliding)
    seen = mirror(clip, body=PERSON)
    assert np.allclose(seen.world_positions(), swapped(clip.world_positions()), atol=1e-6)
    back = mirror(seen, body=PERSON)
    assert back.joint_translations is not None
    assert np.allclose(back.joint_translations[:, 1:], sliding[:, 1:], atol=FLOAT64)


def test_a_joint_that_one_side_lacks_keeps_its_own_turns() -> None:
    skeleton = person()
    extra = Skeleton(
        [*skeleton.names, "sixth finger"],
        [*skeleton.parents, PERSON.left_wrist],
        [*skeleton.offsets, [0.05, 0.0, 0.02]],
    )
    clip = moving(extra, 4)
    seen = mirror(clip, body=PERSON)
    assert np.allclose(seen.local_quats[:, -1], clip.local_quats[:, -1], atol=FLOAT64)
    back = mirror(seen, body=PERSON)
    assert np.allclose(back.local_quats, clip.local_quats, atol=FLOAT64)


def test_an_uneven_body_keeps_its_own_bones() -> None:
    skeleton = person()
    offsets = np.array(skeleton.offsets)
    offsets[PERSON.left_ankle] *= 1.1
    clip = moving(Skeleton(skeleton.names, skeleton.parents, offsets), 2)
    at = mirror(clip, body=PERSON).world_positions()
    shank = np.linalg.norm(at[:, PERSON.left_ankle] - at[:, PERSON.left_knee], axis=1)
    assert np.allclose(shank, 1.1 * 0.41, atol=FLOAT64)


def test_without_bones_the_rest_pose_decides_how_a_joint_is_mirrored() -> None:
    rng = np.random.default_rng(6)
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    plane = np.eye(3) - 2.0 * np.outer(normal, normal)
    assert np.allclose(_plane_flip(np.zeros((3, 3)), plane), plane, atol=1e-7)
    other = quat.to_matrix(quat.normalize(rng.normal(size=4))) @ plane  # determinant -1, any turn
    assert np.allclose(_pair_flip(np.zeros((3, 3)), other), other, atol=1e-7)


def test_bones_decide_how_a_joint_is_mirrored_whatever_their_length() -> None:
    rng = np.random.default_rng(7)
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    plane = np.eye(3) - 2.0 * np.outer(normal, normal)
    other = quat.to_matrix(quat.normalize(rng.normal(size=4))) @ plane
    for length in (1e-3, 1.0, 1e3):
        own = length * rng.normal(size=(5, 3))
        both = np.concatenate([own, own @ plane])  # bones and their images: as many on each side
        product = both.T @ np.concatenate([own @ plane, own])
        assert np.allclose(_plane_flip(product, np.diag([1.0, -1.0, 1.0])), plane, atol=1e-7)
        assert np.allclose(_pair_flip(own.T @ (own @ other), -np.eye(3)), other, atol=1e-7)
