"""Times between samples, and paths through pins."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.registration.curve import fit_spline
from motionloom.registration.pair_curve import parameters_of, path_between_pins, refine_times


def swinging(frames):
    """Points of a swinging figure at fractional frames. (F, 3, 3)"""
    phase = 0.25 * np.asarray(frames, dtype=float)
    x = np.stack([np.sin(phase), np.sin(phase + 1.0), np.cos(phase)], axis=-1)
    y = np.stack([np.cos(2.0 * phase), np.cos(phase), np.sin(2.0 * phase)], axis=-1)
    z = np.stack([np.cos(phase), 2.0 + 0.0 * phase, np.sin(phase)], axis=-1)
    return np.stack([x, y, z], axis=-1)


def test_times_are_refined_to_a_small_part_of_a_frame():
    n = 60
    ahead = 0.9 * np.sin(np.linspace(0.0, np.pi, n))  # frames by which the second is ahead
    points_a = swinging(np.arange(n))
    points_b = swinging(np.interp(np.arange(n), np.arange(n) + ahead, np.arange(n)))
    u = np.linspace(0.0, 8.0, n)
    straight = fit_spline(u, np.stack([np.arange(n, dtype=float)] * 2, axis=-1), 10)
    found = refine_times(straight, u, points_a, points_b, np.full(3, 1 / 3), epsilon=0.3)
    times = found(np.linspace(0.0, 8.0, 200))
    expected = times[:, 0] + np.interp(times[:, 0], np.arange(n), ahead)
    before = straight(np.linspace(0.0, 8.0, 200))
    assert (
        np.abs(before[:, 1] - before[:, 0] - np.interp(before[:, 0], np.arange(n), ahead)).max()
        > 0.8
    )
    assert np.abs(times[:, 1] - expected).max() < 0.05
    assert found(np.array([0.0, 8.0])) == pytest.approx(straight(np.array([0.0, 8.0])), abs=1e-9)


def test_a_path_through_pins_counts_each_cell_once():
    cost = np.full((7, 7), 5.0)
    on_path = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]
    for k, cell in enumerate(on_path):
        cost[cell] = 1.0 + k
    path = path_between_pins(cost, [(1, 1), (3, 3), (5, 5)], slope_limit=2)
    assert path.cells.tolist() == [list(cell) for cell in on_path]
    assert path.cost == pytest.approx(15.0)


@pytest.mark.parametrize(
    ("length", "spacing", "n_points"),
    [(8.0, 4.0, 4), (8.5, 4.0, 5), (10.0, 4.0, 5), (12.0, 4.0, 5), (1.0, 4.0, 3), (4.0, 4.0, 3)],
)
def test_control_points_are_at_most_their_spacing_apart(length, spacing, n_points):
    """The mean of both times goes from 5 to 5 + length, one of them twice as fast."""
    along = np.linspace(0.0, 1.0, 9) ** 2
    times = 5.0 + np.outer(along, [4.0 / 3.0 * length, 2.0 / 3.0 * length])
    u, found = parameters_of(times, spacing)
    assert found == n_points
    assert u == pytest.approx((n_points - 2.0) * along)


def test_a_pair_that_goes_nowhere_still_has_three_control_points():
    u, n_points = parameters_of(np.full((4, 2), 7.0), 4.0)
    assert u.tolist() == [0.0] * 4
    assert n_points == 3
