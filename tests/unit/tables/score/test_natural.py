"""Naturalness of blends."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.score import natural
from motionloom.tables.score.columns import COLUMNS, column, score_recipes
from motionloom.tables.score.natural import (
    BIAS,
    FAILED_MOST,
    NATURAL,
    RELATIVE,
    THRESHOLD,
    WEIGHTS,
    Reference,
    is_natural,
    naturalness,
    reference_of,
    relative_columns,
)
from motionloom.tables.score.terms import terms_of

LENGTH = 60
WALK = Reference(1.7, np.array([0.06]), np.array([1.3]), np.array([3.0]))


def blank(**columns):
    x = np.zeros((1, len(COLUMNS)), dtype=np.float32)
    for name, value in columns.items():
        x[0, column(name)] = value
    return x


def test_it_is_between_0_and_1():
    rng = np.random.Generator(np.random.PCG64(0))
    x = rng.uniform(0.0, 20.0, (500, len(COLUMNS))).astype(np.float32)
    chance = naturalness(x, WALK)
    assert chance.shape == (500,)
    assert ((chance >= 0.0) & (chance <= 1.0)).all()


@pytest.mark.parametrize("name", ["foot_in", "spread_m", "root_spread", "com_acc"])
def test_more_of_a_fault_is_never_more_natural(name):
    values = [naturalness(blank(**{name: v}), WALK)[0] for v in (0.0, 0.05, 1.0, 10.0)]
    assert (np.diff(values) <= 0.0).all() and values[-1] < values[0]


def test_no_weight_is_negative_so_that_searches_may_prune():
    assert (NATURAL.linear >= 0.0).all() and (NATURAL.log >= 0.0).all() and NATURAL.prunes
    assert min(WEIGHTS.values()) >= 0.0


def test_every_captured_window_is_natural_however_fast_it_is(kinds_frames):
    rows = np.array([kinds_frames.row_of(name, 10) for name in ("walk_0", "kick_0", "run_1")])
    terms = terms_of(kinds_frames, rows, LENGTH)
    alone = np.array([[k, -1, -1, -1] for k in range(3)], dtype=np.int32)
    reference = reference_of(terms, [[k, k] for k in range(3)])
    assert is_natural(score_recipes(terms, alone), reference).all()


def test_a_captured_walk_is_less_natural_blended_with_a_kick(kinds_frames):
    rows = np.array([kinds_frames.row_of(name, 10) for name in ("walk_0", "kick_0", "run_1")])
    terms = terms_of(kinds_frames, rows, LENGTH)
    ids = np.array([[0, 0, -1, -1], [0, 1, -1, -1], [0, 1, 2, 0]], dtype=np.int32)
    chance = naturalness(score_recipes(terms, ids), reference_of(terms, [[0, 0], [0, 1], [0, 0]]))
    assert chance[0] > THRESHOLD
    assert chance[0] > chance[1:].max()


def test_what_is_odd_in_a_stand_may_be_natural_in_a_run():
    stand = Reference(1.7, np.array([0.01]), np.array([0.05]), np.array([0.5]))
    run = Reference(1.7, np.array([0.1]), np.array([3.5]), np.array([12.0]))
    blend = blank(spread_m=0.035, root_spread=0.4, foot_in=3.0, com_acc=10.0)
    assert not is_natural(blend, stand)[0]
    assert is_natural(blend, run)[0]


def test_a_failed_quality_check_caps_it_below_the_threshold():
    assert FAILED_MOST < THRESHOLD
    assert naturalness(blank(), WALK)[0] > 0.9
    failed = ["knees: left_knee at frame 12"]
    assert naturalness(blank(), WALK, failed=failed)[0] == FAILED_MOST
    assert not is_natural(blank(), WALK, failed=failed)[0]
    bad = blank(spread_m=0.3)
    assert naturalness(bad, WALK, failed=failed) == naturalness(bad, WALK)


def test_a_reference_of_other_blends_is_refused():
    two = Reference(1.7, np.zeros(2), np.zeros(2), np.zeros(2))
    with pytest.raises(ml.ArrayError, match="of one blend or of all 1, got 2"):
        naturalness(blank(), two)


def test_naturalness_is_a_logistic_function_of_the_weighted_columns():
    blend = blank(spread_m=0.03, root_spread=0.2, foot_in=1.5, com_acc=6.0)
    weights = np.array([WEIGHTS[name] for name in RELATIVE])
    odds = BIAS - relative_columns(blend, WALK)[0] @ weights
    assert naturalness(blend, WALK)[0] == pytest.approx(1.0 / (1.0 + np.exp(-odds)))


def test_a_blend_at_the_threshold_is_natural(monkeypatch):
    blend = blank(spread_m=0.03)
    chance = naturalness(blend, WALK)[0]
    monkeypatch.setattr(natural, "THRESHOLD", chance)
    assert is_natural(blend, WALK)[0]
    monkeypatch.setattr(natural, "THRESHOLD", np.nextafter(chance, 1.0))
    assert not is_natural(blend, WALK)[0]
