"""Masses, centre of mass, zero moment point and support, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.body.anatomy import foot_points, stature, tip_points
from motionloom.body.body_map import BodyMap
from motionloom.body.masses import mass_segments
from motionloom.features.balance import (
    GRAVITY,
    HALF_WIDTH,
    _cubic_fits,
    _lengthened,
    centre_of_mass,
    measure_support,
    support_corners,
    support_distance,
    zero_moment_point,
)
from motionloom.motion.edit import move
from motionloom.motion.motion import Motion

FLOAT64 = 1e-9
DIRECTIONS = 1e-4
"""What 360 directions leave of a distance of a metre."""


@pytest.fixture(scope="module")
def still() -> Motion:
    """One standing pose for two seconds."""
    pose = synthetic.clip("stand").motion[:1]
    return pose.replace(
        root_positions=np.repeat(pose.root_positions, 121, axis=0),
        local_quats=np.repeat(pose.local_quats, 121, axis=0),
    )


def carried(motion: Motion, way: np.ndarray) -> Motion:
    return motion.replace(root_positions=motion.root_positions + way)


def test_masses_sum_to_one_and_left_equals_right() -> None:
    motion = synthetic.clip("stand").motion
    segments = mass_segments(motion.skeleton.n_joints, BodyMap.guess(motion.skeleton))
    assert segments.masses.sum() == pytest.approx(1.0)
    assert segments.weights.sum(axis=1) == pytest.approx(np.ones(16))
    named = dict(zip(segments.names, segments.masses, strict=True))
    for name in ("thigh", "shank", "foot", "upper_arm", "forearm", "hand"):
        assert named[f"left_{name}"] == named[f"right_{name}"]


def test_a_body_of_pelvis_only_has_its_mass_there() -> None:
    segments = mass_segments(3, BodyMap(pelvis=1))
    assert segments.masses @ segments.weights == pytest.approx([0.0, 1.0, 0.0])


def test_a_standing_person_has_its_centre_a_little_above_half_its_height(still: Motion) -> None:
    height = centre_of_mass(still)[0, 1]
    assert 0.53 * 1.75 < height < 0.60 * 1.75


def test_the_centre_is_the_weighted_mean_of_the_segments(still: Motion) -> None:
    segments = mass_segments(still.skeleton.n_joints, BodyMap.guess(still.skeleton))
    mean = np.einsum("s,fsc->fc", segments.masses, segments.centres(still.world_positions()))
    assert np.abs(mean - centre_of_mass(still)).max() < FLOAT64


def test_of_a_static_pose_the_zero_moment_point_lies_under_the_centre(still: Motion) -> None:
    zmp = zero_moment_point(still)
    inner = slice(10, -10)
    assert zmp.points[inner] == pytest.approx(centre_of_mass(still)[inner][:, [0, 2]], abs=1e-6)
    assert zmp.load[inner] == pytest.approx(np.ones(len(zmp.load[inner])))


def test_speeding_up_moves_it_back_by_height_times_acceleration_over_gravity(still: Motion) -> None:
    time = np.arange(still.n_frames) / still.fps
    speeding = carried(still, np.outer(0.5 * 1.5 * time**2, [0, 0, 1]))
    centre = centre_of_mass(speeding)
    shift = zero_moment_point(speeding).points - centre[:, [0, 2]]
    expected = -centre[30, 1] * 1.5 / GRAVITY
    assert shift[30:-30, 1] == pytest.approx(np.full(len(shift) - 60, expected), abs=1e-6)
    assert np.abs(shift[30:-30, 0]).max() < 1e-6


def test_in_free_fall_there_is_none(still: Motion) -> None:
    time = np.arange(still.n_frames) / still.fps
    falling = carried(still, np.outer(-0.5 * GRAVITY * time**2, [0, 1, 0]))
    zmp = zero_moment_point(falling)
    assert np.isnan(zmp.points[20:-20]).all()
    assert np.abs(zmp.load[20:-20]).max() < 1e-6


def test_it_moves_with_the_clip(still: Motion) -> None:
    there = zero_moment_point(move(still, x=5.0, z=-3.0)).points
    here = zero_moment_point(still).points
    assert there[20:-20] - here[20:-20] == pytest.approx(
        np.tile([5.0, -3.0], (len(here) - 40, 1)), abs=1e-6
    )


@pytest.mark.parametrize(
    ("point", "distance"),
    [((2, 2), np.sqrt(2)), ((0.5, 0.5), -0.5), ((3, 0.5), 2.0), ((0.1, 0.5), -0.1)],
)
def test_distance_to_a_square(point: tuple[float, float], distance: float) -> None:
    square = np.array([[[0, 0], [1, 0], [0, 1], [1, 1.0]]])
    out = support_distance(np.array([point], dtype=float), square, np.ones((1, 4), dtype=bool))
    assert out[0] == pytest.approx(distance, abs=DIRECTIONS)


def test_a_single_corner_and_none_at_all() -> None:
    corners = np.zeros((2, 3, 2))
    used = np.array([[True, False, False], [False, False, False]])
    out = support_distance(np.array([[3.0, 4.0], [3.0, 4.0]]), corners, used)
    assert out[0] == pytest.approx(5.0, abs=1e-3)
    assert np.isnan(out[1])


def test_every_frame_of_a_long_clip_has_its_distance():
    n = 100
    points = np.stack([np.linspace(-1.0, 1.0, n), np.zeros(n)], axis=-1)
    square = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    corners, used = np.tile(square, (n, 1, 1)), np.ones((n, 4), dtype=bool)
    found = support_distance(points, corners, used)
    assert found == pytest.approx(np.abs(points[:, 0]) - 0.5, abs=0.005)


@pytest.mark.parametrize("fps", [4.0, 30.0, 120.0])
def test_cubics_are_fitted_exactly_at_any_rate(fps):
    time = np.arange(60) / fps
    values = np.stack([2.0 - time + 3.0 * time**2 - 0.5 * time**3, time], axis=-1)
    smooth, second = _cubic_fits(values, fps)
    known = np.isfinite(smooth[:, 0])
    assert 20 < known.sum() < 60
    assert smooth[known] == pytest.approx(values[known], abs=1e-6)
    assert second[known, 0] == pytest.approx(6.0 - 3.0 * time[known], abs=1e-4)
    assert second[known, 1] == pytest.approx(np.zeros(known.sum()), abs=1e-4)


def test_corners_lie_to_both_sides_of_heel_ankle_ball_and_tip() -> None:
    points = np.zeros((1, 4, 3))
    points[0, 0], points[0, 1] = [1.0, 0.1, 2.0], [1.0, 0.0, 2.3]
    points[0, 2], points[0, 3] = [4.0, 0.1, 5.0], [4.6, 0.0, 5.0]
    tips = np.array([[[1.0, 0.0, 2.4], [4.8, 0.0, 5.0]]])
    planted = np.array([[True, False, False, True]])
    corners, used = support_corners(points, tips, planted, 0.05)
    left = [(x, z) for z in (2.0, 2.1, 2.3, 2.4) for x in (0.95, 1.05)]
    right = [(x, z) for x in (4.0, 4.2, 4.6, 4.8) for z in (5.05, 4.95)]
    assert corners[0] == pytest.approx(np.array(left + right))
    assert used[0].tolist() == [True] * 4 + [False] * 4 + [False] * 4 + [True] * 4


def test_support_is_measured_from_where_the_feet_stand(still: Motion) -> None:
    body = BodyMap.guess(still.skeleton)
    points = foot_points(still, body=body)
    stands = np.ones((still.n_frames, 4), dtype=bool)
    assert measure_support(still, points, stands, body) == (0.0, 0.0)
    assert measure_support(still, points, ~stands, body) == (None, 1.0)
    # On its heels, with the body three metres away from them.
    heels = stands & np.array([True, False, True, False])
    half_width = HALF_WIDTH * stature(still.skeleton, body)
    corners, used = support_corners(points, tip_points(still, body=body), heels, half_width)
    edge = float(corners[60, used[60], 0].min())
    off = carried(still, np.array([-3.0, 0.0, 0.0]))
    distance, without = measure_support(off, points, heels, body)
    assert without == 0.0
    assert distance == pytest.approx(edge - zero_moment_point(off).points[60, 0], abs=0.02)


def test_feet_carry_a_tenth_of_a_second_longer_than_they_stand(still: Motion) -> None:
    body = BodyMap.guess(still.skeleton)
    points = foot_points(still, body=body)
    planted = np.zeros((still.n_frames, 4), dtype=bool)
    planted[60] = True
    standing = int(np.isfinite(zero_moment_point(still).points).all(axis=-1).sum())
    _, none = measure_support(still, points, planted, body)
    reach = round(0.1 * still.fps)
    assert none == pytest.approx(1.0 - (2 * reach + 1) / standing)
    rows = np.zeros((5, 1), dtype=bool)
    rows[1] = True
    assert _lengthened(rows, 2)[:, 0].tolist() == [True, True, True, True, False]
    assert _lengthened(rows, 99).all() and _lengthened(rows[:1], 3).tolist() == [[False]]
    assert np.array_equal(_lengthened(rows, 0), rows)


def test_a_body_in_flight_needs_no_support(still: Motion) -> None:
    time = np.arange(still.n_frames)[:, None] / still.fps
    falling = carried(still, -0.5 * GRAVITY * time**2 * np.array([0.0, 1.0, 0.0]))
    planted = np.ones((still.n_frames, 4), dtype=bool)
    body = BodyMap.guess(still.skeleton)
    assert measure_support(falling, foot_points(falling, body=body), planted, body) == (None, None)
