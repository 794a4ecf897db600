"""Recipes of a table as slots and as rows, against their plain forms."""

import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.tables.choice import fill_rows
from motionloom.tables.table_contents import NO_RECIPE, NO_WINDOW
from tests.oracles import tables as plain

K, ENDS, RECIPES = 20, 4, 9
MOST = 80
MEDOIDS = np.arange(K) * 7 + 3


def random_between(rng):
    """Recipes over up to two medoids; some pairs have fewer than others, or none."""
    between = rng.integers(0, K, (ENDS, ENDS, RECIPES, 2)).astype(np.uint8)
    between[rng.random((ENDS, ENDS, RECIPES)) < 0.3, 1] = NO_WINDOW
    between[rng.random((ENDS, ENDS, RECIPES)) < 0.1] = NO_WINDOW
    counts = rng.integers(0, RECIPES + 1, (ENDS, ENDS))
    between[np.arange(RECIPES) >= counts[..., None]] = NO_RECIPE
    return between


def slots(between, ends, n_captured, share, *, n_medoids=K, most=MOST):
    ids, count = np.full((most, 4), -9, dtype=np.int32), np.zeros(1, dtype=np.int64)
    kernel("ml_table_slots")(
        ENDS, RECIPES, between, n_medoids, len(ends) - 1, np.asarray(ends), n_captured, share,
        most, ids, count,
    )  # fmt: skip
    return ids[: count[0]].tolist()


def padded(recipes):
    return [[*recipe, -1, -1, -1][:4] for recipe in recipes]


@pytest.mark.parametrize("n_captured", [0, 1, 2])
@pytest.mark.parametrize("share", [0, 1, 5, RECIPES, 1000])
def test_slots_match_their_plain_form(n_captured, share):
    rng = np.random.Generator(np.random.PCG64(share))
    for _ in range(20):
        between, ends = random_between(rng), rng.integers(0, ENDS, 1 + rng.integers(0, 6))
        expected = plain.fill_slots(between, K, ends, n_captured, share)
        assert slots(between, ends, n_captured, share) == padded(expected)


def test_rows_match_their_plain_form():
    rng = np.random.Generator(np.random.PCG64(3))
    for count in (0, 1, 4, RECIPES):
        for pair in random_between(rng).reshape(-1, RECIPES, 2):
            rows = np.full((count + 1, 4), -9)
            some = pair[:count]
            n = fill_rows(some, MEDOIDS, 500, 600, rows)
            assert rows[:n].tolist() == padded(plain.fill_rows(some, MEDOIDS, 500, 600))


def test_a_plain_blend_in_the_table_comes_twice_as_rows_and_once_as_slots():
    between = np.full((ENDS, ENDS, RECIPES, 2), NO_RECIPE, dtype=np.uint8)
    between[0, 1, 0] = NO_WINDOW
    between[0, 1, 1] = 5, NO_WINDOW
    assert slots(between, [0, 1], 0, 9) == [[K, K + 1, -1, -1], [K, 5, K + 1, -1]]
    rows = np.full((3, 4), -1)
    assert fill_rows(between[0, 1, :2], MEDOIDS, 1, 2, rows) == 3
    assert rows.tolist() == [[1, 2, -1, -1], [1, int(MEDOIDS[5]), 2, -1], [1, 2, -1, -1]]


def test_what_is_not_there_is_refused():
    between = random_between(np.random.Generator(np.random.PCG64(1)))
    between[0, 1, 0] = 7, 3
    for ends in ([0, ENDS], [-1, 0]):
        with pytest.raises(ArrayError, match="sizes do not fit"):
            slots(between, ends, 0, 4)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        slots(between, [0, 1], 0, 4, n_medoids=7)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        slots(between, [0, 1], 2, 4, most=6)
    with pytest.raises(ArrayError, match="sizes do not fit"):
        fill_rows(between[0, 1, :2], MEDOIDS[:7], 1, 2, np.zeros((3, 4), dtype=np.int64))


@pytest.mark.parametrize("n_joints", [0, 1, 31])
def test_signs_match_their_plain_form(n_joints):
    rng = np.random.Generator(np.random.PCG64(n_joints))
    quats, before = rng.normal(size=(2, n_joints, 4))
    out = quats.copy()
    kernel("ml_frames_same_signs")(n_joints, before, out)
    assert (out == plain.same_signs(quats, before)).all()
