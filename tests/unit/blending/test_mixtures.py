"""Mixtures of samples, against the solvers of SciPy."""

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

from motionloom.blending.parameters import closest_mixture, exact_mixture

SOLVER = 2e-6
"""SciPy's program meets its equations this well, and so costs may differ."""


def samples_and_target(seed):
    """Some anywhere, some on a grid, where many mixtures are equally good, some on a line."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 30)), int(rng.integers(1, 4))
    samples = rng.normal(size=(n, p)) if seed % 3 else rng.integers(-2, 3, (n, p)).astype(float)
    if seed % 5 == 0:
        samples = samples[:, :1] * np.ones((1, p))
    inside = samples.T @ rng.dirichlet(np.full(n, 0.3))
    return samples, [inside, rng.normal(size=p), samples[seed % n]][seed % 3]


@pytest.mark.parametrize("seed", range(120))
def test_mixtures_are_as_good_as_those_of_scipy(seed):
    samples, target = samples_and_target(seed)
    apart = np.sum((samples - target) ** 2, axis=1)
    rows = np.vstack([samples.T, np.ones(len(samples))])
    theirs = linprog(apart, A_eq=rows, b_eq=np.append(target, 1.0), bounds=(0, None))
    exact = exact_mixture(samples, target)
    assert (exact is None) == (theirs.status != 0)
    if exact is not None:
        assert exact.min() >= 0.0
        assert exact.sum() == pytest.approx(1.0)
        assert samples.T @ exact == pytest.approx(target, abs=1e-9)
        assert np.count_nonzero(exact) <= samples.shape[1] + 1
        assert exact @ apart == pytest.approx(theirs.fun, abs=SOLVER)
    closest = closest_mixture(samples, target)
    rows[-1] = 1e4
    nearest, _ = nnls(rows, np.append(target, 1e4))
    nearest /= nearest.sum()
    assert closest.min() >= 0.0
    assert closest.sum() == pytest.approx(1.0)
    assert np.linalg.norm(samples.T @ closest - target) == pytest.approx(
        np.linalg.norm(samples.T @ nearest - target), abs=1e-6
    )


def test_one_sample_gives_itself_and_nothing_else():
    samples = np.array([[2.0, 3.0]])
    assert exact_mixture(samples, samples[0]).tolist() == [1.0]
    assert exact_mixture(samples, samples[0] + 0.1) is None
    assert closest_mixture(samples, samples[0] + 0.1).tolist() == [1.0]


def test_a_parameter_that_never_changes_is_met_or_missed():
    samples = np.array([[1e9, 0.0], [1e9, 1.0]])  # in units of its range, which is none
    assert exact_mixture(samples, np.array([1e9, 0.3])) == pytest.approx([0.7, 0.3])
    assert exact_mixture(samples, np.array([2e9, 0.3])) is None
    assert closest_mixture(samples, np.array([2e9, 0.3])).sum() == pytest.approx(1.0)
