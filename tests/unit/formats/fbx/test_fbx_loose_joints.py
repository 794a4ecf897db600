"""Sliding joints are bound off the axis of their parents, so that Blender leaves them loose."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.root_motion import with_root_bone
from motionloom.formats.character import Character, SkinnedMesh
from motionloom.formats.fbx.fbx_write_skin import bind_matrices, with_loose_joints
from motionloom.formats.meshes import inverse_frames
from motionloom.rotation import quat

CONNECTED = 1e-4
"""Units of the file below which Blender 5 connects a joint to the end of its parent's bone."""
PLACES = np.array([[0.0, 0.0, 0.0], [0.0, 0.9, 0.0], [0.0, 1.2, 0.0], [0.3, 1.2, 0.0]])


def pillar(*carriers: int, places: np.ndarray = PLACES) -> Character:
    """Three joints above each other and one to the side, with one point on each carrier."""
    skeleton = ml.Skeleton(
        ("root", "hips", "chest", "arm"),
        np.array([-1, 0, 1, 2]),
        np.diff(places, axis=0, prepend=np.zeros((1, 3))),
    )
    still = ml.Motion(skeleton, np.zeros((1, 3)), np.tile(quat.IDENTITY, (1, 4, 1)), 30.0, None)
    mesh = SkinnedMesh(
        "mesh",
        np.arange(9.0).reshape(3, 3),
        [[0, 1, 2]],
        np.array(carriers)[:, None],
        np.ones((3, 1)),
        inverse_frames(places, np.tile(quat.IDENTITY, (4, 1))),
        [-1],
    )
    return Character("pillar", still, (mesh,))


def bound_places(character: Character) -> np.ndarray:
    return bind_matrices(character).reshape(-1, 4, 4)[:, 3, :3]


def test_a_sliding_joint_above_its_parent_is_bound_off_its_axis() -> None:
    character = pillar(1, 1, 2)
    loose = bound_places(with_loose_joints(character, [2]))
    moved = np.linalg.norm(loose - PLACES, axis=1)
    assert CONNECTED < moved[2] < 10 * CONNECTED
    assert moved[[0, 1, 3]].max() < 1e-12
    assert loose[2, 1] == pytest.approx(PLACES[2, 1], abs=1e-12)


def test_a_root_that_carries_nothing_is_moved_so_that_the_skin_stays() -> None:
    character = with_loose_joints(pillar(1, 1, 2), [1])
    moved = np.linalg.norm(bound_places(character) - PLACES, axis=1)
    assert moved[0] > CONNECTED and moved[1:].max() < 1e-12


def test_joints_that_do_not_slide_or_lie_to_the_side_keep_their_binds() -> None:
    character = pillar(1, 1, 2)
    assert with_loose_joints(character, []) is character
    assert with_loose_joints(character, [3]) is character


def test_a_joint_below_its_parent_keeps_its_bind() -> None:
    character = pillar(1, 1, 2, places=PLACES * [1.0, -1.0, 1.0])
    assert with_loose_joints(character, [1, 2]) is character


def test_every_joint_of_a_sliding_chain_is_loose_and_stays_so() -> None:
    once = with_loose_joints(pillar(1, 1, 2), [1, 2, 3])
    places = bound_places(once)
    off_axis = np.diff(places, axis=0)[:2, [0, 2]]
    assert np.linalg.norm(off_axis, axis=1).min() > CONNECTED
    assert with_loose_joints(once, [1, 2, 3]) is once


def test_far_out_the_distance_grows_with_the_place() -> None:
    far = bound_places(with_loose_joints(pillar(1, 1, 2, places=PLACES + 5000.0), [2]))
    assert np.linalg.norm(far[2] - (PLACES[2] + 5000.0)) > 5000.0 * 1e-6


@pytest.mark.parametrize("unit", ["m", "cm", "in"])
def test_keys_and_rest_offsets_come_back_as_they_were(tmp_path: Path, unit: str) -> None:
    walk = ml.synthetic.clip("walk").motion[:20]
    offsets = np.array(walk.skeleton.offsets)
    offsets[0] = [0.0, 0.93, 0.0]
    walk = walk.replace(skeleton=dataclasses.replace(walk.skeleton, offsets=offsets))
    rooted = with_root_bone(walk)
    ml.save(rooted, tmp_path / "rooted.fbx", unit=unit)
    back = ml.load(tmp_path / "rooted.fbx", keep_t_pose=True)
    np.testing.assert_allclose(back.skeleton.offsets, rooted.skeleton.offsets, atol=1e-9)
    np.testing.assert_allclose(back.world_positions(), rooted.world_positions(), atol=2e-6)
