"""Weights of the windows of a blend."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.tables.score.recipe import bernstein, eased, hat, weights_of


@pytest.mark.parametrize("family", ["bernstein", "eased", "hat"])
@pytest.mark.parametrize("n_ways", [1, 2, 3, 5])
def test_weights_are_parts_of_one_from_the_first_window_to_the_last(family, n_ways):
    weights = weights_of(family, n_ways, 9)
    assert weights.shape == (n_ways, 9)
    assert weights.min() >= 0.0
    assert weights.sum(axis=0) == pytest.approx(np.ones(9))
    assert weights[:, 0] == pytest.approx(np.eye(n_ways)[0])
    assert weights[:, -1] == pytest.approx(np.eye(n_ways)[-1])
    # Played backwards, the windows change places.
    assert weights[::-1, ::-1] == pytest.approx(weights)


def test_hats_are_straight_lines_between_windows():
    assert hat(3, 5) == pytest.approx(
        np.array([[1, 0.5, 0, 0, 0], [0, 0.5, 1, 0.5, 0], [0, 0, 0, 0.5, 1]])
    )


def test_bernstein_weights_are_binomial_and_eased_ones_start_without_a_jolt():
    assert bernstein(3, 5)[1] == pytest.approx([0.0, 0.375, 0.5, 0.375, 0.0])
    steps = np.diff(eased(2, 101)[1])
    assert steps[0] < 0.3 * steps.max()
    assert steps[0] == pytest.approx(steps[-1])
    assert steps.max() == pytest.approx(0.01 * 4.0 / 3.0, rel=0.02)  # a third faster
