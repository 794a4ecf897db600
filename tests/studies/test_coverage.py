"""Spread: how near the nearest medoid is."""

import numpy as np
import pytest

from motionloom.tables.index.clusters import find_clusters, find_lookup
from studies.measures.coverage import measure_spread

LENGTH = 60
HALF_PRECISION = 2e-3


def test_spread_is_that_of_the_lookup(kinds_frames):
    medoids = kinds_frames.windows(LENGTH, stride=150)
    rows = kinds_frames.windows(LENGTH)
    lookup = find_lookup(kinds_frames, medoids, medoids, length=LENGTH)
    found = measure_spread(kinds_frames, medoids, length=LENGTH)
    assert np.allclose(found, lookup.coarse_distance[rows], rtol=HALF_PRECISION, atol=1e-3)


def test_a_window_among_the_medoids_has_no_spread(kinds_frames):
    rows = kinds_frames.windows(LENGTH, stride=97)
    found = measure_spread(kinds_frames, rows, length=LENGTH, rows=rows)
    assert found.max() < 3e-3


@pytest.mark.parametrize("method", ["spectral", "means"])
def test_medoids_are_nearer_than_random_windows_and_more_are_nearer_still(kinds_frames, method):
    length = 20  # principal components take the cube of the length
    rows = kinds_frames.windows(length, stride=5)
    rng = np.random.Generator(np.random.PCG64(0))

    def spread(medoids):
        return float(measure_spread(kinds_frames, medoids, length=length, rows=rows).mean())

    found, random = [], []
    for count in (4, 10, 24):
        clusters = find_clusters(
            kinds_frames, length=length, clusters=count, rows=rows, method=method
        )
        found.append(spread(clusters.medoids))
        random.append(spread(rng.choice(rows, count, replace=False)))
    assert (np.diff(found) < 0).all()
    assert np.mean(found) < np.mean(random)
