"""Kernels that only kernels call."""

import pytest
from numba import njit

from motionloom.transitions.compiled import inner, variable


@inner(error_model="numpy")
def times(x: float, n: int) -> float:
    return x * n


@njit
def sum_of_three(x: float) -> float:
    total, n = 0.0, variable(0)
    for _ in range(3):
        n += 1
        total += times(x, n)
    return total


def test_an_inner_kernel_is_called_by_kernels_and_compiled_once():
    assert sum_of_three(2.0) == 12.0
    assert len(times.signatures) <= 1


def test_an_inner_kernel_called_by_python_says_so_instead_of_crashing():
    sum_of_three(2.0)
    with pytest.raises(TypeError, match="times is compiled to be called by kernels only"):
        times(1.0, 2)
