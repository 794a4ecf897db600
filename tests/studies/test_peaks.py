"""Peaks and slopes of curves, against those of SciPy."""

import numpy as np
import pytest
from scipy import signal

from studies.baselines.peaks import find_peaks, parabola_slopes


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n", [1, 2, 3, 10, 400])
def test_peaks_are_those_of_scipy(n, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n).cumsum() if seed % 2 else rng.normal(size=n)
    for prominence in (0.0, 0.3, 2.0):
        for distance in (1, 2, 15):
            theirs, _ = signal.find_peaks(values, prominence=prominence, distance=distance)
            made = find_peaks(values, prominence=prominence, distance=distance)
            assert made.tolist() == theirs.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_flat_peaks_are_those_of_scipy(seed):
    values = np.random.default_rng(seed).integers(0, 4, 60).astype(float)
    for prominence in (0.0, 1.0, 2.0):
        theirs, _ = signal.find_peaks(values, prominence=prominence, distance=1)
        assert find_peaks(values, prominence=prominence, distance=1).tolist() == theirs.tolist()


def test_of_peaks_near_one_another_the_highest_stays():
    values = np.array([0.0, 2.0, 0.0, 3.0, 0.0, 2.0, 0.0, 2.5, 0.0])
    assert find_peaks(values, prominence=1.0, distance=3).tolist() == [3, 7]


@pytest.mark.parametrize(("n", "width"), [(3, 3), (5, 5), (7, 3), (40, 31), (61, 13)])
def test_slopes_are_those_of_scipy(n, width):
    values = np.random.default_rng(n).normal(size=(n, 2)).cumsum(axis=0)
    theirs = signal.savgol_filter(values, width, 2, deriv=1, axis=0)
    assert parabola_slopes(values, width) == pytest.approx(theirs, abs=1e-10)


def test_the_slopes_of_a_parabola_are_its_own():
    frames = np.arange(20.0)
    values = np.stack([0.5 * frames**2 - 3.0 * frames, 7.0 - frames], axis=-1)
    slopes = parabola_slopes(values, 9)
    assert slopes[:, 0] == pytest.approx(frames - 3.0)
    assert slopes[:, 1] == pytest.approx(-1.0)
