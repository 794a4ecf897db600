"""The fused kernel's source, run on the CPU, against the CPU's own kernel."""

import ctypes

import numpy as np
import pytest

from motionloom.errors import TableError
from motionloom.tables.engines import gpu
from motionloom.tables.engines.gpu import FusedSearch, plain_terms, query_of
from motionloom.tables.engines.gpu_module import build_for, job_type
from motionloom.tables.score.columns import PAPER, score_recipes
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.search.pair_search import NONE
from motionloom.tables.search.search import SearchJob, Shortlist

from .near import assert_columns_near

COST = 5e-3
"""Of a blend, by either ranking: what its columns may differ by."""


@pytest.fixture(scope="module")
def search(terms, host):
    return FusedSearch(plain_terms(terms), "cpu", host, 1)


def job_of(terms, ranking, **more):
    every = np.arange(terms.n_windows)
    return SearchJob(terms, every[:3], every[2:5], every[1:6], ranking=ranking, **more)


def costs_of(job, recipes):
    columns = score_recipes(job.terms, recipes.reshape(-1, 4))
    return job.ranking.cost(columns).reshape(recipes.shape[:2])


def every_recipe(query):
    places = np.broadcast_to(np.arange(query.n_blends), (query.n_pairs, query.n_blends))
    return query.recipes(np.arange(query.n_pairs), places)


def test_every_column_is_what_the_cpu_measures(search, terms, recipes):
    assert_columns_near(search.score(recipes).numpy(), score_recipes(terms, recipes))


@pytest.mark.parametrize("ranking", [PAPER, NATURAL], ids=["paper", "natural"])
def test_every_blend_of_a_pair_costs_what_it_does_on_the_cpu(search, terms, ranking):
    job = job_of(terms, ranking)
    query = query_of(job)
    assert query.n_blends * query.n_pairs == job.n_recipes
    costs = search.costs(query, 0, query.n_pairs).numpy()
    assert np.abs(costs - costs_of(job, every_recipe(query))).max() < COST


@pytest.mark.parametrize("ways", [(2,), (3,), (4,), (2, 4)])
def test_blends_are_of_as_many_windows_as_asked(search, terms, ways):
    job = job_of(terms, PAPER, ways=ways)
    query = query_of(job)
    recipes = every_recipe(query)
    assert set(np.unique((recipes >= 0).sum(axis=-1))) == set(ways)
    costs = search.costs(query, 1, 4).numpy()
    assert np.abs(costs - costs_of(job, recipes[1:5])).max() < COST


def short_job(terms):
    """A shortlist whose third entry is empty, another for each coarse pair."""
    between = np.full((2, 2, 3, 2), NONE, dtype=np.uint16)
    between[:, :, 0], between[:, :, 1] = [1, 4], [3, 3]
    between[1, 0, 0] = [5, 2]
    short = Shortlist(between, np.array([0, 1, 1]), np.array([1, 0, 1]))
    return job_of(terms, PAPER, shortlist=short)


def test_four_windows_come_from_the_shortlist_of_a_pair(search, terms):
    job = short_job(terms)
    query = query_of(job)
    recipes = every_recipe(query)
    costs = search.costs(query, 0, query.n_pairs).numpy()
    empty = (recipes[..., 3] >= 0) & (recipes[..., 1] < 0)
    assert empty.sum() == query.n_pairs
    assert np.isinf(costs[empty]).all()
    expected = costs_of(job, np.where(empty[..., None], recipes[:, :1], recipes))
    assert np.abs(costs - expected)[~empty].max() < COST
    assert list(recipes[4, -3, 1:3]) == [5, 2]


def test_the_best_are_the_least_costs_rising(search, terms):
    query = query_of(job_of(terms, PAPER))
    every = search.costs(query, 2, 5).numpy()
    costs, places = (tensor.numpy() for tensor in search.best(query, 2, 5, 9))
    assert (np.diff(costs, axis=1) >= 0.0).all()
    assert (np.sort(every, axis=1)[:, :9] == costs).all()
    assert (np.take_along_axis(every, places.astype(np.int64), axis=1) == costs).all()


def test_tiles_change_nothing(search, terms, monkeypatch):
    query = query_of(job_of(terms, PAPER))
    whole = search.best(query, 0, query.n_pairs, 4)
    monkeypatch.setattr(gpu, "TILE_BYTES", 4 * query.n_blends * 2 + 3)
    parts = search.best(query, 0, query.n_pairs, 4)
    assert all((a == b).all() for a, b in zip(whole, parts, strict=True))


def test_no_more_are_asked_for_than_there_are(search, terms):
    query = query_of(job_of(terms, PAPER, ways=(2, 3)))
    costs, _ = search.best(query, 0, 2, 500)
    assert costs.shape == (2, query.n_blends)


def test_a_full_card_gets_half_as_much_at_a_time(torch, search, terms, monkeypatch):
    query = query_of(job_of(terms, PAPER))
    expected = search.best(query, 0, query.n_pairs, 4)
    asked = []

    def costs(query, first, n, *, full=2):
        asked.append(n)
        if n > full:
            raise torch.OutOfMemoryError("no room")
        return FusedSearch.costs(search, query, first, n)

    monkeypatch.setattr(search, "costs", costs)
    got = search.best(query, 0, query.n_pairs, 4)
    assert asked[:3] == [9, 4, 2]
    assert all((a == b).all() for a, b in zip(got, expected, strict=True))


def test_a_card_without_memory_for_one_pair_is_reported(torch, search, terms, monkeypatch):
    def costs(*_):
        raise torch.OutOfMemoryError("no room")

    monkeypatch.setattr(search, "costs", costs)
    with pytest.raises(TableError, match="must have memory for the 31 blends of one pair"):
        search.best(query_of(job_of(terms, PAPER)), 0, 3, 4)


def test_a_card_without_memory_for_the_terms_is_reported(torch, terms, host, monkeypatch):
    def to(*_):
        raise torch.OutOfMemoryError("no room")

    monkeypatch.setattr(torch.Tensor, "to", to)
    with pytest.raises(TableError, match="must have memory for the terms of"):
        FusedSearch(plain_terms(terms), "cpu", host, 1)


def test_the_kernel_and_python_agree_on_what_is_where(terms, host):
    plain = plain_terms(terms)
    build = build_for(plain)
    job, room = host(build).sizes()
    assert job == ctypes.sizeof(job_type(plain.taps.shape[1], len(plain.masses)))
    one, two = (build.shared_bytes(1, warps) for warps in (1, 2))
    assert room == two - one
    assert one - room == 4 * build.n_terms * build.slots(1)


def test_only_columns_that_count_are_measured(terms):
    build = build_for(plain_terms(terms), query_of(job_of(terms, PAPER)).ranking)
    assert build.needs == 1 << 0 | 1 << 8 | 1 << 18
    assert build.logs == 0


def test_frames_are_dealt_to_lanes_as_neighbours(terms, host):
    search = FusedSearch(plain_terms(terms), "cpu", host, 32)
    frames = np.arange(38, dtype=np.float32)
    dealt = search._dealt(frames).reshape(2, 32)
    assert (dealt[:, :19] == frames.reshape(19, 2).T).all()
    assert (dealt[:, 19:] == 0.0).all()
