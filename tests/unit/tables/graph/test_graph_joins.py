"""Places where stretches of a collection are alike."""

import dataclasses
import tracemalloc

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.graph.graph_joins import find_places, nodes_of, strict_minima
from tests.oracles import distance
from tests.oracles.places import strict_minima as plain_minima

FLOAT32_CM = 1e-3
TILE_BYTES = 3_000_000
"""What a tile of 100 nodes may take, its margins and all that is found in it."""


@pytest.fixture(scope="module")
def frames():
    made = [ml.synthetic.clip(n).motion.replace(name=n) for n in ("walk", "jog", "stand")]
    return frames_of(made)


@pytest.fixture(scope="module")
def nodes(frames):
    return nodes_of(frames, stride=max(1, round(frames.fps / 15)))


@pytest.mark.parametrize(
    "shape",
    [(40, 31), (1, 1), (1, 40), (40, 1), (2, 17), (3, 18), (5, 19), (4, 34), (0, 3), (3, 0)],
)
def test_the_minima_are_the_plain_ones(shape):
    rng = np.random.Generator(np.random.PCG64(1))
    for highest in (3, 30):
        cost = rng.integers(0, highest, shape).astype(float)  # whole numbers: with ties
        cost[:, 7:8] = np.inf
        cost[2:3, 12:13] = np.nan
        for limit in (0.0, 5.0, 40.0):
            assert (strict_minima(cost, limit) == plain_minima(cost, limit)).all()


def test_a_plateau_has_no_minimum():
    assert not strict_minima(np.ones((5, 5)), 2.0).any()


def test_places_do_not_depend_on_the_tiles(nodes):
    whole = find_places(nodes, half_window=2, threshold_cm=25.0)
    tiled = find_places(nodes, half_window=2, threshold_cm=25.0, tile=7)
    assert len(whole.a) > 20
    assert (whole.a == tiled.a).all()
    assert (whole.b == tiled.b).all()
    assert np.allclose(whole.distance_cm, tiled.distance_cm, atol=FLOAT32_CM)


def many_times(nodes, times):
    """The nodes so many times over, each time as other clips."""
    return dataclasses.replace(
        nodes,
        rows=np.concatenate([nodes.rows + k * (nodes.rows[-1] + 1) for k in range(times)]),
        clips=np.concatenate([nodes.clips + k * (nodes.clips[-1] + 1) for k in range(times)]),
        points=np.tile(nodes.points, (times, 1, 1)),
    )


def test_memory_is_bounded_by_the_tile_not_by_the_grid(nodes):
    peaks = []
    for times in (4, 16):
        many = many_times(nodes, times)
        tracemalloc.start()
        find_places(many, half_window=2, threshold_cm=0.1, tile=100)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    whole_grid = 8 * (16 * len(nodes.rows)) ** 2
    assert max(peaks) < TILE_BYTES < whole_grid / 2


def test_every_place_is_a_minimum_of_the_plain_grid_of_its_two_clips(nodes):
    found = find_places(nodes, half_window=2, threshold_cm=25.0)
    for clip_a, clip_b in ((0, 1), (1, 2), (0, 0)):
        in_a, in_b = (np.flatnonzero(nodes.clips == clip) for clip in (clip_a, clip_b))
        weights = np.ones(nodes.points.shape[1])
        plain = distance.distance_grid(
            nodes.points[in_a], nodes.points[in_b], weights, half_window=2
        )
        cost = plain.cost
        for side in (slice(None, 2), slice(-2, None)):
            cost[side], cost[:, side] = np.inf, np.inf
        lowest = plain_minima(cost, 0.25**2)
        i, j = np.nonzero(lowest)
        if clip_a == clip_b:
            i, j = i[j - i > 4], j[j - i > 4]
        mine = (nodes.clips[found.a] == clip_a) & (nodes.clips[found.b] == clip_b)
        assert set(zip(i + in_a[0], j + in_b[0], strict=True)) == set(
            zip(found.a[mine], found.b[mine], strict=True)
        )


def test_windows_stay_inside_their_clips(nodes, frames):
    inside = nodes.inside(2)
    for clip in range(frames.n_clips):
        own = inside[nodes.clips == clip]
        assert not own[:2].any()
        assert not own[-2:].any()
        assert own[2:-2].all()


def test_moving_a_clip_changes_no_place(frames, nodes):
    moved = [
        ml.move(frames.motion(a, b - 1), heading=0.4 * k, x=30.0 * k, z=-7.0)
        for k, (a, b) in enumerate(zip(frames.starts[:-1], frames.starts[1:], strict=True))
    ]
    again = nodes_of(frames_of(moved, ids=frames.ids), stride=nodes.stride)
    one = find_places(nodes, half_window=2, threshold_cm=20.0)
    two = find_places(again, half_window=2, threshold_cm=20.0)
    assert (one.a == two.a).all()
    assert np.allclose(one.distance_cm, two.distance_cm, atol=FLOAT32_CM)


def test_progress_sums_to_one(nodes):
    seen = []
    find_places(nodes, half_window=2, threshold_cm=5.0, tile=20, progress=seen.append)
    assert len(seen) > 1
    assert abs(sum(seen) - 1.0) < 1e-9
