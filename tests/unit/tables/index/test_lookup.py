"""Lookup: every row knows its nearest medoids."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import TableError
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.index.clusters import NOWHERE, Lookup, find_clusters, find_lookup
from motionloom.tables.index.windows import distances, window_features, window_shape

LENGTH = 60
HALF_PRECISION = 2e-3
"""Relative; distances are kept in half precision."""
HALF_MM = 5e-4


@pytest.fixture(scope="module")
def medoids(kinds_frames):
    return (
        find_clusters(kinds_frames, length=LENGTH, clusters=6).medoids,
        find_clusters(kinds_frames, length=LENGTH, clusters=20, method="means").medoids,
    )


@pytest.fixture(scope="module")
def lookup(kinds_frames, medoids):
    return find_lookup(kinds_frames, *medoids, length=LENGTH)


def test_every_window_finds_its_nearest_medoids(kinds_frames, medoids, lookup):
    rows = kinds_frames.windows(LENGTH)
    shape = window_shape(kinds_frames, LENGTH)
    features = window_features(kinds_frames, rows, shape)
    for some, ids, apart in (
        (medoids[0], lookup.coarse, lookup.coarse_distance),
        (medoids[1], lookup.fine, lookup.fine_distance),
    ):
        far = distances(features, window_features(kinds_frames, some, shape))
        chosen = far[np.arange(len(rows)), ids[rows]]
        assert (chosen - far.min(axis=1)).max() < HALF_MM
        assert np.allclose(apart[rows], chosen, rtol=HALF_PRECISION, atol=2 * HALF_MM)


def test_a_medoid_is_its_own_nearest(medoids, lookup):
    assert np.array_equal(lookup.coarse[medoids[0]], np.arange(len(medoids[0])))
    assert np.array_equal(lookup.fine[medoids[1]], np.arange(len(medoids[1])))


def test_rows_that_start_no_window_have_the_last_ones(kinds_frames, lookup):
    for first, last in zip(kinds_frames.starts[:-1], kinds_frames.starts[1:], strict=True):
        assert (lookup.coarse[last - LENGTH : last] == lookup.coarse[last - LENGTH]).all()
        assert (lookup.fine[last - LENGTH : last] == lookup.fine[last - LENGTH]).all()
        assert first <= last - LENGTH


def test_a_row_takes_eight_bytes(kinds_frames, lookup):
    assert sum(a.nbytes for a in lookup.arrays().values()) == 8 * kinds_frames.n_rows


def test_rows_of_clips_that_are_too_short_are_nowhere(kinds_motions, medoids, frames_in_any_order):
    frames = frames_in_any_order([*kinds_motions, kinds_motions[0][:20].replace(name="short")])
    lookup = find_lookup(frames, *medoids, length=LENGTH)
    rows = np.arange(frames.row_of("short", 0), frames.n_rows)
    assert (lookup.coarse[rows] == NOWHERE).all()
    assert (lookup.coarse[: rows[0]] != NOWHERE).all()


def test_no_medoids_are_refused(kinds_frames, medoids):
    with pytest.raises(TableError, match="`fine` must hold 1 to"):
        find_lookup(kinds_frames, medoids[0], np.zeros(0, dtype=np.int64), length=LENGTH)


def test_a_clip_of_just_one_window_has_its_medoid_in_every_row():
    walk = ml.synthetic.clip("walk").motion
    plants = [ml.Footplants(np.zeros((n, 4), dtype=bool)) for n in (30, 60, 29)]
    clips = [walk[: p.n_frames].replace(name=f"c{k}") for k, p in enumerate(plants)]
    frames = frames_of(clips, footplants=plants)
    medoids = np.array([30, 50])
    lookup = find_lookup(frames, medoids, medoids, length=30)
    assert (lookup.coarse[:90] != NOWHERE).all()
    assert (lookup.coarse[90:] == NOWHERE).all()  # one frame too short


def test_rows_that_are_known_are_not_looked_up_again(kinds_frames):
    """What is known here is made up, so that a row that is looked up again would show."""
    n, medoids = kinds_frames.n_rows, kinds_frames.windows(LENGTH, stride=300)
    made_up = np.full(n, 60_000, dtype=np.uint16)
    apart = np.full(n, 777.0, dtype=np.float16)
    old = Lookup(made_up, made_up + 1, apart, apart + 1)
    known = (old, np.arange(n))
    again = find_lookup(kinds_frames, medoids, medoids, length=LENGTH, before=known)
    for name, array in old.arrays().items():
        assert np.array_equal(again.arrays()[name], array)
