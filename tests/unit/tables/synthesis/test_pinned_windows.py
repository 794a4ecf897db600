"""Captured windows pinned between two frames: frames, terms, naturalness."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.rotation import quat
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.columns import (
    COLUMNS,
    column,
    score_recipes,
    scratch_of,
    terms_record,
)
from motionloom.tables.score.natural import naturalness, reference_of
from motionloom.tables.score.recipe import Recipe
from motionloom.tables.score.terms import term_source, terms_of
from motionloom.tables.synthesis.synthesis import rig_of, rows_of, synthesize
from tests.oracles import pinned as plain
from tests.oracles.passage import bent_windows

LENGTH = 40
NAMES = ("walk", "run", "sneak", "kick")
TIGHT, SINGLE = 1e-9, 2e-5


@pytest.fixture(scope="module")
def frames():
    return frames_of([ml.synthetic.clip(name).motion.replace(name=name) for name in NAMES])


@pytest.fixture(scope="module")
def rows(frames):
    at = (("walk", 10), ("run", 40), ("sneak", 35), ("kick", 20), ("walk", 0), ("run", 15))
    return [frames.row_of(*place) for place in at]


@pytest.mark.parametrize("between", [1, 2])
def test_frames_are_those_of_the_plain_form(frames, rows, between):
    for source, target, *others in (
        [rows[k] for k in order] for order in ((0, 1, 2, 3), (3, 4, 5, 1))
    ):
        recipe = Recipe((source, *others[:between], target), LENGTH, "eased", pinned=True)
        made = synthesize(frames, recipe, feet=False)
        at = np.array(others[:between]) + np.arange(LENGTH)[:, None]
        weights = np.full((between, LENGTH), 1.0 / between)
        ends = source, target + LENGTH - 1
        psi, root, quats = bent_windows(frames, rows_of(frames), at, weights, ends)
        assert np.abs(made.heading - psi).max() < TIGHT
        assert np.abs(made.root_positions - root).max() < TIGHT
        assert np.abs(made.local_quats - quats).max() < 1e-6  # windows are blended in single


def test_a_joint_half_a_turn_off_stays_a_rotation_and_swings_little():
    walk = ml.synthetic.clip("walk").motion
    head = walk.skeleton.names.index("Head")
    nods = 0.05 * np.sin(0.9 * np.arange(walk.n_frames))
    quats = np.array(walk.local_quats)
    turn = quat.exp(np.outer(np.pi + nods, [0.0, 0.0, 1.0]))
    quats[:, head] = quat.multiply(quats[:, head], turn)
    frames = frames_of([walk.replace(name="walk"), walk.replace(local_quats=quats, name="turned")])
    source, target = frames.row_of("walk", 10), frames.row_of("walk", 12)
    for frame in range(8, 16):
        recipe = Recipe((source, frames.row_of("turned", frame), target), LENGTH, pinned=True)
        made = synthesize(frames, recipe, feet=False)
        assert np.linalg.norm(made.local_quats, axis=-1) == pytest.approx(1.0)
        like = np.abs(np.sum(made.local_quats[1:, head] * made.local_quats[:-1, head], axis=-1))
        assert 2.0 * np.arccos(like.min()) < 0.2
        at = recipe.rows[1] + np.arange(LENGTH)[:, None]
        plain = bent_windows(
            frames, rows_of(frames), at, np.ones((1, LENGTH)), (source, target + LENGTH - 1)
        )
        like = np.abs(np.sum(made.local_quats * plain[2], axis=-1))
        assert like.min() > 1.0 - 1e-9


@pytest.mark.parametrize("feet", [False, True])
def test_they_leave_and_arrive_in_the_poses_asked_for(frames, rows, feet):
    recipe = Recipe((rows[0], rows[2], rows[3], rows[1]), LENGTH, pinned=True)
    made = synthesize(frames, recipe, feet=feet, rig=rig_of(frames))
    for t, row in ((0, rows[0]), (-1, rows[1] + LENGTH - 1)):
        asked = frames.quats[row].astype(np.float64)
        like = np.abs(np.sum(asked[1:] * made.local_quats[t, 1:], axis=-1))
        assert like.min() > 1.0 - 1e-6
    first = rows[0]
    assert made.root_positions[0, [0, 2]] == pytest.approx(frames.ground[first])
    assert made.heading[0] == frames.heading[first]


def test_a_window_between_its_own_ends_comes_out_as_captured(frames, rows):
    recipe = Recipe((rows[0], rows[0], rows[0]), LENGTH, pinned=True)
    made = synthesize(frames, recipe, feet=False)
    captured = frames.motion(rows[0], rows[0] + LENGTH - 1).world_positions()
    assert np.abs(made.motion(frames).world_positions() - captured).max() < 1e-5
    terms = terms_of(frames, [rows[0], rows[0], rows[0]], LENGTH)
    _pinned_into(terms, frames, 0, 0, [1], 2)
    (bent, own) = score_recipes(terms, [[2], [0]])
    assert bent == pytest.approx(own, abs=1e-4)
    assert bent[column("spread_m")] < 1e-4


def _pinned_into(terms, frames, source, target, windows, slot):
    slots = term_source(frames).slots(terms.length, terms.pad, terms.fps, terms.arrays)
    given = np.array(windows, dtype=np.int64)
    kernel("ml_pinned_terms")(slots, source, target, len(given), given, slot)


@pytest.mark.parametrize("windows", [[2], [2, 3]])
def test_terms_are_those_of_the_plain_form(frames, rows, windows):
    for places in (rows[:4], [rows[4], rows[3], rows[5], rows[1]]):
        terms = terms_of(frames, [*places, places[0]], LENGTH)
        expected = plain.pinned_terms(terms.arrays, terms.fps, terms.pad, (0, 1), windows)
        _pinned_into(terms, frames, 0, 1, windows, 4)
        for name, part in expected._asdict().items():
            own = getattr(terms.arrays, name)[4]
            assert own == pytest.approx(part, abs=SINGLE, rel=SINGLE), name


def test_what_is_bent_farther_is_called_less_natural(frames, rows):
    terms = terms_of(frames, [rows[0], rows[0], rows[4], rows[1], rows[0]], LENGTH)
    spreads, logits = [], []
    for window in (1, 2, 3):  # itself, another step, a run
        _pinned_into(terms, frames, 0, 0, [window], 4)
        columns = score_recipes(terms, [[4]])
        spreads.append(columns[0, column("spread_m")])
        logits.append(naturalness(columns, reference_of(terms, [[0, 0]]))[0])
    assert spreads[0] < spreads[1] < spreads[2]
    assert logits[0] > logits[1] > logits[2]


def test_naturalness_of_the_core_is_that_of_python(frames, rows):
    terms = terms_of(frames, rows[:4], LENGTH)
    columns = score_recipes(terms, [[0, 1], [2, 3]])
    for (source, target), own in zip(((0, 1), (2, 3)), columns, strict=True):
        reference = np.zeros(4)
        kernel("ml_natural_reference")(
            terms_record(terms), scratch_of(terms), source, target, reference
        )
        expected = reference_of(terms, [[source, target]])
        assert reference == pytest.approx([expected.stature, *(x[0] for x in expected[1:])])
        logit = kernel("ml_natural_logit")(reference, np.ascontiguousarray(own))
        chance = 0.5 * (1.0 + np.tanh(0.5 * logit))
        assert chance == pytest.approx(naturalness(own, expected)[0], rel=1e-6)
    assert len(columns[0]) == len(COLUMNS)


def test_a_pinned_recipe_has_a_window_between():
    with pytest.raises(ArrayError, match="3 or 4 windows"):
        Recipe((0, 40), LENGTH, pinned=True)
    weights = Recipe((0, 10, 20, 40), LENGTH, pinned=True).weights()
    assert weights[:, 5].tolist() == [0.0, 0.5, 0.5, 0.0]
