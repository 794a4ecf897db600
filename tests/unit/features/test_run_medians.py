"""Medians of runs: the compiled form gives the very numbers of the plain one."""

import numpy as np
import pytest

from motionloom.features.run_medians import run_medians, run_medians_numpy

RUNS = ((0, 0), (2, 3), (5, 9), (10, 39))


@pytest.mark.parametrize("shape", [(40,), (40, 3)])
def test_compiled_and_plain_medians_are_the_same_numbers(shape):
    values = np.random.Generator(np.random.PCG64(3)).normal(size=shape)
    assert np.array_equal(run_medians(values, RUNS), run_medians_numpy(values, RUNS))


def test_columns_of_larger_arrays_are_read_where_they_lie():
    points = np.random.Generator(np.random.PCG64(4)).normal(size=(40, 4, 3))
    got = run_medians(points[:, 2, 1], RUNS)
    assert np.array_equal(got, run_medians_numpy(points[:, 2, 1], RUNS))


@pytest.mark.parametrize("shape", [(5,), (5, 3)])
def test_no_runs_have_no_medians(shape):
    assert run_medians(np.zeros(shape), ()).shape == (0, *shape[1:])
