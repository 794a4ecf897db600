"""Sines and angles in degrees, against the library and where they must be exact."""

from __future__ import annotations

import math

import numpy as np
import pytest

from motionloom.formats import degrees

FLOAT64 = 3e-16
ARCTANGENT = 3e-15


def half_cos_sin(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    pairs = np.array([degrees.half_cos_sin(angle) for angle in angles])
    return pairs[:, 0], pairs[:, 1]


def test_cosines_and_sines_agree_with_the_library() -> None:
    angles = np.linspace(-400.0, 400.0, 4001)
    cos, sin = half_cos_sin(angles)
    half = np.radians(0.5 * angles)
    np.testing.assert_allclose(cos, np.cos(half), atol=2 * FLOAT64)
    np.testing.assert_allclose(sin, np.sin(half), atol=2 * FLOAT64)


def test_whole_quarters_are_exact() -> None:
    cos, sin = half_cos_sin(np.arange(-8.0, 9.0) * 180.0)
    np.testing.assert_array_equal(np.abs(cos) + np.abs(sin), 1.0)
    np.testing.assert_array_equal(cos[8::4], [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(sin[9::4], [1.0, 1.0])


def test_large_angles_stay_on_the_circle() -> None:
    cos, sin = half_cos_sin(np.array([1e8, 1e9, 1e10, -1e12, 1e12, 5e-324]))
    np.testing.assert_allclose(cos**2 + sin**2, 1.0, atol=1e-14)


def test_angles_agree_with_the_library_in_every_direction() -> None:
    turn = np.linspace(-math.pi, math.pi, 2001)
    for length in (1.0, 1e-8, 1e8):
        for angle in turn:
            y, x = length * math.sin(angle), length * math.cos(angle)
            assert degrees.angle_of(y, x) == pytest.approx(math.atan2(y, x), abs=ARCTANGENT)


def test_the_angle_of_nothing_is_zero() -> None:
    assert degrees.angle_of(0.0, 0.0) == 0.0


def test_the_circle_is_looked_up_at_2048_places() -> None:
    circle = degrees._circle()
    turn = np.arange(2048) * (math.tau / 2048)
    np.testing.assert_allclose(circle, np.stack([np.cos(turn), np.sin(turn)], axis=1), atol=FLOAT64)
    quarters = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    np.testing.assert_array_equal(circle[::512], quarters)
    np.testing.assert_array_equal(circle, degrees._CIRCLE)


def test_the_arctangent_series_is_exact_to_2e_15() -> None:
    coefficients = degrees._arctangent_series()
    t = np.linspace(1e-6, math.tan(math.pi / 8.0), 500)
    value = np.polynomial.polynomial.polyval(t * t, coefficients) * t
    np.testing.assert_allclose(value, np.arctan(t), rtol=2e-15)
