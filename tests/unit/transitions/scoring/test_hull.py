"""Hulls of soles, and distances from them."""

import numpy as np
import pytest

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
    assert distance([(1, 1)], 4.0, 5.0) == pytest.approx(5.0, abs=FLOAT32)


def test_only_points_outside_lie_beyond_an_edge():
    corners, n = hull_of(SQUARE)
    x = np.array([0.5, 2.0, -0.1, 0.9, 0.5], dtype=np.float32)
    z = np.array([0.5, 0.5, -0.1, 0.9, 3.0], dtype=np.float32)
    out = np.full(5, 7.0, dtype=np.float32)
    beyond_edges(corners, n, x, z, 1, 5, out)
    assert out[0] == 7.0
    assert (out[1:] > 0.0).tolist() == [True, True, False, True]


def test_a_sole_reaches_from_heel_to_tip_and_to_both_sides():
    chosen = np.zeros((2, 3, 4), dtype=np.float32)
    chosen[1, 2] = [1.0, 2.0, 0.0, 1.0]  # right foot, third plant, facing +Z
    sole = np.array([0.2, 0.05, 0.04], dtype=np.float32)
    out = np.zeros((8, 2), dtype=np.float32)
    assert soles_into(chosen, -1, 2, sole, out) == 4
    expected = {(0.96, 1.8), (1.04, 1.8), (0.96, 2.05), (1.04, 2.05)}
    assert {(round(float(x), 4), round(float(z), 4)) for x, z in out[:4]} == expected
