"""Splines against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.registration.curve import Spline, adjust_increasing, fit_spline
from tests.oracles import splines as plain


def one(*points):
    return Spline(np.array(points, dtype=float)[:, None])


def test_values_and_slopes_at_the_joints_and_in_the_middle():
    spline = one(0.0, 2.0, 8.0, 6.0)
    assert spline(np.array([0.0, 1.0, 2.0]))[:, 0] == pytest.approx([1.0, 5.0, 7.0])
    # (p0 + 6 p1 + p2) / 8 in the middle of a span
    assert spline(np.array([0.5, 1.5]))[:, 0] == pytest.approx([20.0 / 8.0, 56.0 / 8.0])
    assert spline.slope(np.array([0.0, 0.5, 1.0, 2.0]))[:, 0] == pytest.approx(
        [2.0, 4.0, 6.0, -2.0]
    )
    assert spline(np.array([-3.0, 9.0]))[:, 0] == pytest.approx([1.0, 7.0])
    assert spline.u_end == 2.0


def test_the_inverse_goes_on_straight_before_the_first_and_after_the_last_value():
    spline = one(0.0, 2.0, 8.0, 12.0)  # values 1, 5, 10 with slopes 2, 6, 4
    assert spline.inverse(0, np.array([1.0, 5.0, 10.0])) == pytest.approx([0.0, 1.0, 2.0])
    assert spline.inverse(0, np.array([0.0, 12.0])) == pytest.approx([-0.5, 2.5])
    flat = one(1.0, 1.0, 3.0, 3.0)  # values 1, 2, 3
    assert flat.inverse(0, np.array([0.0, 1.0, 3.0, 5.0])) == pytest.approx([-1.0, 0.0, 2.0, 4.0])


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([0.0, 2.0, 1.0, 4.0], [0.0, 1.25, 1.75, 4.0]),  # a fall of 1: both points give 0.75
        ([0.0, 0.6, -0.4, 4.0], [0.0, 0.5, 1.0, 4.0]),  # the point before can give 0.1 only
        ([0.0, -1.0, 4.0], [-0.75, -0.25, 4.0]),  # the first step: both points give half
        ([0.0, 0.5, 1.0], [0.0, 0.5, 1.0]),  # steps of just the least size stay
    ],
)
def test_a_fall_is_shared_with_the_point_before_as_far_as_its_own_step_can_bear(points, expected):
    tame = adjust_increasing(one(*points), smallest=0.5)
    assert tame.points[:, 0] == pytest.approx(expected)


def test_a_step_beyond_the_ratio_moves_to_the_nearest_allowed_one():
    # Steps (1, 5) with a ratio of at most 2: (1, 5) projected on the line y = 2 x is (2.2, 4.4).
    spline = Spline(np.array([[0.0, 0.0], [1.0, 5.0]]))
    tame = adjust_increasing(spline, epsilon=0.5)
    assert np.diff(tame.points, axis=0)[0] == pytest.approx([2.2, 4.4])
    # Shared equally with the point before.
    assert tame.points.mean(axis=0) == pytest.approx([0.5, 2.5])


def test_of_two_base_motions_the_one_with_the_smaller_change_is_taken():
    # Only the first motion's step is below the least step, which a base motion alone must keep.
    spline = Spline(np.array([[0.0, 0.0], [0.4, 0.6], [0.8, 1.2]]))
    tame = adjust_increasing(spline, epsilon=0.5, smallest=0.5)
    assert tame.points == pytest.approx(spline.points)


def test_weights_decide_between_samples_that_disagree():
    u = np.array([0.0, 0.0, 1.0])
    values = np.array([[0.0], [4.0], [1.0]])
    spline = fit_spline(u, values, 3, weights=np.array([1.0, 3.0, 1.0]))
    assert spline(0.0)[0] == pytest.approx(3.0, abs=1e-4)
    assert spline(1.0)[0] == pytest.approx(1.0, abs=1e-4)


def test_a_span_without_samples_goes_on_as_a_quadratic():
    u = np.array([0.0, 0.4, 0.8, 1.2, 1.6, 5.0, 5.5, 6.0])
    spline = fit_spline(u, (u * u - 3.0 * u)[:, None], 8)
    assert spline(3.5)[0] == pytest.approx(3.5 * 3.5 - 3.0 * 3.5, abs=1e-3)


def test_ends_that_no_adjustment_can_meet_give_a_straight_line():
    spline = Spline(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))
    ends = np.array([[0.0, 0.0], [1.0, 100.0]])  # a ratio of 100 at best
    tame = adjust_increasing(spline, epsilon=0.5, ends=ends)
    assert tame.points == pytest.approx(np.array([[-0.5, -50.0], [0.5, 50.0], [1.5, 150.0]]))


def adjusted(points, base, epsilon, smallest):
    points, moved = np.array(points), np.zeros(1)
    kernel("ml_spline_adjust")(
        *points.shape, points, base, epsilon, smallest, np.zeros((3, points.shape[1])), moved
    )
    return points, moved[0]


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1), (2, 4), (30, 2), (12, 5)])
@pytest.mark.parametrize("epsilon", [0.05, 0.33, 0.9])
def test_the_sweep_agrees_with_its_plain_form(shape, epsilon):
    rng = np.random.default_rng(shape[0])
    for spread in (0.0, 0.3, 2.0):
        points = np.cumsum(rng.normal(1.0, spread, shape), axis=0)
        for base in range(shape[1]):
            found, moved = adjusted(points, base, epsilon, 0.01)
            expected, far = plain.adjusted(points, base, epsilon, 0.01)
            np.testing.assert_allclose(found, expected, atol=1e-9)
            assert moved == pytest.approx(far, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("base", [-1, 2])
def test_a_base_that_is_no_dimension_is_refused(base):
    with pytest.raises(ArrayError, match="sizes do not fit"):
        adjusted(np.ones((4, 2)), base, 0.3, 0.01)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 60])
def test_the_equations_of_a_fit_are_solved_as_by_the_plain_form(n):
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n)) + 4.0 * np.eye(n)
    matrix = np.triu(np.tril(root, 3))
    matrix = matrix.T @ matrix
    bands = np.zeros((4, n))
    for d in range(min(4, n)):
        bands[3 - d, d:] = np.diagonal(matrix, d)
    values = rng.normal(size=(n, 3))
    made, wanted = np.array(values), plain.solved(bands, values)
    kernel("ml_spline_solve")(n, 3, bands, made)
    assert made == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_equations_without_one_answer_are_refused():
    bands = np.zeros((4, 3))
    bands[3] = 1.0, 0.0, 1.0
    with pytest.raises(ArrayError, match="ml_spline_solve"):
        kernel("ml_spline_solve")(3, 1, bands, np.ones((3, 1)))
