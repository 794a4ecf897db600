"""k-means: groups that are there are found, none is empty, the seed decides."""

import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.tables.index import kmeans
from motionloom.tables.index.kmeans import add_up, find_means, refine_means
from tests.oracles import centres as plain


def heaps(count=5, each=40, seed=0):
    rng = np.random.Generator(np.random.PCG64(seed))
    middles = rng.normal(size=(count, 3)) * 20.0
    return np.concatenate([middle + rng.normal(size=(each, 3)) for middle in middles])


def test_heaps_are_found():
    found = find_means(heaps(), 5)
    group = np.repeat(np.arange(5), 40)
    assert len(np.unique(found.labels * 5 + group)) == 5


def test_every_point_is_with_its_nearest_centre_which_is_the_mean():
    points = np.random.Generator(np.random.PCG64(1)).random((300, 4))
    found = find_means(points, 12)
    apart = np.linalg.norm(points[:, None] - found.centres, axis=-1)
    assert np.array_equal(apart.argmin(axis=1), found.labels)
    means = np.stack([points[found.labels == k].mean(axis=0) for k in range(12)])
    assert np.abs(means - found.centres).max() < 1e-12
    assert found.spread == pytest.approx(np.mean(apart.min(axis=1) ** 2))


def test_the_same_seed_gives_the_same_groups():
    points = np.random.Generator(np.random.PCG64(2)).random((200, 3))
    first, second = find_means(points, 8, seed=4), find_means(points, 8, seed=4)
    assert np.array_equal(first.labels, second.labels)
    assert np.array_equal(first.centres, second.centres)


def test_more_runs_are_never_worse():
    points = np.random.Generator(np.random.PCG64(3)).random((200, 3))
    assert find_means(points, 9, restarts=10).spread <= find_means(points, 9, restarts=1).spread


def test_an_empty_group_is_begun_anew_at_the_farthest_point():
    points = np.array([[0.0], [0.1], [0.2], [9.0]])
    found = refine_means(points, np.array([[0.1], [-500.0]]))
    assert found.labels[3] != found.labels[0]
    assert sorted(np.bincount(found.labels)) == [1, 3]


def test_copies_still_fill_every_group():
    found = find_means(np.zeros((6, 2)), 4)
    assert (np.bincount(found.labels, minlength=4) > 0).all()


def test_runs_on_a_part_of_the_points_are_settled_on_all():
    points = heaps(each=200)
    found = find_means(points, 5, trial=100)
    group = np.repeat(np.arange(5), 200)
    assert len(found.labels) == len(points)
    assert len(np.unique(found.labels * 5 + group)) == 5


def test_more_groups_than_points_are_refused():
    with pytest.raises(ArrayError, match="number of points, 3"):
        find_means(np.zeros((3, 2)), 4)


def test_the_best_of_some_runs_is_kept():
    # Four groups at uneven distances: single runs end in different places.
    rng = np.random.default_rng(1)
    middles = np.array([[0.0, 0.0], [0.6, 0.0], [20.0, 0.0], [20.0, 0.6]])
    points = np.concatenate([m + 0.05 * rng.normal(size=(25, 2)) for m in middles])
    spreads = [find_means(points, 4, seed=seed, restarts=1).spread for seed in range(12)]
    best = [find_means(points, 4, seed=seed, restarts=8).spread for seed in range(12)]
    assert max(spreads) > 1.5 * min(spreads)
    assert max(best) < 1.1 * min(spreads)


@pytest.mark.parametrize(("trial", "used"), [(39, 39), (3, 6), (40, 40), (41, 40)])
def test_a_trial_uses_each_point_at_most_once_and_enough_of_them(trial, used, monkeypatch):
    points = np.random.default_rng(2).random((40, 2))
    tried = []

    def watched(some, centres, **keywords):
        tried.append(some)
        return refine_means(some, centres, **keywords)

    monkeypatch.setattr(kmeans, "refine_means", watched)
    find_means(points, 6, restarts=2, trial=trial)
    for some in tried[:2]:
        assert len(np.unique(some, axis=0)) == len(some) == used
    assert len(tried) == (3 if used < len(points) else 2)
    assert len(tried[-1]) == len(points)


@pytest.mark.parametrize("width", [1, 3, 10, 35])
def test_points_are_assigned_as_by_all_differences(width):
    rng = np.random.Generator(np.random.PCG64(width))
    points, centres = rng.normal(size=(200, width)), rng.normal(size=(17, width))
    expected, squared = plain.nearest(points, centres)
    for guess in (np.zeros(200, dtype=np.int64), rng.integers(0, 17, 200), expected):
        labels, apart = kmeans._assign(points, centres, guess)
        assert np.array_equal(labels, expected)
        assert np.allclose(apart, squared, rtol=1e-12, atol=0.0)


def test_of_centres_equally_near_the_guess_stays_else_the_first_is_taken():
    points, centres = np.zeros((4, 2)), np.array([[3.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    labels, apart = kmeans._assign(points, centres, np.array([0, 1, 2, 3]))
    assert labels.tolist() == [1, 1, 2, 3]
    assert apart.tolist() == [1.0] * 4


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(300, 7), (1, 1), (0, 3)])
def test_points_are_added_to_the_sums_of_their_groups(kind, shape):
    rng = np.random.Generator(np.random.PCG64(8))
    points, labels = rng.normal(size=shape).astype(kind), rng.integers(0, 5, shape[0])
    found, expected = np.ones((5, shape[1])), np.ones((5, shape[1]))
    add_up(points, labels, found)
    plain.add_up(points, labels, expected)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("label", [-1, 2])
def test_labels_of_no_group_are_refused(label):
    labels, apart = np.array([0, label]), np.zeros(2)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        add_up(np.zeros((2, 3)), labels, np.zeros((2, 3)))
    with pytest.raises(ArrayError, match="sizes do not fit"):
        add_up(np.zeros((2, 3), dtype=np.float32), labels, np.zeros((2, 3)))
    with pytest.raises(ArrayError, match="sizes do not fit"):
        kernel("ml_centre_assign")(2, 3, 2, np.zeros((2, 3)), np.zeros((2, 3)), labels, apart)
