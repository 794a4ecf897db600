"""Laws 7 to 12: paths through a grid keep the slope limit and are the cheapest that do."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motionloom.errors import RegistrationError
from motionloom.registration.timewarp import (
    find_corner_path,
    find_open_path,
    find_path_through,
    reachable,
)

grids = st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(0, 10_000)).map(
    lambda t: np.random.Generator(np.random.PCG64(t[2])).random((t[0], t[1]))
)
limits = st.integers(1, 3)


def longest_run(cells):
    longest, run, last = 0, 0, (1, 1)
    for step in map(tuple, np.diff(cells, axis=0)):
        run = run + 1 if step == last and step != (1, 1) else (0 if step == (1, 1) else 1)
        longest, last = max(longest, run), step
    return longest


def cheapest(cost, limit):
    """Every path with corners allowed too, by plain dynamic programming over (cell, run)."""
    n, m = cost.shape
    best = {(0, 0, (1, 1), 0): cost[0, 0]}
    for i in range(n):
        for j in range(m):
            if (i, j) == (0, 0):
                continue
            for step in ((1, 1), (1, 0), (0, 1)):
                p = (i - step[0], j - step[1])
                for (a, b, last, run), value in list(best.items()):
                    if (a, b) != p:
                        continue
                    longer = 0 if step == (1, 1) else (run + 1 if last == step else 1)
                    if longer <= limit:
                        key = (i, j, step, longer)
                        best[key] = min(best.get(key, np.inf), value + cost[i, j])
    return min((v for (i, j, _, _), v in best.items() if (i, j) == (n - 1, m - 1)), default=np.inf)


@given(grids, limits)
def test_the_corner_path_is_the_cheapest_there_is(cost, limit):
    n, m = cost.shape
    best = cheapest(cost, limit)
    if not reachable(n - 1, m - 1, limit):
        assert best == np.inf
        with pytest.raises(RegistrationError, match="end to end"):
            find_corner_path(cost, slope_limit=limit)
        return
    path = find_corner_path(cost, slope_limit=limit)
    assert path.cost == pytest.approx(best)
    assert path.cost == pytest.approx(cost[tuple(path.cells.T)].sum())


@given(grids, limits)
def test_paths_go_forward_step_by_step_and_never_linger(cost, limit):
    n, m = cost.shape
    i, j = n // 2, m // 2
    path = find_path_through(cost, i, j, slope_limit=limit)
    steps = np.diff(path.cells, axis=0)
    assert [i, j] in path.cells.tolist()
    if len(steps):
        assert set(map(tuple, steps)) <= {(1, 1), (1, 0), (0, 1)}
    assert longest_run(path.cells) <= limit
    first, last = path.cells[0], path.cells[-1]
    assert first.min() == 0
    assert last[0] == n - 1 or last[1] == m - 1


@given(st.integers(2, 12), st.integers(0, 10_000))
def test_a_clip_matches_itself_frame_by_frame(n, seed):
    points = np.random.Generator(np.random.PCG64(seed)).normal(size=(n, 3))
    cost = np.sum((points[:, None] - points[None]) ** 2, axis=-1)
    path = find_corner_path(cost)
    assert path.cells.tolist() == [[k, k] for k in range(n)]
    assert path.cost == 0.0


@given(grids, limits, st.floats(0.1, 10))
def test_transposing_and_scaling_the_costs_keeps_the_path(cost, limit, scale):
    if not reachable(cost.shape[0] - 1, cost.shape[1] - 1, limit):
        return
    path = find_corner_path(cost, slope_limit=limit)
    turned = find_corner_path(np.ascontiguousarray(cost.T), slope_limit=limit)
    assert turned.cells[:, ::-1].tolist() == path.cells.tolist()
    assert find_corner_path(scale * cost, slope_limit=limit).cells.tolist() == path.cells.tolist()
    back = find_corner_path(np.ascontiguousarray(cost[::-1, ::-1]), slope_limit=limit)
    assert back.cost == pytest.approx(path.cost)


@given(grids)
def test_a_wider_limit_never_costs_more(cost):
    n, m = cost.shape
    found = [
        find_corner_path(cost, slope_limit=limit).cost
        for limit in (1, 2, 3, 8)
        if reachable(n - 1, m - 1, limit)
    ]
    assert all(b <= a + 1e-12 for a, b in itertools.pairwise(found))


def test_an_open_path_finds_the_part_two_clips_share():
    points = np.cumsum(np.random.Generator(np.random.PCG64(4)).normal(size=(60, 3)), axis=0)
    a, b = points[:45], points[12:]
    path = find_open_path(np.sum((a[:, None] - b[None]) ** 2, axis=-1))
    assert path.cells[0].tolist() == [12, 0]
    assert path.cells[-1].tolist() == [44, 32]


def test_costs_that_are_not_finite_are_refused():
    with pytest.raises(RegistrationError, match="finite"):
        find_corner_path(np.full((3, 3), np.nan))
