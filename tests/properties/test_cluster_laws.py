"""Laws of clustering and of looking things up in lists (laws 40 and its kin)."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from motionloom.tables.index.kmeans import find_means, find_partition
from motionloom.tables.index.matrices import find_spectrum

EIGENVALUES = 1e-7
"""Through an inverse root of an affinity whose least eigenvalue may be small."""


def cloud(seed, count, width):
    return np.random.Generator(np.random.PCG64(seed)).normal(size=(count, width))


@given(st.integers(0, 10_000), st.integers(6, 40), st.integers(1, 5))
def test_everything_sampled_is_the_dense_eigenproblem(seed, count, width):
    points = cloud(seed, count, width)
    weights = np.exp(-np.linalg.norm(points[:, None] - points[None], axis=-1))
    degree = weights.sum(axis=1)
    dense = np.linalg.eigvalsh(weights / np.sqrt(np.outer(degree, degree)))[::-1]
    found = find_spectrum(weights, lambda: [weights], 5)
    assert np.abs(found.values - dense[: len(found.values)]).max() < EIGENVALUES
    root = np.sqrt(degree / degree.sum())
    assert np.abs(found.vectors[:, 0] - root).max() < EIGENVALUES


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(1, 4), st.data())
def test_every_group_has_a_point_and_every_point_its_nearest_centre(seed, count, width, data):
    points = cloud(seed, count, width).round(1)
    groups = data.draw(st.integers(1, count))
    found = find_means(points, groups, seed=seed, restarts=2)
    assert (np.bincount(found.labels, minlength=groups) > 0).all()
    apart = np.square(points[:, None] - found.centres).sum(axis=-1)
    own = apart[np.arange(count), found.labels]
    assert (own <= apart.min(axis=1) + 1e-9).mean() == 1.0 or len(
        np.unique(points, axis=0)
    ) < groups


@given(st.integers(0, 10_000), st.integers(1, 400), st.integers(1, 50))
def test_a_partition_holds_every_point_once(seed, count, per_list):
    points = cloud(seed, count, 3).astype(np.float32)
    names = np.arange(count) * 7 + 3
    heads = (np.arange(count) % 100).astype(np.int8)[:, None]
    found = find_partition(points, names, heads, seed=seed, per_list=per_list)
    assert np.array_equal(np.sort(found.members), names)
    assert np.array_equal(found.heads[:, 0], (found.members - 3) // 7 % 100)
    assert found.list_first[0] == 0
    assert found.list_first[-1] == count
    assert (np.diff(found.list_first) > 0).all()
    assert found.group_first[-1] == len(found.centres)
    for k in range(len(found.centres)):
        inside = found.members[found.list_first[k] : found.list_first[k + 1]]
        assert (np.diff(inside.astype(np.int64)) > 0).all()
