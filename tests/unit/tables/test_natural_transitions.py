"""Naturalness of a table's transitions, of its best recipes, and after a failed quality check."""

from copy import copy
from dataclasses import replace

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.checks.verification import CHECKS
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.evaluation.replay import naturalness_map
from motionloom.tables.score.columns import score_recipes
from motionloom.tables.score.natural import NATURAL, naturalness, reference_of
from motionloom.tables.score.terms import terms_of
from motionloom.tables.table_contents import NO_RECIPE
from tests.support.tables import table_in_memory

LENGTH = 30
NAMES = ("walk", "run", "stand", "sneak", "kick")
FLOAT32 = 1e-4


@pytest.fixture(scope="module")
def table():
    clips = [ml.synthetic.clip(name) for name in NAMES]
    motions = [clip.motion.replace(name=name) for clip, name in zip(clips, NAMES, strict=True)]
    frames = frames_of(motions, footplants=[clip.footplants for clip in clips])
    return table_in_memory(frames, length=LENGTH, clusters=5, keep=12, ranking=NATURAL)


def plain_naturalness(table, rows):
    """Of a recipe by the first rows of its windows, from new terms."""
    terms = terms_of(table.frames, list(rows), LENGTH, family=table.family)
    ids = np.full((1, 4), -1, dtype=np.int32)
    ids[0, : len(rows)] = np.arange(len(rows))
    return naturalness(score_recipes(terms, ids), reference_of(terms, [[0, len(rows) - 1]]))[0]


def test_a_transition_is_scored_relative_to_its_own_source_and_target(table):
    for src, dst in ((("walk", 20), ("run", 60)), (("stand", 5), ("sneak", 60))):
        made = table.transition(src, dst)
        assert not made.recipe.pinned
        assert made.score.naturalness == pytest.approx(
            plain_naturalness(table, made.recipe.rows), abs=FLOAT32
        )


def test_a_captured_second_used_as_a_transition_is_natural(table):
    for name in NAMES:
        made = table.transition((name, 20), (name, 20 + LENGTH - 1))
        assert made.score.natural, name
        assert not any("natural" in note for note in made.notes)


def test_a_failed_quality_check_makes_it_unnatural(table):
    made = table.transition(("walk", 20), ("walk", 20 + LENGTH - 1))
    backwards = np.array([[CHECKS.index("knee bent backwards"), 0, 12, -0.3, -0.1]])
    failed = replace(made, checked=made.checked._replace(failures=backwards))
    assert made.score.natural
    assert not failed.score.natural
    assert failed.score.naturalness == 0.25
    assert any("a naturalness of 0.25" in note for note in failed.notes)


def test_the_map_has_the_naturalness_of_every_best_recipe(table):
    found = naturalness_map(table)
    n = len(table.ends)
    assert found.shape == (n, n)
    for i, j in np.ndindex(n, n):
        between = table.between[i, j, 0]
        windows = [table.medoids[k] for k in between if k < NO_RECIPE]
        rows = [table.ends[i], *windows, table.ends[j]]
        assert found[i, j] == pytest.approx(plain_naturalness(table, rows), abs=FLOAT32)


def test_the_map_has_no_number_where_there_is_no_recipe(table):
    between = table.between.copy()
    between[0, 1] = NO_RECIPE
    other = copy(table)
    other.between = between
    found = naturalness_map(other)
    assert np.isnan(found[0, 1])
    assert np.isfinite(found).sum() == found.size - 1
