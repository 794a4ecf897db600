"""Clusters: different motions are separated, and each cluster has a medoid."""

import dataclasses

import numpy as np
import pytest

from motionloom.errors import TableError
from motionloom.tables.index import clusters as module
from motionloom.tables.index.clusters import find_clusters
from motionloom.tables.index.windows import distances, window_features, window_shape

LENGTH = 60
SHORT = 20
"""Windows of tests that compare two searches: principal components take the cube of the length."""
HALF_MM = 5e-4
"""Distances from products in single precision."""


@pytest.fixture(scope="module", params=["spectral", "means"])
def found(request, kinds_frames):
    return find_clusters(kinds_frames, length=LENGTH, clusters=12, method=request.param)


def kind_of(frames, row):
    return frames.place_of(int(row))[0].split("_")[0]


def test_clusters_hold_one_kind_of_motion(found, kinds_frames):
    pure = 0
    for cluster in range(found.count):
        kinds = [kind_of(kinds_frames, row) for row in found.members(cluster)]
        pure += max(kinds.count(kind) for kind in kinds)
    assert pure / len(found.rows) > 0.95


def test_both_takes_of_a_kind_share_clusters(found):
    assert np.mean(found.takes >= 2) > 0.5


def test_the_medoid_is_the_member_nearest_to_all_members(found, kinds_frames):
    shape = window_shape(kinds_frames, LENGTH)
    for cluster in range(found.count):
        members = found.members(cluster)
        features = window_features(kinds_frames, members, shape)
        apart = distances(features, features)
        at = int(np.flatnonzero(members == found.medoids[cluster])[0])
        assert apart[at].sum() <= apart.sum(axis=1).min() + HALF_MM * len(members)
        expected = distances(features, features[at : at + 1])[:, 0]
        own = found.distances[np.searchsorted(found.rows, members)]
        assert np.abs(np.delete(own - expected, at)).max(initial=0.0) < HALF_MM
        assert found.spread()[cluster] == pytest.approx(own.mean())


def test_sizes_takes_and_labels_agree(found, kinds_frames):
    assert found.sizes.sum() == len(found.rows) == len(found.labels)
    assert (np.diff(found.sizes) <= 0).all()
    assert (found.sizes > 0).all()
    assert (np.diff(found.rows) > 0).all()
    for cluster in range(found.count):
        members = found.members(cluster)
        assert len(members) == found.sizes[cluster]
        clips = {kinds_frames.clip_at(row) for row in members}
        assert len(clips) == found.takes[cluster]
        assert members[0] == found.medoids[cluster]


def test_the_same_seed_gives_the_same_clusters(found, kinds_frames, request):
    method = request.node.callspec.params["found"]
    again = find_clusters(kinds_frames, length=LENGTH, clusters=12, method=method)
    assert np.array_equal(found.medoids, again.medoids)
    assert np.array_equal(found.labels, again.labels)
    assert np.array_equal(found.distances, again.distances)


@pytest.mark.parametrize("method", ["spectral", "means"])
def test_the_order_of_the_clips_has_no_influence(
    kinds_motions, kinds_frames, frames_in_any_order, method
):
    forward = kinds_frames
    order = [7, 2, 11, 0, 5, 9, 1, 3, 10, 4, 8, 6]
    shuffled = frames_in_any_order([kinds_motions[k] for k in order])
    a = find_clusters(forward, length=SHORT, clusters=8, method=method)
    b = find_clusters(shuffled, length=SHORT, clusters=8, method=method)
    there = [shuffled.row_of(*forward.place_of(int(row))) for row in a.rows]
    assert np.array_equal(a.labels, b.labels[np.searchsorted(b.rows, there)])
    places = [forward.place_of(int(row)) for row in a.medoids]
    assert places == [shuffled.place_of(int(row)) for row in b.medoids]


def test_affinities_worked_out_again_are_those_that_were_kept(kinds_frames, monkeypatch):
    kept = find_clusters(kinds_frames, length=LENGTH, clusters=6)
    monkeypatch.setattr(module, "HELD", 0)
    again = find_clusters(kinds_frames, length=LENGTH, clusters=6)
    assert np.array_equal(kept.labels, again.labels)


def test_only_the_windows_asked_for_are_clustered(kinds_frames):
    rows = kinds_frames.windows(LENGTH, stride=20)[::2]
    found = find_clusters(kinds_frames, length=LENGTH, clusters=4, rows=rows)
    assert np.array_equal(found.rows, np.sort(rows))


def test_a_body_that_never_moves_still_makes_clusters(kinds_frames):
    still = dataclasses.replace(
        kinds_frames,
        heading=np.zeros_like(kinds_frames.heading),
        ground=np.zeros_like(kinds_frames.ground),
        body=np.ones_like(kinds_frames.body),
    )
    found = find_clusters(still, length=LENGTH, clusters=3)
    assert found.sizes.sum() == len(found.rows)
    assert (found.sizes > 0).all()


def test_what_cannot_be_clustered_is_refused(kinds_frames):
    with pytest.raises(TableError, match=r"at least 5000 windows of 1 s .* fewer"):
        find_clusters(kinds_frames, length=LENGTH, clusters=5000)
    with pytest.raises(TableError, match=r"longest of the 12 clips"):
        find_clusters(kinds_frames, length=1000, clusters=2)
    with pytest.raises(TableError, match="`clusters` must be at least 1"):
        find_clusters(kinds_frames, length=LENGTH, clusters=0)
    with pytest.raises(TableError, match="`method` must be one of spectral, means"):
        find_clusters(kinds_frames, length=LENGTH, clusters=2, method="magic")
    with pytest.raises(TableError, match="`rows` must hold at least 9"):
        find_clusters(kinds_frames, length=LENGTH, clusters=9, rows=np.array([0, 1]))


@pytest.mark.parametrize("method", ["spectral", "means"])
def test_of_too_many_windows_some_from_every_clip_are_clustered(
    kinds_frames, kinds_motions, frames_in_any_order, monkeypatch, method
):
    monkeypatch.setattr(module, "MOST", 200)
    found = find_clusters(kinds_frames, length=SHORT, clusters=12, stride=1, method=method)
    assert len(found.rows) == 200
    clips = np.searchsorted(kinds_frames.starts, found.rows, side="right") - 1
    assert len(np.unique(clips)) == kinds_frames.n_clips
    backward = frames_in_any_order(kinds_motions[::-1])
    again = find_clusters(backward, length=SHORT, clusters=12, stride=1, method=method)
    places = [kinds_frames.place_of(int(row)) for row in found.medoids]
    assert [backward.place_of(int(row)) for row in again.medoids] == places


def test_without_a_seed_it_is_zero_and_other_seeds_find_other_clusters(kinds_frames):
    plain, zero, one = (
        find_clusters(kinds_frames, length=SHORT, clusters=5, stride=60, method="means", **seed)
        for seed in ({}, {"seed": 0}, {"seed": 1})
    )
    assert np.array_equal(plain.labels, zero.labels)
    assert not np.array_equal(zero.labels, one.labels)
