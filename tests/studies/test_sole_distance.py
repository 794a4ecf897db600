"""The independent distance of the zero moment point from the soles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import motionloom as ml
from studies.measures.sole_distance import (
    _hull_distance,
    _masses,
    _named_joints,
    _zero_moment_points,
    sole_distance,
)

STAND = ml.synthetic.clip("stand", duration_s=2.0, fps=60)


def hull_distance(point: np.ndarray, corners: np.ndarray) -> float:
    """Distance from the convex hull, edge by edge; 0 inside."""
    hull = ConvexHull(corners)
    if (hull.equations @ [*point, 1.0] <= 0.0).all():
        return 0.0
    distances = []
    for edge in hull.simplices:
        start, along = corners[edge[0]], corners[edge[1]] - corners[edge[0]]
        part = np.clip((point - start) @ along / (along @ along), 0.0, 1.0)
        distances.append(np.linalg.norm(point - start - part * along))
    return float(min(distances))


def test_distances_from_hulls_are_those_of_scipy() -> None:
    rng = np.random.default_rng(5)
    corners, points = rng.normal(size=(200, 8, 2)), 1.5 * rng.normal(size=(200, 2))
    used = rng.random((200, 8)) < 0.7
    used[:, :3] = True
    expected = [
        hull_distance(point, row[flags])
        for point, row, flags in zip(points, corners, used, strict=True)
    ]
    assert 20 < np.count_nonzero(expected) < 180
    np.testing.assert_allclose(_hull_distance(points, corners, used), expected, atol=1e-12)


def test_a_body_that_stands_is_over_its_soles_and_one_that_leans_is_not() -> None:
    still = sole_distance(STAND.motion)
    assert np.isfinite(still).mean() > 0.75
    assert np.nanmax(still) == 0.0
    quats, spine = STAND.motion.local_quats.copy(), STAND.motion.skeleton.names.index("Spine")
    far_back = [np.cos(0.6), -np.sin(0.6), 0.0, 0.0]  # on the same legs
    quats[:, spine] = far_back
    tilted = sole_distance(STAND.motion.replace(local_quats=quats))
    assert np.nanmax(tilted) > 0.03


def test_a_push_shifts_the_point_by_height_times_acceleration() -> None:
    joints = _named_joints(STAND.motion.world_positions(), ml.BodyMap.guess(STAND.motion.skeleton))
    push = np.array([0.8, 0.0, -0.5])
    time = np.arange(STAND.motion.n_frames)[:, None] / 60.0
    way = 0.5 * push * time**2
    pushed = {name: place + way for name, place in joints.items()}
    before, after = (_zero_moment_points(each, 0.0, 60.0, 3.0) for each in (joints, pushed))
    masses, centres = _masses(joints)
    height = np.mean(np.einsum("s,fsc->fc", masses, centres)[:, 1])
    shift = (after - before - way[:, [0, 2]])[20:-20]
    expected = -height / 9.81 * push[[0, 2]]
    np.testing.assert_allclose(shift, np.broadcast_to(expected, shift.shape), atol=2e-3)


def test_flights_have_no_distance() -> None:
    root = STAND.motion.root_positions.copy()
    time = np.arange(49) / 60.0
    root[40:89, 1] += 0.5 * 9.81 * time * (time[-1] - time)
    distance = sole_distance(STAND.motion.replace(root_positions=root))
    assert np.isnan(distance[58:71]).all()
    assert distance[20:30] == pytest.approx(0.0)
