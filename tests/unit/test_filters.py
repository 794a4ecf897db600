"""Windows that run along a clip, against those of SciPy."""

import numpy as np
import pytest
from scipy import ndimage

from motionloom._arrays import running_maximum, running_mean, running_minimum


@pytest.mark.parametrize("half", [0, 1, 2, 3, 7, 40])
@pytest.mark.parametrize("shape", [(1,), (2,), (9,), (50,), (30, 2), (12, 3, 2)])
def test_windows_are_those_of_scipy(shape, half):
    values = np.random.default_rng(half).normal(size=shape)
    width = 2 * half + 1
    for running, theirs in (
        (running_maximum, ndimage.maximum_filter1d),
        (running_minimum, ndimage.minimum_filter1d),
    ):
        made = running(values, half)
        for mode in ("nearest", "reflect"):
            assert (made == theirs(values, width, axis=0, mode=mode)).all()
    mean = ndimage.uniform_filter1d(values, width, axis=0, mode="nearest")
    assert running_mean(values, half) == pytest.approx(mean, abs=1e-12)


def test_no_frames_and_numbers_that_are_none():
    for running in (running_maximum, running_minimum, running_mean):
        assert running(np.zeros((0, 3)), 2).shape == (0, 3)
    assert running_maximum(np.array([1.0, -np.inf, np.inf]), 1).tolist() == [1.0, np.inf, np.inf]


def test_what_is_given_stays_as_it_is():
    values = np.arange(5.0)
    for running in (running_maximum, running_minimum, running_mean):
        running(values, 0)[:] = 7.0
    assert values.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
