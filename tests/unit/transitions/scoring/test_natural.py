"""Naturalness of blends."""

import numpy as np
import pytest

from motionloom.transitions.scoring.columns import COLUMNS, column
from motionloom.transitions.scoring.kernel import score_recipes
from motionloom.transitions.scoring.natural import NATURAL, is_natural, naturalness
from motionloom.transitions.scoring.terms import terms_of

LENGTH = 60
FLOAT32 = 1e-5


def blank(**columns):
    x = np.zeros((1, len(COLUMNS)), dtype=np.float32)
    for name, value in columns.items():
        x[0, column(name)] = value
    return x


def test_it_is_a_chance_and_falls_with_the_cost_that_searches_minimise():
    rng = np.random.Generator(np.random.PCG64(0))
    x = rng.uniform(0.0, 20.0, (500, len(COLUMNS))).astype(np.float32)
    chance = naturalness(x)
    assert ((chance >= 0.0) & (chance <= 1.0)).all()
    order = np.argsort(NATURAL.cost(x))
    assert (np.diff(chance[order]) <= FLOAT32).all()


@pytest.mark.parametrize("name", ["foot_in", "spread_m", "root_spread", "zmp_mean_in", "com_acc"])
def test_more_of_a_fault_is_never_more_natural(name):
    values = [naturalness(blank(**{name: v}))[0] for v in (0.0, 0.05, 1.0, 10.0)]
    assert (np.diff(values) <= 0.0).all() and values[-1] < values[0]


def test_no_weight_is_negative_so_that_searches_may_prune():
    assert (NATURAL.linear >= 0.0).all() and (NATURAL.log >= 0.0).all() and NATURAL.prunes


def test_a_captured_walk_is_natural_and_less_so_blended_with_a_kick(kinds_frames):
    rows = np.array([kinds_frames.row_of(name, 10) for name in ("walk_0", "kick_0", "run_1")])
    terms = terms_of(kinds_frames, rows, LENGTH)
    ids = np.array([[0, 0, -1, -1], [0, 1, -1, -1], [0, 1, 2, 0]], dtype=np.int32)
    columns = score_recipes(terms, ids)
    assert is_natural(columns)[0]
    assert naturalness(columns)[0] > naturalness(columns)[1:].max()


def test_what_is_bent_counts_as_what_differs():
    assert naturalness(blank(), [[0.0, 0.0]]) == naturalness(blank())
    assert naturalness(blank(), [[0.03, 0.0]]) == pytest.approx(naturalness(blank(spread_m=0.03)))
    assert naturalness(blank(), [[0.0, 0.4]]) == pytest.approx(naturalness(blank(root_spread=0.4)))
    assert is_natural(blank())[0] and not is_natural(blank(), [[0.3, 0.0]])[0]


@pytest.mark.parametrize("way", [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
def test_more_bent_is_never_more_natural(way):
    sizes = np.array([0.0, 0.01, 0.05, 0.3, 2.0])
    chance = naturalness(np.repeat(blank(spread_m=0.02), len(sizes), axis=0), np.outer(sizes, way))
    assert (np.diff(chance) <= 0.0).all() and chance[-1] < chance[0]
