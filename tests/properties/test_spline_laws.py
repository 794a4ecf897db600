"""Laws 13 to 15: splines reproduce, increase and invert."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motionloom.registration.curve import Spline, adjust_increasing, fit_spline

seeds = st.integers(0, 100_000)


@given(seeds, st.integers(3, 12))
def test_a_quadratic_is_reproduced(seed, n_points):
    rng = np.random.Generator(np.random.PCG64(seed))
    a, b, c = rng.normal(size=(3, 2))
    u = np.linspace(0, n_points - 2, 6 * n_points)[:, None]
    values = a + b * u + c * u * u
    spline = fit_spline(u[:, 0], values, n_points)
    assert np.abs(spline(u[:, 0]) - values).max() < 1e-6 * (1 + np.abs(values).max())


def test_the_basis_sums_to_one():
    spline = Spline(np.ones((7, 1)))
    assert np.abs(spline(np.linspace(0, 5, 50)) - 1.0).max() < 1e-12


@given(seeds, st.integers(2, 5), st.integers(4, 20), st.floats(0.05, 0.5))
def test_after_adjustment_all_increase_and_keep_their_ratios(seed, k, n, epsilon):
    rng = np.random.Generator(np.random.PCG64(seed))
    wild = Spline(np.cumsum(rng.normal(1.0, 1.5, (n, k)), axis=0))
    tame = adjust_increasing(wild, epsilon=epsilon)
    steps = np.diff(tame.points, axis=0)
    assert steps.min() > 0.0
    ratio = steps[:, :, None] / steps[:, None, :]
    assert any(
        (ratio[..., b] >= epsilon - 1e-6).all() and (ratio[..., b] <= 1 / epsilon + 1e-6).all()
        for b in range(k)
    )
    again = adjust_increasing(tame, epsilon=epsilon)
    assert np.abs(again.points - tame.points).max() < 1e-6


@pytest.mark.parametrize("step", [0.0, -1.0])
def test_constant_and_falling_samples_become_increasing(step):
    points = np.stack([step * np.arange(8.0), np.arange(8.0)], axis=-1)
    tame = adjust_increasing(Spline(points))
    assert np.diff(tame(np.linspace(0, 6, 200)), axis=0).min() > 0.0


@given(seeds, st.integers(4, 15))
def test_ends_are_kept_exactly(seed, n):
    rng = np.random.Generator(np.random.PCG64(seed))
    ends = np.stack([rng.normal(size=3), 20.0 + rng.random(3) * 20])
    wild = Spline(np.cumsum(rng.normal(1.0, 2.0, (n, 3)), axis=0))
    tame = adjust_increasing(wild, epsilon=0.3, ends=ends)
    assert np.abs(tame(0.0) - ends[0]).max() < 1e-9
    assert np.abs(tame(tame.u_end) - ends[1]).max() < 1e-9
    assert np.diff(tame.points, axis=0).min() > 0.0


@given(seeds, st.integers(3, 20))
def test_the_inverse_undoes_the_curve_inside_and_beyond(seed, n):
    rng = np.random.Generator(np.random.PCG64(seed))
    spline = Spline(np.cumsum(0.1 + rng.random((n, 2)), axis=0))
    u = np.linspace(0, spline.u_end, 57)
    assert np.abs(spline.inverse(1, spline(u)[:, 1]) - u).max() < 1e-9
    beyond = spline(spline.u_end)[1] + 0.5
    slope = spline.slope(spline.u_end)[1]
    assert spline.inverse(1, beyond) == pytest.approx(spline.u_end + 0.5 / slope)


def test_forced_ends_of_a_fit_are_met():
    u = np.linspace(0, 6, 40)
    values = np.stack([np.sin(u), u], axis=-1)
    ends = np.array([[0.5, -1.0], [0.2, 9.0]])
    spline = fit_spline(u, values, 8, ends=ends)
    assert np.abs(spline(np.array([0.0, 6.0])) - ends).max() < 1e-9
