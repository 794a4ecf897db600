"""The best of a few blends, found in stages, against all of them judged in full."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.columns import (
    COLUMNS,
    PAPER,
    Ranking,
    score_recipes,
    scratch_of,
    terms_record,
)
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.pair_search import best_blend, weighing_of

LENGTH = 40
ROUND_OFF = 1e-9
NAMES = ("walk", "run", "sneak", "kick")
RANKINGS = {
    "paper": PAPER,
    "natural": NATURAL,
    "spread alone": Ranking.of({"spread_m": 1.0}),
    "peak alone": Ranking.of({"peak_acc": 0.01}, {"peak_acc": 0.3}),
    "one that rewards": Ranking.of({"zmp_mean_in": 1.0, "planted": -0.5, "speed_ratio": -2.0}),
    "nothing": Ranking.of({}),
}


@pytest.fixture(scope="module")
def terms():
    clips = [ml.synthetic.clip(name) for name in NAMES]
    motions = [clip.motion.replace(name=name) for clip, name in zip(clips, NAMES, strict=True)]
    frames = frames_of(motions, footplants=[clip.footplants for clip in clips])
    return terms_of(frames, frames.windows(LENGTH, stride=17), LENGTH, family="eased")


def some_recipes(terms, rng, *, targets, sources=1):
    """Recipes from some sources to some targets, some of them twice. (n, 4)."""
    starts, ends = np.split(
        rng.choice(terms.n_windows, sources + targets, replace=False), [sources]
    )
    ids = np.full((30, 4), -1, dtype=np.int32)
    ids[:, 0] = starts[np.arange(len(ids)) % sources]
    for n, recipe in enumerate(ids):
        ways = rng.integers(2, 5)
        recipe[1 : ways - 1] = rng.integers(terms.n_windows, size=ways - 2)
        recipe[ways - 1] = ends[n * targets // len(ids)]
    ids[20:23] = ids[2:5]
    return ids


@pytest.mark.parametrize("name", RANKINGS)
@pytest.mark.parametrize(("sources", "targets"), [(1, 1), (1, 4), (3, 1), (3, 4)])
def test_the_staged_best_is_the_best_of_all_judged_in_full(terms, name, sources, targets):
    ranking = RANKINGS[name]
    judge, scratch, weighing = terms_record(terms), scratch_of(terms), weighing_of(ranking, terms)
    rng = np.random.Generator(np.random.PCG64(5))
    for _ in range(25):
        ids = some_recipes(terms, rng, targets=targets, sources=sources)
        columns = score_recipes(terms, ids)
        costs = ranking.cost(columns)
        best, cost = best_blend(judge, scratch, weighing, ids)
        assert best == int(np.argmin(costs))
        assert abs(cost - costs.min()) < ROUND_OFF
        assert np.array_equal(weighing.best, columns[best])


def test_nothing_is_best_of_blends_that_cost_nan(terms):
    ranking = Ranking.of(dict.fromkeys(COLUMNS[:1], np.nan))
    recipes = np.array([[0, 1, -1, -1]], dtype=np.int32)
    weighing = weighing_of(ranking, terms)
    best, _ = best_blend(terms_record(terms), scratch_of(terms), weighing, recipes)
    assert best == -1


@pytest.mark.parametrize("recipe", [[10**6, 1, -1, -1], [-1, -1, -1, -1]])
def test_recipes_of_no_window_are_refused(terms, recipe):
    recipes = np.array([[0, 1, -1, -1], recipe], dtype=np.int32)
    weighing = weighing_of(PAPER, terms)
    with pytest.raises(ml.ArrayError, match="ml_recipe_best refused"):
        best_blend(terms_record(terms), scratch_of(terms), weighing, recipes)


def test_of_no_recipes_none_is_best(terms):
    none, weighing = np.zeros((0, 4), dtype=np.int32), weighing_of(PAPER, terms)
    assert best_blend(terms_record(terms), scratch_of(terms), weighing, none) == (-1, np.inf)
    assert np.isnan(weighing.best).all()
