from __future__ import annotations

import numpy as np
import pytest

from motionloom.errors import ArrayError
from motionloom.motion.motion import Motion, Skeleton
from motionloom.motion.provenance import Source
from motionloom.rotation import quat


@pytest.fixture
def motion() -> Motion:
    bone = Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    return Motion(bone, np.zeros((5, 3)), np.tile(quat.IDENTITY, (5, 2, 1)), 30.0)


def test_labels_are_changed_without_touching_the_arrays(motion: Motion) -> None:
    other = motion.replace(name="walk", source=Source(path="walk.bvh"))
    assert (other.name, other.source.path) == ("walk", "walk.bvh")
    assert other.local_quats is motion.local_quats
    assert motion.name == ""


def test_what_is_changed_is_checked(motion: Motion) -> None:
    for wrong in (
        {"fps": 0.0},
        {"root_positions": np.full((5, 3), np.nan)},
        {"local_quats": np.zeros((5, 2, 4))},
        {"joint_translations": np.zeros((5, 3, 3))},
        {"skeleton": None},
    ):
        with pytest.raises(ArrayError):
            motion.replace(**wrong)


def test_what_is_kept_must_fit_what_is_changed(motion: Motion) -> None:
    three = Skeleton(["a", "b", "c"], [-1, 0, 1], np.zeros((3, 3)))
    with pytest.raises(ArrayError, match="local_quats"):
        motion.replace(skeleton=three)
    with pytest.raises(ArrayError, match="local_quats"):
        motion.replace(root_positions=np.zeros((4, 3)))
    sliding = motion.replace(joint_translations=np.zeros((5, 2, 3)))
    with pytest.raises(ArrayError, match="joint_translations"):
        sliding.replace(root_positions=np.zeros((4, 3)), local_quats=motion.local_quats[:4])


def test_a_field_that_is_none_is_refused(motion: Motion) -> None:
    with pytest.raises(ArrayError, match="got speed"):
        motion.replace(speed=3)


def test_a_part_shares_the_arrays_of_the_whole_and_cannot_write_to_them(motion: Motion) -> None:
    part = motion[1:4]
    assert part.n_frames == 3
    assert np.shares_memory(part.local_quats, motion.local_quats)
    with pytest.raises(ValueError, match="read-only"):
        part.local_quats[0, 0, 0] = 2.0
