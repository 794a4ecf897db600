"""Sines and angles in degrees, against the library and where they must be exact."""

from __future__ import annotations

import math

import numpy as np

from motionloom._core import kernel

FLOAT64 = 3e-16
ARCTANGENT = 1e-15


def half_cos_sin(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    cos, sin = np.zeros((2, len(angles)))
    kernel("ml_half_cos_sin_of")(len(angles), angles, cos, sin)
    return cos, sin


def angle_of(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    out = np.zeros(len(y))
    kernel("ml_quick_atan2_of")(len(y), y, x, out)
    return out


def test_cosines_and_sines_agree_with_the_library() -> None:
    for angles in (np.linspace(-400.0, 400.0, 40_001), np.linspace(-91.0, 91.0, 9_999)):
        cos, sin = half_cos_sin(angles)
        half = np.radians(0.5 * angles)
        np.testing.assert_allclose(cos, np.cos(half), rtol=0, atol=2 * FLOAT64)
        np.testing.assert_allclose(sin, np.sin(half), rtol=0, atol=2 * FLOAT64)


def test_small_angles_keep_all_their_digits() -> None:
    angles = 10.0 ** np.linspace(-300.0, 0.0, 1001)
    cos, sin = half_cos_sin(angles)
    np.testing.assert_allclose(sin, np.sin(np.radians(0.5 * angles)), rtol=5e-16)
    np.testing.assert_array_equal(cos[angles < 1e-7], 1.0)
    np.testing.assert_array_equal(half_cos_sin(-angles)[1], -sin)


def test_whole_quarters_are_exact() -> None:
    cos, sin = half_cos_sin(np.arange(-8.0, 9.0) * 180.0)
    np.testing.assert_array_equal(np.abs(cos) + np.abs(sin), 1.0)
    np.testing.assert_array_equal(cos[8::4], [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(sin[9::4], [1.0, 1.0])
    np.testing.assert_array_equal(cos, np.tile([1.0, 0.0, -1.0, 0.0], 5)[:17])
    np.testing.assert_array_equal(sin, np.tile([0.0, 1.0, 0.0, -1.0], 5)[:17])


def test_large_angles_stay_on_the_circle_and_where_they_are() -> None:
    angles = np.array([1e8, 1e9, 1e10, -1e12, 1e12, 5e-324])
    cos, sin = half_cos_sin(angles)
    np.testing.assert_allclose(cos**2 + sin**2, 1.0, atol=1e-15)
    half = np.radians(0.5 * np.fmod(angles, 720.0))  # exact up to the radians
    np.testing.assert_allclose(cos, np.cos(half), atol=2e-15)
    np.testing.assert_allclose(sin, np.sin(half), atol=2e-15)


def test_angles_agree_with_the_library_in_every_direction() -> None:
    turn = np.linspace(-math.pi, math.pi, 2001)
    for length in (1.0, 1e-8, 1e8):
        y, x = length * np.sin(turn), length * np.cos(turn)
        np.testing.assert_allclose(angle_of(y, x), np.arctan2(y, x), rtol=0, atol=ARCTANGENT)


def test_directions_along_the_axes_are_exact() -> None:
    y, x = np.array([0.0, 1.0, 0.0, -1.0, 2.0]), np.array([1.0, 0.0, -1.0, 0.0, 2.0])
    expected = [0.0, 0.5 * math.pi, math.pi, -0.5 * math.pi, 0.25 * math.pi]
    np.testing.assert_array_equal(angle_of(y, x), expected)


def test_the_angle_of_nothing_is_zero() -> None:
    assert angle_of(np.zeros(1), np.zeros(1)) == 0.0
