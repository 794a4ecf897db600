"""Labels of points that stand, worked out by hand and against their plain form."""

import numpy as np
import pytest

from motionloom.tables.synthesis.synthesis import keep_true_labels
from tests.oracles import labels as plain

FPS = 60.0


def kept(points, planted):
    planted = np.array(planted, dtype=bool)
    keep_true_labels(np.ascontiguousarray(points), FPS, planted)
    return planted


def test_a_point_that_goes_faster_than_30_cm_a_second_is_not_planted():
    points = np.zeros((10, 1, 3))
    points[5:, 0, 2] = 0.3 / FPS - 1e-9
    assert kept(points, np.ones((10, 1))).all()
    points[5:, 0, 2] = 0.3 / FPS + 1e-9
    assert np.flatnonzero(~kept(points, np.ones((10, 1)))).tolist() == [4, 5]


def test_a_point_that_creeps_is_planted_for_19_mm_around_the_middle():
    points = np.zeros((41, 2, 3))
    points[:, 0, 0] = 0.002 * np.arange(41)
    made = kept(points, np.ones((41, 2)))
    assert np.flatnonzero(made[:, 0]).tolist() == list(range(20 - 9, 20 + 10))
    assert made[:, 1].all()


def test_a_point_that_goes_away_and_comes_back_stays_without_a_label():
    points = np.zeros((81, 1, 3))
    points[60:71, 0, 1] = 0.003 * np.arange(11)
    points[70:, 0, 1] = 0.003 * np.arange(10, -1, -1)
    assert np.flatnonzero(kept(points, np.ones((81, 1)))).tolist() == list(range(67))
    assert np.flatnonzero(kept(points[::-1], np.ones((81, 1)))).tolist() == list(range(14, 81))


def test_labels_that_are_not_there_do_not_come():
    assert not kept(np.zeros((12, 4, 3)), np.zeros((12, 4))).any()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 20, 200])
@pytest.mark.parametrize("step", [0.0005, 0.002, 0.004])
def test_the_kernel_matches_its_plain_form(n, step):
    rng = np.random.Generator(np.random.PCG64(n))
    points = np.cumsum(step * rng.normal(size=(n, 4, 3)), axis=0)
    planted = np.repeat(rng.random((n // 5 + 1, 4)) < 0.7, 5, axis=0)[:n]
    assert (kept(points, planted) == plain.keep_true_labels(points, FPS, planted)).all()
