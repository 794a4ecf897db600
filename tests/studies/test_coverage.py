"""Spread: how near the nearest medoid is."""

import numpy as np
import pytest

from motionloom.errors import TableError
from motionloom.tables.index.clusters import find_lookup
from studies.measures.coverage import measure_spread, spread_by_count

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


def test_clusters_are_nearer_than_random_windows_and_more_are_nearer_still(kinds_frames):
    counts, length = [4, 10, 24], 20  # principal components take the cube of the length
    means = {
        choice: [
            float(spread.mean())
            for spread in spread_by_count(
                kinds_frames, counts, length=length, choice=choice
            ).values()
        ]
        for choice in ("spectral", "means", "random")
    }
    for choice in ("spectral", "means"):
        assert (np.diff(means[choice]) < 0).all()
        assert np.mean(means[choice]) < np.mean(means["random"])


def test_bad_choices_are_refused(kinds_frames):
    with pytest.raises(TableError, match="`choice` must be spectral, means or random"):
        spread_by_count(kinds_frames, [2], length=LENGTH, choice="best")
    with pytest.raises(TableError, match="The collection must have at least 4000 windows"):
        spread_by_count(kinds_frames, [2, 4000], length=LENGTH)
