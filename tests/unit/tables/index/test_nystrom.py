"""Nystrom's method against the whole eigenproblem."""

import numpy as np
import pytest

from motionloom.tables.index.matrices import find_spectrum

FLOAT64 = 1e-8
"""Two ways to the same eigenvectors, through an inverse root of the affinity."""


def affinity(points):
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    return np.exp(-apart / np.median(apart))


def dense(weights, components):
    degree = weights.sum(axis=1)
    values, vectors = np.linalg.eigh(weights / np.sqrt(np.outer(degree, degree)))
    return values[::-1][:components], vectors[:, ::-1][:, :components]


@pytest.fixture(scope="module")
def points():
    rng = np.random.Generator(np.random.PCG64(0))
    middles = rng.normal(size=(4, 6)) * 3.0
    return np.concatenate([middle + rng.normal(size=(30, 6)) for middle in middles])


def test_with_everything_sampled_it_is_the_dense_eigenproblem(points):
    weights = affinity(points)
    found = find_spectrum(weights, lambda: [weights[:50], weights[50:]], 6)
    values, vectors = dense(weights, 6)
    assert np.abs(found.values - values).max() < FLOAT64
    alike = np.abs(np.sum(found.vectors * vectors, axis=0))
    assert np.abs(alike - 1.0).max() < FLOAT64


def test_the_first_eigenvector_is_the_root_of_the_degrees(points):
    weights = affinity(points)
    found = find_spectrum(weights, lambda: [weights], 3)
    root = np.sqrt(weights.sum(axis=1))
    assert found.values[0] == pytest.approx(1.0, abs=FLOAT64)
    assert np.abs(found.vectors[:, 0] - root / np.linalg.norm(root)).max() < FLOAT64


def test_eigenvectors_from_a_sample_are_orthonormal(points):
    weights = affinity(points)
    some = np.arange(0, len(points), 4)
    found = find_spectrum(weights[np.ix_(some, some)], lambda: [weights[:, some]], 5)
    product = found.vectors.T @ found.vectors
    assert np.abs(product - np.eye(5)).max() < FLOAT64


def test_a_sample_is_enough_where_the_affinity_has_its_rank():
    rng = np.random.Generator(np.random.PCG64(1))
    factor = rng.random((80, 4)) + 0.1
    weights = factor @ factor.T
    some = np.arange(0, 80, 8)
    found = find_spectrum(weights[np.ix_(some, some)], lambda: [weights[:, some]], 4)
    values, vectors = dense(weights, 4)
    assert np.abs(found.values - values).max() < FLOAT64
    assert np.abs(np.abs(np.sum(found.vectors * vectors, axis=0)) - 1.0).max() < 1e-6


def test_groups_lie_apart_in_the_embedding(points):
    weights = affinity(points)
    some = np.arange(0, len(points), 5)
    embedded = find_spectrum(weights[np.ix_(some, some)], lambda: [weights[:, some]], 4).embedding()
    assert np.abs(np.linalg.norm(embedded, axis=1) - 1.0).max() < FLOAT64
    group = np.repeat(np.arange(4), 30)
    apart = np.linalg.norm(embedded[:, None] - embedded[None], axis=-1)
    np.fill_diagonal(apart, np.inf)
    assert np.mean(group[apart.argmin(axis=1)] == group) > 0.98


def test_pieces_of_any_size_give_the_same(points):
    weights = affinity(points)
    some = np.arange(0, len(points), 3)
    sample = weights[np.ix_(some, some)]
    whole = find_spectrum(sample, lambda: [weights[:, some]], 4)
    pieces = find_spectrum(sample, lambda: np.array_split(weights[:, some], 7), 4)
    assert np.abs(whole.vectors - pieces.vectors).max() < FLOAT64


def test_copies_of_one_thing_have_one_eigenvector():
    found = find_spectrum(np.ones((5, 5)), lambda: [np.ones((9, 5))], 4)
    assert found.vectors.shape == (9, 1)
    assert np.abs(found.vectors - 1.0 / 3.0).max() < FLOAT64


def test_the_unit_of_the_affinity_does_not_matter():
    rng = np.random.Generator(np.random.PCG64(3))
    factor = rng.random((12, 3)) + 0.1
    weights = factor @ factor.T
    plain = find_spectrum(weights, lambda: [weights], 3)
    # Down to the floor of degrees, 1e-10, and without an end upwards.
    for unit in (1.05e-10 / weights.sum(axis=1).min(), 1e-5, 1e5, 1e12):
        found = find_spectrum(unit * weights, lambda unit=unit: [unit * weights], 3)
        assert np.abs(found.values - plain.values).max() < FLOAT64
        assert np.abs(found.vectors - plain.vectors).max() < FLOAT64
