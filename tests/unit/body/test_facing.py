"""Which way the body faces."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.body.body_map import BodyMap, facing, facing_of_positions
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.edit import move
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

from .test_body_map import PERSON, person

FLOAT64 = 1e-12


def turning(headings: np.ndarray, tilt: np.ndarray | None = None) -> Motion:
    skeleton = person()
    local = np.tile(quat.IDENTITY, (len(headings), skeleton.n_joints, 1))
    yaw = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), headings)
    if tilt is not None:
        yaw = quat.multiply(yaw, quat.from_axis_angle(np.array([0.0, 0.0, 1.0]), tilt))
    local[:, 0] = yaw
    return Motion(skeleton, np.zeros((len(headings), 3)), local, fps=30)


def test_heading_zero_faces_plus_z() -> None:
    assert facing(turning(np.zeros(2)), body=PERSON) == pytest.approx([0.0, 0.0], abs=FLOAT64)


def test_turning_on_the_spot_is_unwrapped() -> None:
    headings = np.linspace(0.3, 3 * np.pi, 60)
    assert np.allclose(facing(turning(headings), body=PERSON), headings, atol=1e-9)


def test_moving_a_clip_moves_its_heading() -> None:
    clip = turning(np.linspace(0.0, 1.0, 20))
    moved = facing(move(clip, heading=0.7, x=3.0), body=PERSON)
    assert np.allclose(moved, facing(clip, body=PERSON) + 0.7, atol=1e-9)


def test_on_its_side_the_body_keeps_the_heading_it_had() -> None:
    tilt = np.concatenate([np.zeros(5), np.full(5, np.pi / 2), np.zeros(5)])
    headings = facing(turning(np.full(15, 0.4), tilt), body=PERSON)
    assert np.allclose(headings, 0.4, atol=1e-9)


def test_a_clip_that_starts_on_its_side_takes_the_first_heading_it_has() -> None:
    tilt = np.concatenate([np.full(5, np.pi / 2), np.zeros(5)])
    assert np.allclose(facing(turning(np.full(10, -1.1), tilt), body=PERSON), -1.1, atol=1e-9)


def test_a_skeleton_without_hips_and_shoulders_has_no_heading() -> None:
    rope = Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    clip = Motion(rope, np.zeros((2, 3)), np.tile(quat.IDENTITY, (2, 2, 1)), fps=30)
    with pytest.raises(SkeletonMismatchError, match="both hips or both shoulders"):
        facing(clip)


def test_hips_and_shoulders_count_alike_however_wide_they_are() -> None:
    # Hips face +Z (left at +X), twice as wide as the shoulders, which face +X (left at -Z).
    positions = np.zeros((1, 4, 3))
    positions[0, :, [0, 2]] = np.array([[0.2, -0.2, 0.0, 0.0], [0.0, 0.0, -0.1, 0.1]])
    body = BodyMap(left_hip=0, right_hip=1, left_shoulder=2, right_shoulder=3)
    assert facing_of_positions(positions, body) == pytest.approx([np.pi / 4])
    lone = BodyMap(left_hip=0, right_hip=1)
    assert facing_of_positions(positions, lone) == pytest.approx([0.0])


def test_joints_in_one_place_give_no_direction_and_no_error() -> None:
    positions = np.zeros((2, 4, 3))
    positions[1, 0, 0] = 0.3
    body = BodyMap(left_hip=0, right_hip=1, left_shoulder=2, right_shoulder=3)
    assert facing_of_positions(positions, body) == pytest.approx([0.0, 0.0])


def test_one_hip_alone_counts_for_nothing_and_shoulders_count_as_much_as_hips() -> None:
    positions = np.zeros((1, 4, 3))
    positions[0, 0], positions[0, 1] = [0.1, 0.9, 0.0], [-0.1, 0.9, 0.0]  # hips face +Z
    positions[0, 2], positions[0, 3] = [0.0, 1.4, -0.9], [0.0, 1.4, 0.9]  # shoulders face +X
    hips, shoulders = (
        BodyMap(left_hip=0, right_hip=1),
        BodyMap(left_shoulder=2, right_shoulder=3, left_hip=0),
    )
    both = BodyMap(left_hip=0, right_hip=1, left_shoulder=2, right_shoulder=3)
    for body, heading in ((hips, 0.0), (shoulders, np.pi / 2), (both, np.pi / 4)):
        assert facing_of_positions(positions, body) == pytest.approx([heading], abs=FLOAT64)
    for lone in (BodyMap(left_hip=0), BodyMap(right_shoulder=3), BodyMap()):
        with pytest.raises(SkeletonMismatchError, match="both hips or both shoulders"):
            facing_of_positions(positions, lone)
