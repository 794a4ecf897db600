"""How far blends are bent to begin and to end where they must."""

import numpy as np
import pytest

from motionloom.errors import ArrayError
from motionloom.tables.score.columns import COLUMNS, column, score_recipes
from motionloom.tables.score.natural import Reference, is_natural, naturalness
from motionloom.tables.score.terms import terms_of
from studies.measures.bends import bent_columns, measure_bends

LENGTH = 60
WALK = Reference(1.7, np.array([0.06]), np.array([1.3]), np.array([3.0]))
FLOAT32 = 1e-5
AGREES = 1e-4
"""Metres, and metres a second, between sums in single and in double precision."""


def blank(**columns):
    x = np.zeros((1, len(COLUMNS)), dtype=np.float32)
    for name, value in columns.items():
        x[0, column(name)] = value
    return x


def bends_of(frames, rows, start, end, **options):
    sides = np.array([start]), np.array([end])
    return measure_bends(frames, [rows], LENGTH, frames, *sides, **options)[0]


@pytest.mark.parametrize("family", ["bernstein", "eased"])
def test_a_transition_between_captured_seconds_is_not_bent_in_posture(kinds_frames, family):
    source, between, target = (
        kinds_frames.row_of(name, 10) for name in ("walk_0", "kick_0", "run_1")
    )
    last = target + LENGTH - 1
    bent = bends_of(kinds_frames, [source, between, target], source, last, family=family)
    assert bent[0] < FLOAT32


def test_a_captured_second_fills_its_own_gap_unbent(kinds_frames):
    row = kinds_frames.row_of("walk_0", 10)
    assert bends_of(kinds_frames, [row, row], row, row + LENGTH - 1).max() < FLOAT32


def test_a_blend_that_ends_elsewhere_is_bent(kinds_frames):
    walk, run = kinds_frames.row_of("walk_0", 10), kinds_frames.row_of("run_0", 10)
    bent = bends_of(kinds_frames, [walk, run], walk, walk + LENGTH - 1)
    assert (bent > 10 * FLOAT32).all()


def test_bends_and_spreads_are_of_one_measure(kinds_frames):
    walk = kinds_frames.row_of("walk_0", 10)
    run = kinds_frames.row_of("run_0", 10)
    terms = terms_of(kinds_frames, [walk, run], LENGTH)
    both = score_recipes(terms, [[0, 1, -1, -1]])
    weights = np.linspace(0.0, 1.0, LENGTH)
    posture = terms.arrays.posture[:, terms.pad : terms.pad + LENGTH].astype(np.float64)
    apart = np.square(posture[0] - posture[1]).sum(axis=1)
    spread = np.sqrt(np.mean(weights * (1.0 - weights) * apart))
    assert both[0, column("spread_m")] == pytest.approx(spread, abs=AGREES)
    # The same difference at one end, faded, is what the gap's other side asks for.
    bent = bends_of(kinds_frames, [walk, walk], walk, run + LENGTH - 1)
    left = 1.0 - weights
    fade = left * left * (3.0 - 2.0 * left)
    assert bent[0] == pytest.approx(np.sqrt(np.mean(fade**2) * apart[-1]), abs=AGREES)


def test_squares_add_up_and_other_columns_stay():
    columns = np.full((2, len(COLUMNS)), 3.0, dtype=np.float32)
    bent = bent_columns(columns, [[4.0, 0.0], [0.0, 4.0]])
    changed = np.argwhere(bent != columns).tolist()
    assert changed == [[0, column("spread_m")], [1, column("root_spread")]]
    assert bent[0, column("spread_m")] == bent[1, column("root_spread")] == 5.0
    assert (columns == 3.0).all()


def test_bends_of_another_number_of_blends_are_refused():
    with pytest.raises(ArrayError, match="one row of 2 for each of 2 blends"):
        bent_columns(np.zeros((2, len(COLUMNS))), [[0.0, 0.0]])


def test_what_is_bent_counts_as_what_differs():
    assert naturalness(bent_columns(blank(), [[0.0, 0.0]]), WALK) == naturalness(blank(), WALK)
    for bends, column_name in (([0.03, 0.0], "spread_m"), ([0.0, 0.4], "root_spread")):
        spread = blank(**{column_name: max(bends)})
        assert naturalness(bent_columns(blank(), [bends]), WALK) == pytest.approx(
            naturalness(spread, WALK)
        )
    assert (
        is_natural(blank(), WALK)[0]
        and not is_natural(bent_columns(blank(), [[0.3, 0.0]]), WALK)[0]
    )


@pytest.mark.parametrize("way", [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
def test_more_bent_is_never_more_natural(way):
    sizes = np.array([0.0, 0.01, 0.05, 0.3, 2.0])
    blends = np.repeat(blank(spread_m=0.02), len(sizes), axis=0)
    chance = naturalness(bent_columns(blends, np.outer(sizes, way)), WALK)
    assert (np.diff(chance) <= 0.0).all() and chance[-1] < chance[0]
