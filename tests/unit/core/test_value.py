"""Numbers of any kind in the core, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom._arrays import frozen, frozen_lengths
from motionloom._core import kernel
from motionloom.errors import ArrayError

farthest = kernel("ml_value_farthest")


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 1001])
def test_the_farthest_number_is_that_of_numpy(n: int) -> None:
    rng = np.random.default_rng(n)
    for size in (1e-300, 1.0, 1e300):
        x = size * rng.normal(size=n)
        assert farthest(n, x) == np.abs(x).max()


def test_of_no_numbers_it_is_zero() -> None:
    assert farthest(0, np.zeros(0)) == 0.0
    assert farthest(2, np.array([-0.0, 5e-324])) == 5e-324


@pytest.mark.parametrize("odd", [np.nan, -np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_found_wherever_it_is(odd: float) -> None:
    for place in range(37):
        x = np.full(37, 1e308)
        x[place] = odd
        assert not np.isfinite(farthest(37, x))
        with pytest.raises(ArrayError, match=rf"finite, got -?(nan|inf) at index \({place},\)"):
            frozen(x, "x", (None,))


@pytest.mark.parametrize("far", [1.1e15, -1.1e15])
def test_lengths_beyond_the_farthest_are_refused(far: float) -> None:
    with pytest.raises(ArrayError, match=r"must lie within 1e\+15 metres, got 1.1e\+15"):
        frozen_lengths([0.0, far], "x", (None,))
    frozen_lengths([0.0, far / 2.0], "x", (None,))


def test_single_precision_is_checked_as_well() -> None:
    with pytest.raises(ArrayError, match="finite, got inf at index"):
        frozen([0.0, np.inf], "x", (None,), np.float32)
