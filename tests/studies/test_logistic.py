"""Logistic regressions, and the numbers that the paper's look at."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import frames_of
from studies.baselines.logistic import fit_logistic, peak_accelerations
from studies.measures.window_batch import WindowBatch

NEWTON = 1e-8
FLOAT32_M_S2 = 0.05
"""Second differences of positions in single precision at 60 Hz."""


def drawn(n=300, seed=0):
    rng = np.random.Generator(np.random.PCG64(seed))
    x = rng.normal(size=(n, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 50.0, 1.0, -2.0]
    logit = 1.5 * x[:, 0] - 0.2 * (x[:, 1] - 50.0) + 4.0 * (x[:, 2] - 1.0)
    return x, rng.random(n) < 1.0 / (1.0 + np.exp(-logit))


@pytest.fixture(scope="module")
def frames():
    return frames_of([ml.synthetic.clip(n).motion.replace(name=n) for n in ("walk", "run")])


def test_the_fit_has_no_slope_left():
    x, good = drawn()
    model = fit_logistic(x, good, l2=2.0)
    z = (x - model.mean) / model.scale
    miss = model.probability(x) - good
    assert np.abs(z.T @ miss + 2.0 * model.weights).max() < NEWTON
    assert abs(miss.sum()) < NEWTON


def test_sklearn_agrees():
    linear = pytest.importorskip("sklearn.linear_model")
    x, good = drawn()
    model = fit_logistic(x, good)
    other = linear.LogisticRegression(C=1.0, tol=1e-10, max_iter=2000)
    other.fit((x - model.mean) / model.scale, good)
    assert np.allclose(other.coef_[0], model.weights, atol=1e-5)
    assert abs(other.intercept_[0] - model.bias) < 1e-5


def test_units_do_not_matter():
    x, good = drawn()
    one, two = fit_logistic(x, good), fit_logistic(x * 39.37 + 5.0, good)
    assert np.allclose(one.probability(x), two.probability(x * 39.37 + 5.0))


def test_kinds_that_can_be_parted_have_an_answer_and_a_constant_column_changes_nothing():
    x = np.stack([np.arange(20.0), np.full(20, 7.0)], axis=1)
    model = fit_logistic(x, x[:, 0] >= 10)
    assert ((model.probability(x) > 0.5) == (x[:, 0] >= 10)).all()
    assert model.weights[1] == 0.0


def test_peaks_are_the_largest_accelerations_in_the_world(frames):
    rows = np.array([3, 17])
    windows = WindowBatch.of_rows(frames, rows, 30)
    joints = np.array([0, 4, 9])
    peaks = peak_accelerations(windows, joints, smooth_s=0.0)
    for row, peak in zip(rows, peaks, strict=True):
        world = frames.motion(row, row + 29).world_positions()[:, joints]
        second = np.diff(world, 2, axis=0) * frames.fps**2
        assert np.allclose(peak, np.linalg.norm(second, axis=-1).max(axis=0), atol=FLOAT32_M_S2)


def test_a_falling_body_accelerates_as_it_must_however_it_is_smoothed():
    times = np.arange(40) / 60.0
    body = np.zeros((1, 40, 2, 3))
    body[0, :, 1, 1] = 5.0 - 0.5 * 9.81 * times**2
    ground = np.stack([2.0 * times, -times], axis=-1)[None]
    fall = WindowBatch(np.full((1, 40), 0.3), ground, body, 60.0)
    for smooth_s in (0.0, 0.1, 0.25, 9.0):
        peaks = peak_accelerations(fall, np.array([0, 1]), smooth_s=smooth_s)
        assert np.allclose(peaks, [[0.0, 9.81]], atol=1e-6)


def test_wrong_arguments_are_refused():
    with pytest.raises(ArrayError, match="both kinds"):
        fit_logistic([[1.0], [2.0]], [True, True])
    with pytest.raises(ArrayError, match="one value per row"):
        fit_logistic([[1.0], [2.0]], [True])
    with pytest.raises(ArrayError, match="finite"):
        fit_logistic([[1.0], [np.nan]], [True, False])
    with pytest.raises(ArrayError, match="l2"):
        fit_logistic([[1.0], [2.0]], [True, False], l2=0.0)
    with pytest.raises(ArrayError, match="rows of numbers"):
        fit_logistic([1.0, 2.0], [True, False])
    with pytest.raises(ArrayError, match="columns"):
        fit_logistic([[1.0], [2.0]], [True, False]).probability([[1.0, 2.0]])
