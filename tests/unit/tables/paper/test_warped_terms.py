"""Blends matched in time: measured as the plain form measures them, and searched."""

import numpy as np
import pytest

import motionloom as ml
from motionloom._core import CoreError, kernel
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.paper.time_alignment import (
    FAMILY_NUMBERS,
    LONGEST,
    WarpedTerms,
    WindowMatches,
    join_paths,
    match_all,
)
from motionloom.tables.score.columns import PAPER, column, score_recipes
from motionloom.tables.score.recipe import FAMILIES, weights_of
from motionloom.tables.score.stance import plants_of
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.pair_search import middles_of
from motionloom.tables.search.search import search_pair
from tests.oracles.blend_score import measure_blend

LENGTH = 40
FOOT_IN, ZMP_IN, SMALL = 1e-4, 5e-3, 1e-3
"""Single precision, magnified by accelerations."""


@pytest.fixture(scope="module")
def frames():
    clips = [
        ml.synthetic.clip(kind, turn=turn, seed=seed)
        for seed, (kind, turn) in enumerate([("walk", 0.9), ("run", -0.5), ("sneak", 0.0)])
    ]
    return frames_of(
        [clip.motion for clip in clips],
        ids=[f"clip{k}" for k in range(len(clips))],
        footplants=[clip.footplants for clip in clips],
    )


@pytest.fixture(scope="module")
def rows(frames):
    inner = frames.windows(LENGTH)[17::87]
    return np.array([0, int(frames.starts[1]) - LENGTH, *inner])


@pytest.fixture(scope="module")
def terms(frames, rows):
    return terms_of(frames, rows, LENGTH)


@pytest.fixture(scope="module")
def matches(frames, rows):
    return match_all(frames, rows, LENGTH, borders=True)


def some_path(rng):
    """A match of two windows from corner to corner, with waits of up to three frames."""
    at, cells, waited = np.zeros(2, dtype=np.int64), [np.zeros(2, dtype=np.int64)], 0
    while (at < LENGTH - 1).any():
        step = np.array([(1, 1), (1, 1), (1, 0), (0, 1)][rng.integers(4)])
        step = np.where(at < LENGTH - 1, step, 0)
        waited = waited + 1 if step.sum() == 1 else 0
        if not step.any() or waited > 3:
            step = np.minimum(1, LENGTH - 1 - at)
        at = at + step
        cells.append(at)
    return np.array(cells)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("n_ways", [1, 2, 3, 4])
def test_weights_are_those_of_the_families(family, n_ways):
    for length in (2, 3, 40, 79):
        searched = np.zeros((n_ways, length))
        kernel("ml_warp_weights")(FAMILY_NUMBERS[family], n_ways, length, searched)
        assert np.array_equal(searched, weights_of(family, n_ways, length))


@pytest.mark.parametrize("n_ways", [2, 3, 4])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_warped_blend_is_measured_as_the_plain_form_does(frames, rows, terms, n_ways, family):
    rng = np.random.Generator(np.random.PCG64(n_ways))
    warped, plants = WarpedTerms(terms), plants_of(frames)
    longer = 0
    for _ in range(8):
        ids = rng.integers(0, len(rows), n_ways)
        times = join_paths([some_path(rng) for _ in range(n_ways - 1)], LENGTH)
        assert times is not None
        longer += len(times) > LENGTH
        columns = warped.score(ids, times, family)
        windows = [int(rows[i]) for i in ids]
        plain = measure_blend(frames, plants, windows, LENGTH, family=family, times=times)
        for name in ("planted", "scored", "unsupported", "bare"):
            assert columns[column(name)] == plain[name], name
        for name in ("foot_in", "foot_worst_in"):
            assert columns[column(name)] == pytest.approx(plain[name], abs=FOOT_IN, rel=1e-5), name
        for name in ("zmp_max_in", "zmp_p95_in", "zmp_mean_in"):
            assert columns[column(name)] == pytest.approx(plain[name], abs=ZMP_IN, rel=1e-4), name
        assert columns[column("com_acc")] == pytest.approx(plain["com_acc"], abs=SMALL)
    assert longer > 4


@pytest.mark.parametrize("n_ways", [1, 2, 3, 4])
def test_frame_to_frame_a_blend_has_the_very_columns_of_a_blend_without_times(terms, n_ways):
    rng = np.random.Generator(np.random.PCG64(n_ways))
    ids = rng.integers(0, terms.n_windows, (6, n_ways))
    times = np.tile(np.arange(LENGTH)[:, None], (1, n_ways))
    warped = WarpedTerms(terms)
    mine = np.stack([warped.score(each, times, "bernstein") for each in ids])
    assert np.array_equal(mine, score_recipes(terms, ids))


