"""Products and eigenvectors that have the same bits everywhere, against those of numpy."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.tables.index.matrices import (
    add_squares,
    eigen,
    product,
    short_product,
    shortened,
)

RNG = np.random.Generator(np.random.PCG64(14))


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 2), (4, 7, 8), (9, 3, 17), (70, 40, 33)])
def test_products_are_those_of_numpy(shape):
    a, b = RNG.normal(size=shape[:2]), RNG.normal(size=shape[1:])
    assert np.abs(product(a, b) - a @ b).max() < 1e-13
    assert np.abs(product(a, b[:, 0]) - a @ b[:, 0]).max() < 1e-13
    assert product(a.astype(np.float32), b.T.copy().T).shape == (shape[0], shape[2])


def test_a_product_is_the_same_alone_and_among_others():
    a, b = RNG.normal(size=(23, 31)), RNG.normal(size=(31, 19))
    alone = np.concatenate([product(row[None], b) for row in a])
    assert np.array_equal(product(a, b), alone)
    assert np.array_equal(product(a, b[:, 3:4]), alone[:, 3:4])


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (64, 12), (200, 29)])
def test_squares_are_added_and_do_not_depend_on_the_pieces(shape):
    a = RNG.normal(size=shape)
    sums = np.ones((shape[1], shape[1]))
    add_squares(a, sums)
    assert np.abs(sums - 1.0 - a.T @ a).max() < 1e-12
    pieces = np.ones_like(sums)
    for part in np.array_split(a, 3):
        add_squares(part, pieces)
    assert np.array_equal(pieces, sums)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 40, 120])
def test_eigenvectors_take_a_matrix_apart(n):
    a = RNG.normal(size=(n + 3, n))
    matrix = a.T @ a
    values, vectors = eigen(matrix)
    assert np.abs(values - np.linalg.eigvalsh(matrix)).max() < 1e-12 * values[-1]
    assert np.abs(vectors.T @ vectors - np.eye(n)).max() < 1e-13
    assert np.abs((vectors * values) @ vectors.T - matrix).max() < 1e-12 * values[-1]
    assert (np.diff(values) >= 0.0).all()


def test_eigenvectors_of_odd_matrices():
    for matrix in (np.zeros((4, 4)), np.eye(5), np.diag([3.0, -1.0, 2.0]), np.ones((6, 6))):
        values, vectors = eigen(matrix)
        assert np.abs(values - np.linalg.eigvalsh(matrix)).max() < 1e-14
        assert np.abs((vectors * values) @ vectors.T - matrix).max() < 1e-14
    assert np.isnan(eigen(np.full((4, 4), np.nan))[0]).any()


@pytest.mark.parametrize("size", [1e-6, 1.0, 3e4])
def test_short_products_are_exact_sums_of_short_numbers(size):
    a, b = size * RNG.normal(size=(30, 200)), RNG.normal(size=(200, 20))
    step, (short,) = shortened(200, a)
    assert np.abs(step * short - a).max() <= 0.5 * step < 2e-6 * np.abs(a).max()
    found = short_product(a, b)
    assert np.abs(found - a @ b).max() < 1e-4 * size
    order = RNG.permutation(200)
    assert np.array_equal(short_product(a[:, order], b[order]), found)
    assert np.array_equal(short_product(a[::-1], b)[::-1], found)


def test_short_numbers_of_nothing_are_nothing():
    step, (short,) = shortened(3, np.zeros((2, 3)))
    assert step > 0.0
    assert not short.any()
    assert short_product(np.zeros((2, 3)), np.ones((3, 1))).tolist() == [[0.0], [0.0]]
