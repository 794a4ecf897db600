"""Medians of runs: the compiled form gives the very numbers of the plain one."""

import numpy as np
import pytest

from motionloom.errors import ArrayError
from motionloom.features.footplants.detect import run_medians
from tests.oracles import run_medians as plain

RUNS = ((0, 0), (2, 3), (5, 9), (10, 39))


@pytest.mark.parametrize("shape", [(40,), (40, 3)])
def test_compiled_and_plain_medians_are_the_same_numbers(shape):
    values = np.random.Generator(np.random.PCG64(3)).normal(size=shape)
    assert np.array_equal(run_medians(values, RUNS), plain.run_medians(values, RUNS))


def test_columns_of_larger_arrays_have_their_own_medians():
    points = np.random.Generator(np.random.PCG64(4)).normal(size=(40, 4, 3))
    got = run_medians(points[:, 2, 1], RUNS)
    assert np.array_equal(got, plain.run_medians(points[:, 2, 1], RUNS))


@pytest.mark.parametrize("shape", [(5,), (5, 3)])
def test_no_runs_have_no_medians(shape):
    assert run_medians(np.zeros(shape), ()).shape == (0, *shape[1:])


@pytest.mark.parametrize("shape", [(40,), (40, 2, 2)])
def test_ties_orders_and_whole_numbers_make_no_difference(shape):
    rng = np.random.Generator(np.random.PCG64(5))
    for values in (rng.integers(0, 3, shape), np.sort(rng.normal(size=shape), axis=0)):
        for each in (values, values[::-1], np.concatenate([values[::2], values[1::2][::-1]])):
            runs = [(first, last) for first in (0, 7, 39) for last in range(first, 40)]
            assert np.array_equal(run_medians(each, runs), plain.run_medians(each, runs))


@pytest.mark.parametrize("run", [(-1, 3), (4, 3), (0, 40), (40, 40)])
def test_runs_beyond_the_clip_are_refused(run):
    with pytest.raises(ArrayError, match="ml_run_medians"):
        run_medians(np.zeros(40), [(0, 5), run])
