"""Laws 42 and 43: areas under curves, and ways through a motion graph."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.evaluation.roc import measure_auc, roc_curve
from motionloom.tables.graph.motion_graph import MotionGraph

FLOAT64 = 1e-12


@st.composite
def labelled(draw):
    n = draw(st.integers(2, 40))
    scores = draw(st.lists(st.integers(-5, 5).map(float), min_size=n, max_size=n))
    good = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    good[0], good[1] = True, False
    return np.array(good), np.array(scores)


@given(labelled())
def test_a_negated_score_has_the_rest_of_the_area(both):
    good, scores = both
    assert abs(roc_curve(good, scores).auc + roc_curve(good, -scores).auc - 1.0) < FLOAT64


@given(labelled(), st.floats(-3, 3))
def test_a_constant_predicts_nothing_and_the_label_itself_everything(both, value):
    good, scores = both
    assert roc_curve(good, np.full(len(scores), value)).auc == 0.5
    assert roc_curve(good, good.astype(float)).auc == 1.0


@given(labelled())
def test_only_the_order_of_scores_counts(both):
    good, scores = both
    assert roc_curve(good, np.exp(scores)).auc == roc_curve(good, scores).auc


@given(labelled())
def test_a_curve_never_falls_and_ends_in_its_corners(both):
    roc = roc_curve(*both)
    for rates in (roc.false_positive, roc.true_positive):
        assert (np.diff(rates) >= 0.0).all()
        assert (rates[0], rates[-1]) == (0.0, 1.0)
    assert 0.0 <= roc.auc <= 1.0


@given(labelled(), st.integers(0, 5))
@settings(max_examples=20)
def test_bounds_hold_between_nothing_and_all(both, seed):
    bounds = measure_auc(*both, rounds=50, seed=seed)
    assert 0.0 <= bounds.low <= bounds.high <= 1.0


@pytest.fixture(scope="module")
def frames():
    names = ("walk", "jog", "stand")
    return frames_of([ml.synthetic.clip(n).motion.replace(name=n) for n in names])


@pytest.fixture(scope="module")
def graphs(frames):
    return [MotionGraph.build(frames, threshold_cm=cm) for cm in (6.0, 10.0, 16.0, 30.0)]


def length(path):
    return np.inf if path is None else path.n_frames


@given(st.data())
@settings(max_examples=60)
def test_ways_never_grow_with_the_threshold_and_never_beat_the_triangle(frames, graphs, data):
    a, b, c = (data.draw(st.integers(0, frames.n_rows - 1)) for _ in range(3))
    lengths = [length(graph.paths([a], [b])[0]) for graph in graphs]
    assert lengths == sorted(lengths, reverse=True)
    graph = graphs[-1]
    direct, first, second = (length(graph.paths([p], [q])[0]) for p, q in ((a, c), (a, b), (b, c)))
    assert direct <= first + second


@given(st.data())
@settings(max_examples=30)
def test_kept_nodes_reach_each_other_and_a_way_is_never_longer_than_playing_on(
    frames, graphs, data
):
    graph = graphs[data.draw(st.integers(0, len(graphs) - 1))]
    kept = np.flatnonzero(graph.connected)
    start = int(graph.nodes.rows[data.draw(st.sampled_from(list(kept)))])
    assert np.isfinite(graph.reach(start)[kept]).all()
    row = data.draw(st.integers(0, frames.n_rows - 1))
    end = int(frames.starts[frames.clip_at(row) + 1]) - 1
    later = data.draw(st.integers(row, end))
    assert length(graph.paths([row], [later])[0]) <= later - row
