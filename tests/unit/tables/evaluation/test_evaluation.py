"""Scores against labels, and quadrants."""

import numpy as np
import pytest

from motionloom.errors import ArrayError
from motionloom.tables.evaluation.evaluation import Protocol, evaluate, quadrants_of


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.Generator(np.random.PCG64(2))
    take = np.repeat(np.arange(20), 10)
    good = rng.random(200) < 0.5
    scores = {
        "blind": rng.normal(size=200),
        "sharp": good + 0.3 * rng.normal(size=200),
        "dull": good + 1.5 * rng.normal(size=200),
    }
    plan = Protocol("toy", "drawn at random", circular="sharp sees the label", groups="takes")
    return evaluate(plan, good, scores, groups=take)


def test_scores_come_out_best_first_and_the_best_is_ahead_of_the_others(evaluation):
    assert list(evaluation.areas) == ["sharp", "dull", "blind"]
    assert evaluation.best == "sharp"
    assert set(evaluation.ahead) == {"dull", "blind"}
    assert evaluation.ahead["blind"].low > 0.2
    assert evaluation.areas["sharp"].groups == 20


def test_the_text_states_what_the_labels_are_and_that_they_are_circular(evaluation):
    text = evaluation.text()
    assert "drawn at random" in text
    assert "bounds over takes" in text
    assert "CIRCULAR: sharp sees the label" in text
    assert "CIRCULAR" not in Protocol("a", "b").caption


def test_quadrants_count_every_pair_once():
    rng = np.random.Generator(np.random.PCG64(3))
    way, cost = rng.exponential(2.0, 500), rng.exponential(5.0, 500)
    way[::7] = np.inf
    made = quadrants_of(way, cost)
    assert sum(made.counts) == 500
    assert made.neither == np.sum((way > 1.0) & (cost >= 6.0))
    assert quadrants_of([1.0], [5.9]).counts == (1, 0, 0, 0)


def test_wrong_lists_are_refused():
    with pytest.raises(ArrayError, match="equally long"):
        quadrants_of([1.0], [1.0, 2.0])
    with pytest.raises(ArrayError, match="at least one"):
        evaluate(Protocol("a", "b"), [1, 0], {})
