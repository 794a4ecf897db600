"""Searches find the best of all blends."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.columns import PAPER, Ranking, score_recipes
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.pair_search import NONE, Kept, PairSearch, middles_of
from motionloom.tables.search.search import (
    SearchJob,
    Shortlist,
    search_chunk,
    search_pair,
)

LENGTH = 40
ROUND_OFF = 1e-6
"""Part of a cost that single precision may lose."""
KEEP = 9
MIXED = Ranking.of({"foot_in": 1.0, "planted": -0.01, "spread_m": 5.0}, {"zmp_mean_in": 2.0})
GAINFUL = Ranking.of({"foot_in": 1.0, "scored": -0.05})
"""Rewards something that feet alone do not tell, so nothing may be left out."""


@pytest.fixture(scope="module")
def frames():
    clips = [ml.synthetic.clip(kind) for kind in ("walk", "run", "sneak", "wave")]
    return frames_of(
        [clip.motion for clip in clips],
        ids=["walk", "run", "sneak", "wave"],
        footplants=[clip.footplants for clip in clips],
    )


@pytest.fixture(scope="module")
def terms(frames):
    return terms_of(frames, frames.windows(LENGTH)[::97], LENGTH)


@pytest.fixture(scope="module")
def between(terms):
    return np.arange(terms.n_windows)


def all_recipes(source, target, between, ways=(2, 3, 4)):
    recipes = []
    if 2 in ways:
        recipes.append([source, target, -1, -1])
    if 3 in ways:
        recipes += [[source, i, target, -1] for i in between]
    if 4 in ways:
        recipes += [[source, i, j, target] for i in between for j in between]
    return np.array(recipes)


@pytest.mark.parametrize("ranking", [PAPER, NATURAL, MIXED, GAINFUL])
@pytest.mark.parametrize("ways", [(2, 3, 4), (3,), (2, 4)])
def test_the_best_of_all_blends_are_found(terms, between, ranking, ways):
    found = search_pair(terms, 1, 5, between, ways=ways, keep=KEEP, ranking=ranking)
    recipes = all_recipes(1, 5, between, ways)
    costs = ranking.cost(score_recipes(terms, recipes))
    n_found = min(KEEP, len(recipes))
    order = np.argsort(costs, kind="stable")[:n_found]
    assert np.allclose(found.costs[0, :n_found], costs[order], rtol=ROUND_OFF, atol=ROUND_OFF)
    got = np.where(found.recipes[0] == NONE, -1, found.recipes[0].astype(int))
    again = ranking.cost(score_recipes(terms, got[:n_found]))
    assert np.allclose(found.costs[0, :n_found], again, rtol=ROUND_OFF, atol=ROUND_OFF)
    assert (np.diff(found.costs[0]) >= 0.0).all()


def test_more_ways_never_cost_more_than_fewer(terms, between):
    for source, target in ((0, 3), (4, 1), (2, 2)):
        best = [
            search_pair(terms, source, target, between, ways=ways, keep=1).costs[0, 0]
            for ways in ((2,), (2, 3), (2, 3, 4))
        ]
        assert best[0] >= best[1] >= best[2]


def test_fewer_blends_than_asked_leave_places_empty(terms):
    found = search_pair(terms, 0, 1, np.array([2]), keep=5)
    assert np.isfinite(found.costs[0, :3]).all()
    assert np.isinf(found.costs[0, 3:]).all()
    assert (found.recipes[0, 3:] == NONE).all()


def test_chunks_hold_every_pair_once(terms, between):
    job = SearchJob(terms, between, between[:7], between[:2], keep=2)
    numbers = [pair for chunk in range(job.n_chunks) for pair in job.pairs(chunk)]
    assert numbers == list(range(job.n_pairs))
    assert job.n_recipes == job.n_pairs * (1 + 2 + 4)
    last = search_chunk(job, job.n_chunks - 1)
    pair = job.pairs(job.n_chunks - 1)[-1]
    source, target = divmod(pair, 7)
    alone = search_pair(terms, source, target, between[:2], keep=2)
    assert (last.costs[-1] == alone.costs[0]).all()
    assert (last.recipes[-1] == alone.recipes[0]).all()


def test_a_shortlist_limits_four_way_blends_to_what_it_names(terms, between):
    pairs = np.full((1, 1, 3, 2), NONE, dtype=np.uint16)
    pairs[0, 0, :2] = [[2, 4], [4, 0]]
    short = Shortlist(pairs, np.zeros(1, dtype=int), np.zeros(1, dtype=int))
    job = SearchJob(terms, [1], [5], between, (4,), KEEP, PAPER, short)
    found = search_chunk(job, 0)
    got = {tuple(recipe) for recipe in found.recipes[0][np.isfinite(found.costs[0])].tolist()}
    assert got == {(1, 2, 4, 5), (1, 4, 0, 5)}


@pytest.mark.parametrize("ranking", [PAPER, NATURAL, MIXED])
def test_the_best_of_a_shortlist_are_found_whatever_is_left_out_on_the_way(terms, ranking):
    rng = np.random.Generator(np.random.PCG64(8))
    between = np.arange(terms.n_windows)[::2]  # some of the shortlist are not intermediaries
    pairs = np.unique(rng.integers(0, terms.n_windows, size=(30, 2)), axis=0)
    short = np.full((1, 1, len(pairs) + 3, 2), NONE, dtype=np.uint16)
    short[0, 0, : len(pairs)] = pairs
    parent = np.zeros(1, dtype=np.int64)
    job = SearchJob(
        terms, np.array([1]), np.array([5]), between, keep=KEEP, ranking=ranking,
        shortlist=Shortlist(short, parent, parent),
    )  # fmt: skip
    few = all_recipes(1, 5, between, ways=(2, 3))
    recipes = np.concatenate([few, [[1, i, j, 5] for i, j in pairs]])
    costs = np.sort(ranking.cost(score_recipes(terms, recipes)))[:KEEP]
    assert np.allclose(search_chunk(job, 0).costs[0], costs, rtol=ROUND_OFF, atol=ROUND_OFF)


def test_of_equal_blends_the_same_are_kept_in_whatever_order_they_are_tried(frames):
    twice = terms_of(frames, np.tile(frames.windows(LENGTH)[::97], 2), LENGTH)
    between = np.arange(twice.n_windows)
    found = search_pair(twice, 1, 5, between, keep=KEEP, ranking=NATURAL)
    again = search_pair(twice, 1, 5, between[::-1], keep=KEEP, ranking=NATURAL)
    assert len(np.unique(found.costs)) < KEEP
    assert np.array_equal(found.recipes, again.recipes)
    assert np.array_equal(found.costs, again.costs)


def test_the_name_of_a_job_depends_on_its_content(terms, between):
    job = SearchJob(terms, between, between, between)
    same = SearchJob(terms, between.copy(), between, between)
    assert job.digest() == same.digest()
    others = [
        SearchJob(terms, between, between, between[:3]),
        SearchJob(terms, between, between, between, (2, 3)),
        SearchJob(terms, between, between, between, keep=8),
        SearchJob(terms, between, between, between, ranking=MIXED),
    ]
    assert len({job.digest(), *(other.digest() for other in others)}) == 1 + len(others)


def test_impossible_jobs_are_refused(terms, between):
    with pytest.raises(ArrayError, match="`ways` must be among"):
        SearchJob(terms, between, between, between, (5,))
    with pytest.raises(ArrayError, match="`keep` must be at least 1"):
        SearchJob(terms, between, between, between, keep=0)
    with pytest.raises(ArrayError, match="`between` must be places"):
        SearchJob(terms, between, between, np.array([99999]))
    with pytest.raises(ArrayError, match="`chunk` must be"):
        SearchJob(terms, between, between, between).pairs(10**6)


@pytest.mark.parametrize("wrong", ["source", "place", "middle", "too many"])
def test_a_search_of_windows_that_are_not_there_is_refused(terms, between, wrong):
    job = SearchJob(terms, [1], [5], between, ranking=NATURAL)
    middles = middles_of(between, (2, 3, 4))
    if wrong == "middle":
        middles[2][3, 1] = terms.n_windows
    most = len(middles[2]) - (wrong == "too many")
    search = PairSearch(terms, between, NATURAL, job.spreads, most)
    kept = Kept(np.full(KEEP, np.inf, dtype=np.float32), np.full((KEEP, 4), NONE, dtype=np.uint16))
    pair = (terms.n_windows, 5) if wrong == "source" else (1, 5)
    place = (0, 1) if wrong == "place" else (0, 0)
    with pytest.raises(ArrayError, match="ml_pair_search refused"):
        search.search(pair, place, middles, kept)