def test_a_window_that_waits_stands_still_and_nothing_else_changes(terms):
    warped = WarpedTerms(terms)
    plain = np.tile(np.arange(LENGTH)[:, None], (1, 2))
    waits = np.concatenate([plain[:10], plain[9:]])  # both wait for one frame
    one, other = warped.score([3, 3], plain, "bernstein"), warped.score([3, 3], waits, "bernstein")
    assert other[column("spread_m")] == pytest.approx(one[column("spread_m")], abs=1e-5)
    assert other[column("planted")] >= one[column("planted")]


def test_times_are_the_joined_matches_and_frame_to_frame_where_there_are_none(terms, matches):
    warped, record = WarpedTerms(terms), matches.record()
    size, warped_some = terms.n_windows, 0
    rng = np.random.Generator(np.random.PCG64(1))
    for ids in rng.integers(0, size, (20, 3)):
        pairs = [ids[0] * size + ids[1], ids[1] * size + ids[2]]
        spans = [slice(*matches.firsts[pair : pair + 2].tolist()) for pair in pairs]
        joined = join_paths([matches.cells[span] for span in spans], LENGTH)
        times = warped.times(record, ids)
        if joined is None:
            joined = np.tile(np.arange(LENGTH)[:, None], (1, 3))
        assert np.array_equal(times, joined)
        assert len(times) <= LONGEST * LENGTH
        warped_some += len(times) != LENGTH
    assert warped_some


@pytest.mark.parametrize("families", [("bernstein",), tuple(FAMILY_NUMBERS)])
def test_the_search_finds_the_cheapest_of_all(terms, matches, families):
    warped, record = WarpedTerms(terms), matches.record()
    between = np.arange(terms.n_windows)
    middles = np.ascontiguousarray(np.concatenate(middles_of(between, (2, 3, 4))))
    for pair in ((0, 1), (2, 4), (3, 3)):
        found = warped.search(record, pair, middles, PAPER, families, keep=3)
        costs = []
        for middle in middles:
            ids = [pair[0], *(int(k) for k in middle if k != 0xFFFF), pair[1]]
            times = warped.times(record, ids)
            for family in families:
                columns = warped.score(ids, times, family)
                costs.append((float(PAPER.cost(columns[None])[0]), ids, family))
        best = sorted(costs, key=lambda each: each[0])[:3]
        assert found.costs == pytest.approx([each[0] for each in best], rel=1e-5)
        ids, family = best[0][1:]
        assert found.recipes[0][found.recipes[0] != 0xFFFF].tolist() == ids
        assert found.families[0] == FAMILY_NUMBERS[family]


def test_a_search_frame_to_frame_is_that_of_a_table_without_times(frames, rows, terms):
    size = len(rows)
    cells = np.tile(np.repeat(np.arange(LENGTH)[:, None], 2, axis=1), (size * size, 1))
    plain = WindowMatches(np.arange(size * size + 1) * LENGTH, cells)
    middles = np.ascontiguousarray(np.concatenate(middles_of(np.arange(size), (2, 3, 4))))
    found = WarpedTerms(terms).search(
        plain.record(), (0, 2), middles, PAPER, ("bernstein",), keep=4
    )
    other = search_pair(terms, 0, 2, np.arange(size), keep=4)
    # Sums of windows are added in another order there.
    assert found.costs == pytest.approx(other.costs[0], rel=1e-5)
    assert np.array_equal(found.recipes[0], other.recipes[0][0])


def test_what_does_not_fit_is_refused(terms, matches):
    warped = WarpedTerms(terms)
    with pytest.raises(ArrayError, match="`times` must be"):
        warped.score([0, 1], np.zeros((5, 3), dtype=np.int64), "bernstein")
    with pytest.raises(CoreError):
        warped.score([0, 1], np.full((5, 2), LENGTH), "bernstein")
    with pytest.raises(CoreError):
        warped.score([0, terms.n_windows], np.zeros((5, 2), dtype=np.int64), "bernstein")
    jumps = WindowMatches(matches.firsts, np.full_like(matches.cells, LENGTH))
    with pytest.raises(CoreError):
        warped.times(jumps.record(), [0, 1])
