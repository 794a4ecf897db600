"""Arrays of a table at the edges of what they may hold."""

from pathlib import Path

import numpy as np
import pytest

from motionloom.errors import TableError
from motionloom.tables.index.clusters import NOWHERE
from motionloom.tables.table_contents import (
    NO_RECIPE,
    NO_WINDOW,
    check_arrays,
    check_length,
    check_representatives,
    window_starts,
)
from motionloom.tables.table_file import TableFile

LENGTH = 10
STARTS = np.array([0, 40, 49, 60])
"""Clips of 40, 9 and 11 frames: the second one is too short for a window."""
ROWS = 60


def file_of(n_coarse=3, n_fine=4, recipes=5, costs=2, **changed):
    """A table in memory; every recipe is the plain blend."""
    has_window = np.ones(ROWS, dtype=bool)
    has_window[40:49] = False
    ids = np.where(has_window, 0, NOWHERE).astype("<u2")
    arrays = {
        "medoids": np.zeros(n_coarse, dtype="<u4"),
        "fine_medoids": np.zeros(n_fine, dtype="<u4"),
        "between": np.full((n_fine, n_fine, recipes, 2), NO_WINDOW, dtype="|u1"),
        "costs": np.zeros((n_fine, n_fine, costs), dtype="<f2"),
        "lookup.coarse": ids,
        "lookup.fine": ids.copy(),
        "lookup.coarse_distance": np.zeros(ROWS, dtype="<f2"),
        "lookup.fine_distance": np.zeros(ROWS, dtype="<f2"),
    }
    for name, change in changed.items():
        change(arrays[name])
    return TableFile(Path("a.mlt"), {}, arrays, 0)


def passes(file, length=LENGTH):
    try:
        check_arrays(file, length, STARTS)
    except TableError:
        return False
    return True


def test_a_sound_table_passes():
    assert passes(file_of())


@pytest.mark.parametrize(
    ("name", "count", "sound"),
    [
        ("n_coarse", 0, False),
        ("n_coarse", 1, True),
        ("n_coarse", NO_RECIPE, True),
        ("n_coarse", NO_RECIPE + 1, False),
        ("n_fine", 0, False),
        ("n_fine", 1, True),
        ("recipes", 0, False),
        ("recipes", 2, True),
        ("recipes", 1, False),  # fewer than the costs that are kept
        ("costs", 0, False),
        ("costs", 1, True),
        ("costs", 5, True),
        ("costs", 6, False),
    ],
)
def test_numbers_of_medoids_recipes_and_costs_have_limits(name, count, sound):
    assert passes(file_of(**{name: count})) is sound


@pytest.mark.parametrize(("count", "sound"), [(NOWHERE - 1, True), (NOWHERE, False)])
def test_as_many_representatives_as_can_be_named(count, sound):
    file = file_of()
    file.arrays["fine_medoids"] = np.zeros(count, dtype="<u4")
    if sound:
        assert check_representatives(file, LENGTH, STARTS) == (3, count)
    else:
        with pytest.raises(TableError):
            check_representatives(file, LENGTH, STARTS)


@pytest.mark.parametrize(
    ("row", "sound"),
    [
        *((row, True) for row in (0, 30, 49, 50)),
        *((row, False) for row in (31, 40, 51, 59, 60, 2**32 - 1)),
    ],
)
def test_a_representative_is_the_first_row_of_a_window(row, sound):
    assert window_starts(np.array([row, 0]), LENGTH, STARTS) is sound
    for name in ("medoids", "fine_medoids"):
        file = file_of()
        file.arrays[name][-1] = row
        assert passes(file) is sound


def test_rows_before_the_first_are_none_and_no_rows_are_sound():
    assert not window_starts(np.array([-1]), LENGTH, STARTS)
    assert window_starts(np.zeros(0, dtype=np.int64), LENGTH, STARTS)


@pytest.mark.parametrize("name", ["coarse", "fine"])
def test_the_lookup_names_what_is_there_for_every_row_of_a_long_clip(name):
    count = {"coarse": 3, "fine": 4}[name]
    for row, value, sound in (
        (0, count - 1, True),
        (0, count, False),
        (59, count - 1, True),
        (59, NOWHERE, False),
        (40, 0, False),
        (48, NOWHERE - 1, False),
    ):
        file = file_of()
        file.arrays[f"lookup.{name}"][row] = value
        assert passes(file) is sound
    for value, sound in ((np.inf, True), (-0.0, True), (-1e-7, False), (np.nan, False)):
        file = file_of()
        file.arrays[f"lookup.{name}_distance"][7] = value
        assert passes(file) is sound


@pytest.mark.parametrize(
    ("recipe", "sound"),
    [
        ((2, 2), True),
        ((3, 0), False),
        ((0, 3), False),
        ((NO_WINDOW, NO_WINDOW), True),
        ((NO_RECIPE, NO_RECIPE), True),
        ((NO_RECIPE, 0), False),
        ((0, NO_RECIPE), False),
        ((1, NO_WINDOW), True),
        ((253, 253), False),
    ],
)
def test_a_recipe_names_clusters_or_states_that_there_is_none(recipe, sound):
    file = file_of()
    file.arrays["between"][3, 3, 4] = recipe
    assert passes(file) is sound


def test_every_recipe_of_a_large_table_is_looked_at(monkeypatch):
    from motionloom.tables import table_contents

    monkeypatch.setattr(table_contents, "BLOCK", 8)
    assert passes(file_of())
    for place in range(0, 4 * 4 * 5 * 2):
        file = file_of()
        file.arrays["between"].reshape(-1)[place] = 3
        assert not passes(file)


@pytest.mark.parametrize(
    ("cost", "sound"), [(65504.0, True), (-3.0, True), (np.inf, False), (np.nan, False)]
)
def test_a_cost_is_finite(cost, sound):
    file = file_of()
    file.arrays["costs"][2, 3, 1] = cost
    assert passes(file) is sound


def test_some_clip_has_a_window():
    file = file_of()
    check_length(file, 40, STARTS)
    with pytest.raises(TableError, match="41 frames, but the longest clip 40"):
        check_length(file, 41, STARTS)
    with pytest.raises(TableError, match="longest clip 0"):
        check_length(file, 1, np.array([0]))
