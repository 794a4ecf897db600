"""Naturalness of blends."""

import numpy as np
import pytest

from motionloom.transitions.columns import COLUMNS, column
from motionloom.transitions.kernel import score_recipes
from motionloom.transitions.natural import (
    NATURAL,
    is_natural,
    measure_misfits,
    naturalness,
    naturalness_between,
)
from motionloom.transitions.terms import terms_of

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


def test_a_blend_that_fits_its_gap_has_no_misfit(kinds_frames):
    row = np.array([kinds_frames.row_of("walk_0", 10)])
    ends = row + LENGTH - 1
    same = measure_misfits(kinds_frames, [[row[0], row[0]]], LENGTH, kinds_frames, row, ends)
    assert np.abs(same).max() < FLOAT32
    other = kinds_frames.row_of("run_0", 10)
    off = measure_misfits(kinds_frames, [[row[0], other]], LENGTH, kinds_frames, row, ends)
    assert off[0, 0] < FLOAT32 < off[0, 1]
    assert naturalness_between(blank(), same)[0] > naturalness_between(blank(), off)[0]
