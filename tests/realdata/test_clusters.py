"""Clusters and window index on takes of CMU 143; all of them are in studies/."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.index.clusters import find_clusters, find_lookup
from motionloom.tables.index.contexts import contexts, displacements, spans_of
from motionloom.tables.index.index_build import build_index
from tests.support.clips import takes_of_143

LENGTH = 60
TAKES = {
    "143_04": "run",
    "143_42": "run",
    "143_32": "walk",
    "143_38": "walk",
    "143_18": "sit",
    "143_23": "punch",
    "143_41": "sneak",
    "143_40": "sideways",
}
SPREAD_M = 0.125
"""Mean distance to the nearest of 24 medoids of these takes."""
NEAR_M = 1e-3
FOUND = 0.9
"""Questions whose answer is within a millimetre of the nearest window."""
FARTHER_M = 2e-3
"""By how much the others may be farther, on average over all."""


@pytest.fixture(scope="module")
def frames(mocap):
    motions = takes_of_143(mocap, *TAKES)
    plants = [ml.Footplants(np.zeros((m.n_frames, 4), dtype=bool)) for m in motions]
    return frames_of(motions, footplants=plants)


@pytest.fixture(scope="module")
def clusters(frames):
    return find_clusters(frames, length=LENGTH, clusters=24)


def test_kinds_of_motion_fall_into_clusters_of_their_own(frames, clusters):
    right = 0
    for cluster in range(clusters.count):
        kinds = [TAKES[frames.place_of(int(row))[0]] for row in clusters.members(cluster)]
        right += max(kinds.count(kind) for kind in kinds)
    # Everybody stands still at the ends of takes, whatever the take is of.
    assert right / len(clusters.rows) > 0.8


def test_medoids_are_near_and_nearer_than_windows_drawn_at_random(frames, clusters):
    def mean_distance(medoids):
        lookup = find_lookup(frames, medoids, medoids, length=LENGTH)
        return float(lookup.coarse_distance[frames.windows(LENGTH)].mean())

    spread = mean_distance(clusters.medoids)
    rng = np.random.Generator(np.random.PCG64(0))
    drawn = [
        mean_distance(rng.choice(clusters.rows, clusters.count, replace=False)) for _ in range(3)
    ]
    assert spread < SPREAD_M
    assert spread < 0.9 * np.mean(drawn)


def test_the_index_finds_the_nearest_window_of_other_takes(frames):
    index = build_index(frames, length=LENGTH)
    rows = frames.windows(LENGTH)
    last = rows + LENGTH - 1
    parts = {
        "start": contexts(frames, rows, side="start"),
        "end": contexts(frames, last, side="end"),
        "displacement": displacements(frames, rows, last),
    }
    clip = np.searchsorted(frames.starts, rows, side="right") - 1
    farther = []
    for k in range(7, len(rows), 61):
        apart = np.sqrt(sum(np.square(part - part[k]).sum(axis=1) for part in parts.values()))
        apart[clip == clip[k]] = np.inf
        asked = {name: part[k] for name, part in parts.items()}
        own = spans_of(frames, [frames.ids[clip[k]]])
        found = index.nearest(**asked, exclude=own)
        farther.append(apart[np.searchsorted(rows, found.rows[0])] - apart.min())
    assert np.mean(np.array(farther) < NEAR_M) > FOUND
    assert np.mean(farther) < FARTHER_M
