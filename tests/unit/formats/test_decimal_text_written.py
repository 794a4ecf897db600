"""Rows of numbers as text: the kernel against Python's own formatting."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.formats.decimal_text import rows_as_text
from tests.oracles import digits as plain

HALF_DIGIT = 0.5000001e-6


def test_the_kernel_writes_what_python_writes() -> None:
    rows = np.array(
        [
            [0.0, -0.0, 1.0, -1.0, 123.456789, -0.000001],
            [1e-7, -4e-7, 99.9999994, 99.9999996, 999999.5, 12345678.125],
            [-180.0, 0.1, -0.1, 1e-6, 10.0, 100.0],
        ]
    )
    assert rows_as_text(rows) == plain.rows_as_text(rows)
    assert rows_as_text(rows, newline="\r\n") == plain.rows_as_text(rows, newline="\r\n")


def test_every_value_is_within_half_a_digit() -> None:
    rng = np.random.Generator(np.random.PCG64(0))
    rows = rng.normal(size=(300, 40)) * 10.0 ** rng.integers(-7, 7, (300, 40))
    back = np.array(
        [[float(word) for word in line.split()] for line in rows_as_text(rows).splitlines()]
    )
    assert np.abs(back - rows).max() <= HALF_DIGIT


def test_huge_values_take_the_plain_way() -> None:
    rows = np.array([[1e300, -2e9, 0.5]])
    assert rows_as_text(rows) == plain.rows_as_text(rows)


def test_the_largest_value_of_either_sign_decides_the_way() -> None:
    for value in (1e15, -1e15, 1e300, -1e300, 9e8, -9e8):
        rows = np.array([[0.25, value]])
        assert rows_as_text(rows) == plain.rows_as_text(rows)


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (3, 0)])
def test_few_or_no_values_are_lines_all_the_same(shape: tuple[int, int]) -> None:
    rows = np.full(shape, -1e9)  # as wide as numbers get
    assert rows_as_text(rows, newline="\r\n") == plain.rows_as_text(rows, newline="\r\n")


def test_every_number_of_digits_and_every_pair_of_decimals_is_right() -> None:
    whole = 10.0 ** np.arange(10) - 1.0
    rows = np.stack([whole, -whole, whole + 0.5, whole + 0.999999, 1e-6 * whole[::-1]])
    assert rows_as_text(rows) == plain.rows_as_text(rows)
    rows = np.arange(1_000_000).reshape(1000, 1000)[::7] / 1e6
    assert rows_as_text(rows) == plain.rows_as_text(rows)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_written_as_python_writes_it(value: float) -> None:
    rows = np.array([[1.0, value]])
    assert rows_as_text(rows) == plain.rows_as_text(rows)
