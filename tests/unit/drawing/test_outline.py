from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from motionloom.drawing.outline import DIRECTIONS, ball_hull

FLOAT64 = 1e-9
discs = st.lists(
    st.tuples(st.floats(-5, 5), st.floats(-5, 5), st.floats(0.01, 2)), min_size=1, max_size=5
)


def test_one_disc_is_outlined_by_its_circle() -> None:
    corners = ball_hull(np.array([[1.0, 2.0]]), np.array([0.5]))
    assert np.allclose(np.linalg.norm(corners - [1.0, 2.0], axis=1), 0.5, atol=FLOAT64)


def test_two_discs_of_different_size_make_a_taper() -> None:
    corners = ball_hull(np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([1.0, 0.25]))
    wide = np.ptp(corners[corners[:, 0] < 1.0][:, 1])
    narrow = np.ptp(corners[corners[:, 0] > 3.0][:, 1])
    assert wide > 3.0 * narrow


@given(discs)
def test_the_outline_is_convex_and_reaches_as_far_as_the_discs_do(
    balls: list[tuple[float, float, float]],
) -> None:
    centres, radii = np.array(balls)[:, :2], np.array(balls)[:, 2]
    corners = ball_hull(centres, radii)
    sides = np.roll(corners, -1, axis=0) - corners
    turns = sides[:, 0] * np.roll(sides[:, 1], -1) - sides[:, 1] * np.roll(sides[:, 0], -1)
    assert turns.min() > -FLOAT64
    angles = 2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    reach = (centres @ rays.T + radii[:, None]).max(axis=0)
    assert np.allclose((corners @ rays.T).max(axis=0), reach, atol=FLOAT64)
