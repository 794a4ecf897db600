"""Vector and quaternion kernels against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.plain import quat as plain

from motionloom.motion.vector_kernels import arc, cross, dot, times, turn
from motionloom.rotation import quat

X, Y, Z = np.eye(3)


def arc_of(a, b):
    out = np.full(4, np.nan)
    arc(np.array(a, dtype=float), np.array(b, dtype=float), out)
    return out


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (X, Y, [np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]),
        (2 * Y, 0.5 * X, [np.sqrt(0.5), 0.0, 0.0, -np.sqrt(0.5)]),
        (X, 3 * X, [1.0, 0.0, 0.0, 0.0]),
        (Z, np.sqrt(3.0) * Z + X, [np.cos(np.pi / 12), 0.0, np.sin(np.pi / 12), 0.0]),
        (0 * X, Y, [1.0, 0.0, 0.0, 0.0]),
        (Y, 0 * X, [1.0, 0.0, 0.0, 0.0]),
    ],
)
def test_the_shortest_rotation_between_directions_of_any_length(a, b, expected):
    assert arc_of(a, b) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("a", [X, Y, Z, [0.3, -2.0, 0.1], [1.0, 1.0, 1.0]])
def test_opposite_directions_are_half_a_turn_apart(a):
    a = np.array(a, dtype=float)
    turn = arc_of(a, -3.0 * a)
    assert turn[0] == 0.0
    assert np.linalg.norm(turn) == pytest.approx(1.0)
    assert quat.rotate(turn, a) == pytest.approx(-a)


def test_products_of_quaternions_follow_hamilton():
    one, i, j, k = np.eye(4)
    out = np.zeros(4)
    for a, b, expected in ((i, j, k), (j, k, i), (k, i, j), (j, i, -k), (i, i, -one), (one, k, k)):
        times(a, b, out)
        assert out.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("a", "least"),
    [([0.3, -2.0, 0.1], Z), ([0.3, 0.2, -4.0], Y), ([-0.1, -2.0, 0.3], X), ([-3.0, 1.0, -0.5], Z)],
)
def test_half_a_turn_is_square_to_the_axis_that_the_direction_is_least_along(a, least):
    turn = arc_of(a, -0.5 * np.array(a))
    axis = np.cross(a, least)
    assert turn == pytest.approx([0.0, *(axis / np.linalg.norm(axis))], abs=1e-15)
    assert turn == pytest.approx(quat.between_vectors(np.array(a), -np.array(a)), abs=1e-15)


def test_kernels_agree_with_numpy():
    rng = np.random.default_rng(3)
    for p, q, a, b in zip(*rng.normal(size=(2, 20, 4)), *rng.normal(size=(2, 20, 3)), strict=True):
        product, across, turned = np.full(4, np.nan), np.full(3, np.nan), np.full(3, np.nan)
        unit = q / np.linalg.norm(q)
        times(p, q, product)
        cross(a, b, across)
        turn(unit, a, turned)
        assert dot(a, b) == pytest.approx(a @ b)
        assert product == pytest.approx(plain.multiply(p, q), abs=1e-14)
        assert across == pytest.approx(np.cross(a, b), abs=1e-14)
        assert turned == pytest.approx(quat.to_matrix(unit) @ a, abs=1e-14)
