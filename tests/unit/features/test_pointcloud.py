"""Points that a frame is compared by, on a small body whose points are known."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Motion, Skeleton
from motionloom.registration.timewarp import point_cloud

NAMES = ["carrier", "hips", "spine", "twist", "arm", "wrist", "finger", "knuckle"]
OFFSETS = np.array(
    [
        [0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.5, 0.0],
        [0.0, 0.0, 1e-4],  # lies on its parent
        [0.3, 0.0, 0.0],
        [0.2, 0.0, 0.0],
        [0.1, 0.0, 0.0],
        [0.05, 0.0, 0.0],
    ]
)
PARENTS = [-1, 0, 1, 2, 3, 4, 5, 6]
BODY = BodyMap(pelvis=1, left_wrist=5)


def body_of(end_parents=(2, 7), offsets=OFFSETS):
    ends = np.array([[0.0, 0.4, 0.0], [0.03, 0.0, 0.0]])[: len(end_parents)]
    return Skeleton(NAMES, PARENTS, offsets, end_parents=list(end_parents), end_offsets=ends)


def cloud_of(skeleton=None, **options):
    skeleton = body_of() if skeleton is None else skeleton
    quats = np.tile([1.0, 0.0, 0.0, 0.0], (2, len(NAMES), 1))
    root = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    return point_cloud(Motion(skeleton, root, quats, 30.0), body=BODY, **options)


def test_joints_tips_and_middles_of_bones_without_fingers_and_what_lies_on_its_parent():
    cloud = cloud_of()
    spine = [0.0, 1.5, 0.0]
    expected = np.array(
        [
            [0.0, 1.0, 0.0],  # hips: what is above them is left out
            spine,
            [0.3, 1.5, 1e-4],
            [0.5, 1.5, 1e-4],
            [0.0, 1.9, 0.0],  # the tip of the spine; that of the finger is left out
            [0.0, 1.25, 0.0],  # middles
            [0.15, 1.5, 1e-4],
            [0.4, 1.5, 1e-4],
        ]
    )
    assert cloud.points[0] == pytest.approx(expected)
    assert cloud.points[1] == pytest.approx(expected + np.array([0.0, 0.0, 2.0]))
    assert cloud.weights == pytest.approx(np.full(8, 0.125))


def test_tips_count_only_where_all_compared_bodies_have_them():
    same, other = body_of(), body_of((3, 7))
    assert np.array_equal(cloud_of(among=[same, same]).points, cloud_of().points)
    assert cloud_of(among=[same, other]).points.shape == (2, 7, 3)
    # The first decides which joints count: here the twist has a bone.
    longer = np.array(OFFSETS)
    longer[3] = [0.0, 0.0, 0.1]
    assert cloud_of(among=[body_of(offsets=longer), same]).points.shape == (2, 10, 3)


def test_a_body_of_one_joint_is_one_point():
    motion = Motion(Skeleton(["hips"], [-1], [[0, 0, 0]]), np.ones((1, 3)), [[[1, 0, 0, 0]]], 30.0)
    cloud = point_cloud(motion, body=BodyMap(pelvis=0))
    assert cloud.points.tolist() == [[[1.0, 1.0, 1.0]]]
    assert cloud.weights.tolist() == [1.0]


def test_bodies_of_forty_points_have_no_middles():
    def shape(n):
        offsets = np.tile([0.0, 0.1, 0.0], (n, 1))
        skeleton = Skeleton([f"j{k}" for k in range(n)], range(-1, n - 1), offsets)
        quats = np.tile([1.0, 0.0, 0.0, 0.0], (1, n, 1))
        motion = Motion(skeleton, np.zeros((1, 3)), quats, 30.0)
        return point_cloud(motion, body=BodyMap(pelvis=0)).points.shape[1]

    assert (shape(39), shape(40)) == (39 + 38, 40)
