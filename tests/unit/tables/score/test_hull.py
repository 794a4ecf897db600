"""Hulls of soles, and distances from them."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from motionloom.errors import ArrayError
from motionloom.tables.score.mass_fit import hulls_of_feet, misses_of_hulls
from tests.oracles import hull as plain
from tests.support.hull import hull_distances, hull_of, sole_corners

FLOAT32 = 1e-6


def distance(points, x, z):
    return hull_distances(hull_of(points), [(x, z)])[0]


SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]


def test_a_point_inside_is_at_no_distance():
    assert distance(SQUARE, 0.5, 0.2) == 0.0
    assert distance(SQUARE, 1.0, 0.5) == 0.0


def test_distances_from_an_edge_and_from_a_corner():
    assert distance(SQUARE, 0.5, -2.0) == pytest.approx(2.0, abs=FLOAT32)
    assert distance(SQUARE, 2.0, 2.0) == pytest.approx(np.sqrt(2.0), abs=FLOAT32)


def test_points_within_the_hull_are_no_corners():
    corners = hull_of([*SQUARE, (0.5, 0.5), (0.5, 0.0)])
    assert len(corners) == 4
    assert {tuple(c) for c in corners.tolist()} == {(0, 0), (1, 0), (1, 1), (0, 1)}


def test_a_line_and_a_point_have_distances_too():
    assert distance([(0, 0), (2, 0), (1, 0)], 1.0, 0.5) == pytest.approx(0.5, abs=FLOAT32)
    assert distance([(0, 0), (2, 0)], 3.0, 0.0) == pytest.approx(1.0, abs=FLOAT32)
    for count in (1, 4):
        assert distance([(1, 1)] * count, 4.0, 5.0) == pytest.approx(5.0, abs=FLOAT32)


def test_hulls_are_those_of_scipy_and_go_round_one_way():
    rng = np.random.Generator(np.random.PCG64(2))
    for _ in range(200):
        count = rng.integers(3, 9)
        points = rng.integers(0, 5, (count, 2)).astype(np.float64)  # many ties and lines
        if np.linalg.matrix_rank(points - points[0]) < 2:
            continue
        around = hull_of(points).astype(np.float64)
        expected = ConvexHull(points)
        assert set(map(tuple, around)) == set(map(tuple, points[expected.vertices]))
        assert len(around) == len(expected.vertices)
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
    assert sorted(map(tuple, hull_of(points).tolist())) == corners


TRIANGLE = [(0.0, 0.0), (3.0, 1.0), (1.0, 2.0)]
SLANTED = [(0.0, 0.0), (2.0, -1.0), (4.0, 1.0), (3.0, 3.0), (0.5, 2.0)]


@pytest.mark.parametrize("points", [TRIANGLE, SLANTED, [(0.0, 1.0), (3.0, 2.5)]])
def test_distances_are_those_to_the_nearest_edge_or_corner(points):
    corners = hull_of(points)
    grid = [(x, z) for x in np.linspace(-2.0, 6.0, 17) for z in np.linspace(-3.0, 5.0, 17)]
    expected = [plain.hull_distance(corners, x, z) for x, z in grid]
    assert hull_distances(corners, grid) == pytest.approx(expected, abs=4 * FLOAT32)


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 17])
def test_a_point_is_as_far_away_alone_as_among_others(count):
    corners = hull_of(SLANTED)
    rng = np.random.Generator(np.random.PCG64(4))
    points = rng.uniform(-2.0, 6.0, (count, 2)).astype(np.float32)
    alone = [hull_distances(corners, [point])[0] for point in points]
    assert hull_distances(corners, points).tolist() == alone


@pytest.mark.parametrize("points", [TRIANGLE, SLANTED])
def test_a_point_on_the_border_is_not_outside(points):
    ends = hull_of(points).astype(np.float64)
    border = [*ends, *(0.5 * (ends + np.roll(ends, -1, axis=0)))]
    assert not hull_distances(hull_of(points), border).any()


def test_a_point_too_far_away_to_be_squared_is_not_inside():
    assert hull_distances(hull_of(SQUARE), [(1e30, 0.5)])[0] == np.inf


def test_a_sole_reaches_from_heel_to_tip_and_to_both_sides():
    sole = np.array([0.2, 0.05, 0.04, 1.7], dtype=np.float32)
    corners = sole_corners([[1.0, 2.0, 0.0, 1.0]], sole)[0]  # facing +Z
    expected = {(0.96, 1.8), (1.04, 1.8), (0.96, 2.05), (1.04, 2.05)}
    assert {(round(float(x), 4), round(float(z), 4)) for x, z in corners} == expected


def feet(count):
    """Soles (n, 2, 4, 2) of random plants, and which stand (n, 2)."""
    rng = np.random.Generator(np.random.PCG64(6))
    sole = np.array([0.2, 0.05, 0.04, 1.7], dtype=np.float32)
    turn = rng.uniform(-np.pi, np.pi, (count, 2))
    places = rng.uniform(-0.3, 0.3, (count, 2, 2))
    plants = np.concatenate([places, np.stack([np.sin(turn), np.cos(turn)], axis=-1)], axis=-1)
    soles = sole_corners(plants.reshape(-1, 4), sole)
    for got, plant in zip(soles, plants.reshape(-1, 4), strict=True):
        assert got == pytest.approx(plain.sole_corners(plant, sole), abs=FLOAT32)
    return soles.reshape(count, 2, 4, 2), rng.random((count, 2)) < 0.7


@pytest.mark.parametrize("count", [0, 1, 200])
def test_feet_that_stand_make_the_hull_of_their_soles_and_each_point_misses_its_own(count):
    soles, stands = feet(count)
    corners, counts = hulls_of_feet(soles, stands)
    points = np.random.Generator(np.random.PCG64(7)).uniform(-0.6, 0.6, (count, 2))
    stood = counts > 0
    assert np.array_equal(stood, stands.any(axis=1))
    misses = misses_of_hulls(points.astype(np.float32), corners, counts)
    for f in np.flatnonzero(stood):
        own = hull_of(soles[f][stands[f]].reshape(-1, 2))
        assert np.array_equal(corners[f, : counts[f]], own)
        assert misses[f] == hull_distances(own, points[f])[0]
        assert misses[f] == pytest.approx(plain.hull_distance(own, *points[f]), abs=FLOAT32)


def test_a_hull_of_more_corners_than_there_are_is_refused():
    corners, counts = np.zeros((1, 10, 2), dtype=np.float32), np.array([11])
    with pytest.raises(ArrayError, match="ml_hull_misses refused"):
        misses_of_hulls(np.zeros((1, 2), dtype=np.float32), corners, counts)
