"""Root motion on a separate bone, and taken out."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.body.body_map import facing
from motionloom.body.root_motion import in_place, with_root_bone, without_root_bone
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.motion import Motion

from .test_body_map import PERSON, person
from .test_mirror import moving

FLOAT64 = 1e-9


@pytest.fixture
def clip() -> Motion:
    return moving(person(), 11, n_frames=20)


def test_every_old_joint_stays_where_it_was(clip: Motion) -> None:
    rooted = with_root_bone(clip, body=PERSON)
    assert rooted.skeleton.names[0] == "root"
    assert np.allclose(rooted.world_positions()[:, 1:], clip.world_positions(), atol=FLOAT64)
    assert np.allclose(rooted.end_positions(), clip.end_positions(), atol=FLOAT64)


def test_the_root_bone_carries_only_ground_travel_and_yaw(clip: Motion) -> None:
    rooted = with_root_bone(clip, body=PERSON)
    assert np.all(rooted.root_positions[:, 1] == 0.0)
    assert np.all(rooted.local_quats[:, 0, [1, 3]] == 0.0)
    assert np.allclose(rooted.root_positions[:, [0, 2]], clip.root_positions[:, [0, 2]])
    yaw = 2.0 * np.arctan2(rooted.local_quats[:, 0, 2], rooted.local_quats[:, 0, 0])
    assert np.allclose(np.cos(yaw), np.cos(facing(clip, body=PERSON)), atol=FLOAT64)
    assert np.allclose(rooted.skeleton.rest_quats[0], [1, 0, 0, 0])


def test_taking_the_root_bone_out_gives_the_clip_back(clip: Motion) -> None:
    back = without_root_bone(with_root_bone(clip, body=PERSON))
    assert back.skeleton.same_joints(clip.skeleton)
    assert np.allclose(back.root_positions, clip.root_positions, atol=FLOAT64)
    assert np.allclose(back.local_quats, clip.local_quats, atol=FLOAT64)
    assert back.joint_translations is None


def test_sliding_joints_survive_the_root_bone(clip: Motion) -> None:
    sliding = np.array(np.broadcast_to(clip.skeleton.offsets, (20, clip.skeleton.n_joints, 3)))
    sliding[:, 3] += 0.01 * np.arange(20)[:, None]
    clip = clip.replace(joint_translations=sliding)
    rooted = with_root_bone(clip, body=PERSON)
    assert np.allclose(rooted.world_positions()[:, 1:], clip.world_positions(), atol=FLOAT64)
    back = without_root_bone(rooted)
    assert np.allclose(back.world_positions(), clip.world_positions(), atol=FLOAT64)
    assert back.joint_translations is not None


def test_in_place_holds_the_pelvis_over_its_first_spot(clip: Motion) -> None:
    held = in_place(clip, body=PERSON).world_positions()
    assert np.allclose(held[:, 0, [0, 2]], held[0, 0, [0, 2]], atol=FLOAT64)
    was = clip.world_positions()
    assert np.allclose(held[:, :, 1], was[:, :, 1], atol=FLOAT64)
    assert np.allclose(held - held[:, :1], was - was[:, :1], atol=FLOAT64)


def test_a_name_that_is_taken_is_refused(clip: Motion) -> None:
    with pytest.raises(SkeletonMismatchError, match="must have a new name"):
        with_root_bone(clip, name="joint3", body=PERSON)


def test_only_a_root_bone_can_be_taken_out(clip: Motion) -> None:
    with pytest.raises(SkeletonMismatchError, match="one joint"):
        without_root_bone(clip)
