"""Vector and quaternion kernels against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.motion.vector_kernels import arc, times
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
