"""ROC curves, areas and their bounds."""

import numpy as np
import pytest

from motionloom.errors import ArrayError
from motionloom.tables.evaluation.roc import (
    measure_auc,
    measure_auc_difference,
    measure_within,
    roc_curve,
)

FLOAT64 = 1e-12


def scored(n=200, seed=0, shift=1.0):
    rng = np.random.Generator(np.random.PCG64(seed))
    good = rng.random(n) < 0.4
    return good, np.round(rng.normal(size=n) + shift * good, 1)  # rounded: with ties


def test_the_area_is_the_share_of_pairs_in_order_with_ties_half():
    good, scores = scored()
    up, down = scores[good], scores[~good]
    wins = (up[:, None] > down).mean() + 0.5 * (up[:, None] == down).mean()
    assert abs(roc_curve(good, scores).auc - wins) < FLOAT64


def test_the_area_is_the_area_under_the_drawn_curve():
    roc = roc_curve(*scored())
    steps = np.diff(roc.false_positive)
    under = np.sum(steps * 0.5 * (roc.true_positive[1:] + roc.true_positive[:-1]))
    assert abs(under - roc.auc) < FLOAT64
    assert (roc.false_positive[0], roc.true_positive[0]) == (0.0, 0.0)
    assert (roc.false_positive[-1], roc.true_positive[-1]) == (1.0, 1.0)


def test_sklearn_agrees():
    metrics = pytest.importorskip("sklearn.metrics")
    for seed in range(4):
        good, scores = scored(seed=seed)
        assert abs(metrics.roc_auc_score(good, scores) - roc_curve(good, scores).auc) < FLOAT64
        fp, tp, _ = metrics.roc_curve(good, scores, drop_intermediate=False)
        roc = roc_curve(good, scores)
        assert np.allclose(fp, roc.false_positive)
        assert np.allclose(tp, roc.true_positive)


def test_bounds_over_few_takes_are_wider_than_over_single_windows():
    rng = np.random.Generator(np.random.PCG64(5))
    take = np.repeat(np.arange(10), 30)
    offset = rng.normal(size=10)[take]  # windows of one take share their score
    good = rng.random(300) < 0.5
    scores = offset + 0.5 * good + 0.1 * rng.normal(size=300)
    by_take = measure_auc(good, scores, groups=take)
    by_item = measure_auc(good, scores)
    assert by_take.value == by_item.value
    assert by_take.low < by_take.value < by_take.high
    assert by_take.groups == 10
    assert by_take.high - by_take.low > 0.0
    assert str(by_take).startswith(f"{by_take.value:.3f} [")


def test_a_paired_difference_sees_what_two_bounds_hide():
    good, scores = scored(400, shift=1.0)
    better = scores + 0.2 * good
    difference = measure_auc_difference(good, better, scores)
    assert difference.low > 0.0
    assert measure_auc(good, better).low < measure_auc(good, scores).high
    same = measure_auc_difference(good, scores, scores)
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)


def test_the_same_seed_gives_the_same_bounds():
    good, scores = scored()
    assert measure_auc(good, scores, seed=4) == measure_auc(good, scores, seed=4)
    assert measure_auc(good, scores, seed=4) != measure_auc(good, scores, seed=5)


def test_within_a_query_only_the_order_of_its_candidates_counts():
    errors = [1.0, 2.0, 11.0, 12.0]
    queries = ["a", "a", "b", "b"]
    # Pooled, the hard query's scores look wrong; within each query they are right.
    scores = [1.0, 0.0, 9.0, 8.0]
    assert measure_within(errors, scores, queries).value == 1.0
    assert measure_within(errors, [0.0, 1.0, 8.0, 8.0], queries).value == 0.25
    with pytest.raises(ArrayError, match="differ"):
        measure_within([1.0, 1.0], [0.0, 1.0], ["a", "a"])


def test_wrong_lists_are_refused():
    with pytest.raises(ArrayError, match="good and bad items"):
        roc_curve([True, True], [1.0, 2.0])
    with pytest.raises(ArrayError, match="equally long"):
        roc_curve([True, False], [1.0])
    with pytest.raises(ArrayError, match="nan at 1"):
        roc_curve([True, False], [1.0, np.nan])
    with pytest.raises(ArrayError, match="groups"):
        measure_auc([True, False], [1.0, 2.0], groups=[1])
