"""Recipes refined by exchanging intermediaries."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.columns import PAPER, score_recipes
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.pair_search import refine_recipe
from motionloom.tables.search.search import search_pair

LENGTH = 30
FLOAT32 = 1e-4


@pytest.fixture(scope="module")
def terms():
    names = ("walk", "jog", "run")
    frames = frames_of([ml.synthetic.clip(n).motion.replace(name=n) for n in names])
    rows = [frames.row_of(name, frame) for name in names for frame in (2, 9, 16, 23, 30, 37)]
    return terms_of(frames, rows, LENGTH)


def cost_of(terms, ids):
    return float(PAPER.cost(score_recipes(terms, np.array([ids], dtype=np.int32)))[0])


def test_a_refined_recipe_costs_what_it_reports_and_no_more_than_before(terms):
    everything = np.arange(terms.n_windows)
    for recipe in ([0, 9, -1, -1], [3, 5, 12, -1], [1, 2, 8, 15]):
        refined = refine_recipe(terms, recipe, everything)
        assert abs(refined.cost - cost_of(terms, refined.ids)) < FLOAT32
        assert refined.cost <= cost_of(terms, recipe) + FLOAT32
        assert refined.ids[0] == recipe[0]
        assert refined.ids[refined.ids >= 0][-1] == [k for k in recipe if k >= 0][-1]


def test_no_single_exchange_makes_it_better(terms):
    everything = np.arange(terms.n_windows)
    refined = refine_recipe(terms, [0, 4, 7, 9], everything, rounds=50)
    for slot in (1, 2):
        for other in everything:
            tried = refined.ids.copy()
            tried[slot] = other
            assert cost_of(terms, tried) >= refined.cost - FLOAT32


def test_it_is_never_better_than_the_search_of_all(terms):
    everything = np.arange(terms.n_windows)
    all_of_them = search_pair(terms, 0, 13, everything, keep=1).costs[0, 0]
    refined = refine_recipe(terms, [0, 13, -1, -1], everything)
    assert refined.cost >= all_of_them - FLOAT32
    assert refined.n_scored < 0.6 * (1 + terms.n_windows + terms.n_windows**2)


def test_it_stops_where_it_is_good_enough(terms):
    refined = refine_recipe(terms, [0, 4, 7, 9], np.arange(terms.n_windows), good=1e9)
    assert refined.n_scored == 1
    assert list(refined.ids) == [0, 4, 7, 9]


@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_every_round_judges_both_exchanges_of_every_window(terms, rounds):
    some = [2, 5, 8, 11, 14]
    refined = refine_recipe(terms, [0, 4, 7, 9], some, rounds=rounds)
    assert refined.n_scored == 1 + 2 * len(some) * rounds
    if not rounds:
        assert refined.ids.tolist() == [0, 4, 7, 9]
    if rounds == 1:
        tried = [[0, k, 7, 9] for k in some] + [[0, 4, k, 9] for k in some]
        costs = [cost_of(terms, ids) for ids in tried]
        assert refined.ids.tolist() == tried[int(np.argmin(costs))]
        assert refined.cost == pytest.approx(min(costs), abs=FLOAT32)


def test_wrong_recipes_are_refused(terms):
    with pytest.raises(ArrayError, match="2 to 4"):
        refine_recipe(terms, [0, -1, -1, -1], [1, 2])
    with pytest.raises(ArrayError, match="exchange"):
        refine_recipe(terms, [0, 1, -1, -1], [])
