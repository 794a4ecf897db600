"""Shortest ways and parts of a graph against plain forms."""

import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.tables.graph.motion_graph import Steps
from tests.oracles import graph as plain


def random_steps(n, n_steps, seed):
    """Steps with some twice and some from a node to itself, and the shortest of each. (N, N)."""
    rng = np.random.Generator(np.random.PCG64(seed))
    start, to = np.sort(rng.integers(0, n, n_steps)), rng.integers(0, n, n_steps)
    lengths = rng.integers(0, 5, n_steps).astype(float)
    dense = np.full((n, n), np.inf)
    np.minimum.at(dense, (start, to), lengths)
    return Steps(np.searchsorted(start, np.arange(n + 1)), to, lengths), dense


SIZES = [(1, 0), (1, 2), (2, 1), (8, 6), (20, 30), (25, 60), (30, 300)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n", "n_steps"), SIZES)
def test_ways_are_as_short_as_they_can_be_and_lead_there(n, n_steps, seed):
    steps, dense = random_steps(n, n_steps, seed)
    for source in range(n):
        frames, before = steps.shortest(source)
        assert frames.tolist() == plain.shortest(dense, source).tolist()
        for node in range(n):
            if node == source or np.isinf(frames[node]):
                assert before[node] == -1
            else:
                assert frames[before[node]] + dense[before[node], node] == frames[node]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n", "n_steps"), SIZES)
def test_a_part_is_what_reaches_one_another(n, n_steps, seed):
    steps, dense = random_steps(n, n_steps, seed)
    parts = np.zeros(n, dtype=np.int64)
    work = np.zeros((4, n), dtype=np.int64)
    kernel("ml_graph_parts")(n, n_steps, steps.first, steps.to, work, parts)
    assert ((parts[:, None] == parts) == plain.same_part(dense)).all()


def test_a_long_way_round_is_one_part():
    n = 100_000  # deeper than any stack of calls
    first, to = np.arange(n + 1), np.roll(np.arange(n), -1)
    parts = np.ones(n, dtype=np.int64)
    kernel("ml_graph_parts")(n, n, first, to, np.zeros((4, n), dtype=np.int64), parts)
    assert not parts.any()
    frames, before = Steps(first, to, np.full(n, 2.0)).shortest(5)
    assert frames[4] == 2.0 * (n - 1)
    assert before[4] == 3


@pytest.mark.parametrize(
    ("first", "to", "lengths"),
    [
        ([0, 1, 3], [1, 0], [1.0, 1.0]),  # more steps than there are
        ([0, 3, 2], [1, 0], [1.0, 1.0]),  # less than none
        ([1, 1, 2], [1, 0], [1.0, 1.0]),  # a step of no node
        ([0, 1, 2], [1, 2], [1.0, 1.0]),  # no such node
        ([0, 1, 2], [1, -1], [1.0, 1.0]),
    ],
)
def test_steps_that_lead_nowhere_are_refused(first, to, lengths):
    first, to = np.array(first), np.array(to)
    with pytest.raises(ArrayError, match="ml_graph_shortest"):
        Steps(first, to, np.array(lengths)).shortest(0)
    with pytest.raises(ArrayError, match="ml_graph_parts"):
        work, parts = np.zeros((4, 2), dtype=np.int64), np.zeros(2, dtype=np.int64)
        kernel("ml_graph_parts")(2, 2, first, to, work, parts)


@pytest.mark.parametrize(("source", "length"), [(2, 1.0), (-1, 1.0), (0, -1.0), (0, np.nan)])
def test_no_such_source_and_no_such_length_are_refused(source, length):
    with pytest.raises(ArrayError, match="ml_graph_shortest"):
        Steps(np.array([0, 1, 1]), np.array([1]), np.array([length])).shortest(source)
