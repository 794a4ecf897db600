"""Hulls of soles, and distances from them."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from motionloom.transitions.scoring.hull import (
    beyond_edges,
    distance_outside,
    hull_into,
    soles_into,
)

FLOAT32 = 1e-6


def hull_of(points):
    given = np.array(points, dtype=np.float32)
    out = np.zeros((len(given) + 2, 2), dtype=np.float32)
    return out, hull_into(given.copy(), len(given), out)


def distance(points, x, z):
    corners, n = hull_of(points)
    return distance_outside(corners, n, np.float32(x), np.float32(z))


SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]


def test_a_point_inside_is_at_no_distance():
    assert distance(SQUARE, 0.5, 0.2) == 0.0
    assert distance(SQUARE, 1.0, 0.5) == 0.0


def test_distances_from_an_edge_and_from_a_corner():
    assert distance(SQUARE, 0.5, -2.0) == pytest.approx(2.0, abs=FLOAT32)
    assert distance(SQUARE, 2.0, 2.0) == pytest.approx(np.sqrt(2.0), abs=FLOAT32)


def test_points_within_the_hull_are_no_corners():
    corners, n = hull_of([*SQUARE, (0.5, 0.5), (0.5, 0.0)])
    assert n == 4
    assert {tuple(c) for c in corners[:n].tolist()} == {(0, 0), (1, 0), (1, 1), (0, 1)}


def test_a_line_and_a_point_have_distances_too():
    assert distance([(0, 0), (2, 0), (1, 0)], 1.0, 0.5) == pytest.approx(0.5, abs=FLOAT32)
    assert distance([(0, 0), (2, 0)], 3.0, 0.0) == pytest.approx(1.0, abs=FLOAT32)
    for count in (1, 4):
        assert distance([(1, 1)] * count, 4.0, 5.0) == pytest.approx(5.0, abs=FLOAT32)


def test_only_points_outside_lie_beyond_an_edge():
    corners, n = hull_of(SQUARE)
    x = np.array([0.5, 2.0, -0.1, 0.9, 0.5], dtype=np.float32)
    z = np.array([0.5, 0.5, -0.1, 0.9, 3.0], dtype=np.float32)
    out = np.full(5, 7.0, dtype=np.float32)
    beyond_edges(corners, n, x, z, 1, 5, out)
    assert out[0] == 7.0
    assert (out[1:] > 0.0).tolist() == [True, True, False, True]


def plain_distance(corners, x, z):
    """Distance from a convex polygon whose corners go round from +x to +z. In double precision."""
    a = np.asarray(corners, dtype=np.float64)
    edge, to = np.roll(a, -1, axis=0) - a, np.array([x, z]) - a
    if len(a) > 2 and (edge[:, 0] * to[:, 1] - edge[:, 1] * to[:, 0] >= 0.0).all():
        return 0.0
    along = (edge * to).sum(axis=1) / np.maximum((edge**2).sum(axis=1), 1e-30)
    return np.linalg.norm(to - np.clip(along, 0.0, 1.0)[:, None] * edge, axis=1).min()


def test_hulls_are_those_of_scipy_and_go_round_one_way():
    rng = np.random.Generator(np.random.PCG64(2))
    for _ in range(200):
        count = rng.integers(3, 9)
        points = rng.integers(0, 5, (count, 2)).astype(np.float64)  # many ties and lines
        if np.linalg.matrix_rank(points - points[0]) < 2:
            continue
        corners, n = hull_of(points)
        expected = ConvexHull(points)
        around = corners[:n].astype(np.float64)
        assert set(map(tuple, around)) == set(map(tuple, points[expected.vertices]))
        assert n == len(expected.vertices)
        x, z = around.T
        area = 0.5 * (x * np.roll(z, -1) - np.roll(x, -1) * z).sum()
        assert area == pytest.approx(expected.volume)


@pytest.mark.parametrize(
    ("points", "corners"),
    [
        ([(2, 3)], [(2, 3)]),
        ([(2, 1), (0, 0)], [(0, 0), (2, 1)]),
        ([(1, 4), (1, 2), (1, 3), (1, 2)], [(1, 2), (1, 4)]),
        ([(4, 2), (2, 1), (0, 0)], [(0, 0), (4, 2)]),
        ([], []),
    ],
)
def test_points_on_a_line_have_its_two_ends_as_hull(points, corners):
    found, n = hull_of(np.array(points, dtype=np.float32).reshape(-1, 2))
    assert sorted(map(tuple, found[:n].tolist())) == corners


TRIANGLE = [(0.0, 0.0), (3.0, 1.0), (1.0, 2.0)]
SLANTED = [(0.0, 0.0), (2.0, -1.0), (4.0, 1.0), (3.0, 3.0), (0.5, 2.0)]


@pytest.mark.parametrize("points", [TRIANGLE, SLANTED, [(0.0, 1.0), (3.0, 2.5)]])
def test_distances_are_those_to_the_nearest_edge_or_corner(points):
    corners, n = hull_of(points)
    for x in np.linspace(-2.0, 6.0, 17):
        for z in np.linspace(-3.0, 5.0, 17):
            away = distance_outside(corners, n, np.float32(x), np.float32(z))
            assert away == pytest.approx(plain_distance(corners[:n], x, z), abs=4 * FLOAT32)


@pytest.mark.parametrize("points", [TRIANGLE, SLANTED])
def test_a_point_on_the_border_is_not_outside(points):
    corners, n = hull_of(points)
    ends = corners[:n].astype(np.float64)
    for x, z in [*ends, *(0.5 * (ends + np.roll(ends, -1, axis=0)))]:
        assert distance_outside(corners, n, np.float32(x), np.float32(z)) == 0.0


@pytest.mark.parametrize("points", [TRIANGLE, SLANTED])
def test_beyond_edges_is_the_largest_product_with_an_edge(points):
    corners, n = hull_of(points)
    rng = np.random.Generator(np.random.PCG64(4))
    x, z = rng.uniform(-2.0, 6.0, (2, 60)).astype(np.float32)
    out = np.zeros(60, dtype=np.float32)
    beyond_edges(corners, n, x, z, 0, 60, out)
    start = corners[:n].astype(np.float64)
    edge = np.roll(start, -1, axis=0) - start
    products = edge[:, 1] * (x[:, None] - start[:, 0]) - edge[:, 0] * (z[:, None] - start[:, 1])
    assert out == pytest.approx(np.maximum(products.max(axis=1), -1.0), abs=1e-5)
    outside = [plain_distance(start, a, b) > 0.0 for a, b in zip(x, z, strict=True)]
    assert (out > 0.0).tolist() == outside


def test_every_point_is_beyond_a_line():
    corners, n = hull_of([(0.0, 0.0), (2.0, 0.0)])
    x = np.array([1.0, 5.0], dtype=np.float32)
    out = np.zeros(2, dtype=np.float32)
    beyond_edges(corners, n, x, np.zeros(2, dtype=np.float32), 0, 2, out)
    assert (out > 0.0).all()


def test_a_sole_reaches_from_heel_to_tip_and_to_both_sides():
    chosen = np.zeros((2, 3, 4), dtype=np.float32)
    chosen[1, 2] = [1.0, 2.0, 0.0, 1.0]  # right foot, third plant, facing +Z
    sole = np.array([0.2, 0.05, 0.04], dtype=np.float32)
    out = np.zeros((8, 2), dtype=np.float32)
    assert soles_into(chosen, -1, 2, sole, out) == 4
    expected = {(0.96, 1.8), (1.04, 1.8), (0.96, 2.05), (1.04, 2.05)}
    assert {(round(float(x), 4), round(float(z), 4)) for x, z in out[:4]} == expected
