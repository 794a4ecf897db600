"""Paths to a border against every path that there is."""

import numpy as np
import pytest

from motionloom.registration.timewarp import find_end_path, find_path_through, run_state


def all_paths(n, m, limit, run):
    """Every path from (0, 0): runs of one direction start and end with a diagonal step."""
    waiting = [([(0, 0)], run)]
    while waiting:
        cells, (direction, count) = waiting.pop()
        yield cells
        i, j = cells[-1]
        for step in ((1, 1), (1, 0), (0, 1)):
            if step == (1, 1):
                state = (None, 0)
            elif direction is None:
                state = (step, 1)
            elif direction == step and count < limit:
                state = (step, count + 1)
            else:
                continue
            if i + step[0] < n and j + step[1] < m:
                waiting.append(([*cells, (i + step[0], j + step[1])], state))


def smallest_mean(cost, limit, at_least, per_frame, run):
    """Of the cheapest paths to every border cell, the one of the smallest mean."""
    n, m = cost.shape
    cheapest = {}
    for cells in all_paths(n, m, limit, run):
        i, j = cells[-1]
        if i == n - 1 or j == m - 1:
            total = sum(cost[cell] for cell in cells)
            if total < cheapest.get((i, j), (np.inf,))[0]:
                cheapest[i, j] = total, cells

    def mean(end):
        total, cells = cheapest[end]
        return total / (end[0] + end[1] + 2 if per_frame else len(cells))

    enough = [end for end in cheapest if min(end) + 1 >= min(at_least, n, m)]
    return cheapest[min(enough, key=mean)]


@pytest.mark.parametrize("shape", [(4, 5), (5, 4), (6, 3), (2, 6), (1, 4), (4, 1), (1, 1)])
@pytest.mark.parametrize("per_frame", [False, True])
def test_a_path_to_the_border_has_the_smallest_mean(shape, per_frame):
    for seed in range(6):
        cost = np.random.default_rng(seed).uniform(0.2, 1.0, size=shape)
        for limit in (1, 2):
            for at_least in (1, 3, 9):
                found = find_end_path(
                    cost, slope_limit=limit, at_least=at_least, per_frame=per_frame
                )
                total, cells = smallest_mean(cost, limit, at_least, per_frame, (None, 0))
                assert found.cells.tolist() == [list(cell) for cell in cells]
                assert found.cost == pytest.approx(total)


@pytest.mark.parametrize("seed_state", [1, 2, 3, 4])
def test_a_run_goes_on_from_the_path_before(seed_state):
    limit = 2
    run = ((1, 0), seed_state) if seed_state <= limit else ((0, 1), seed_state - limit)
    for seed in range(6):
        cost = np.random.default_rng(seed).uniform(0.2, 1.0, size=(4, 5))
        found = find_end_path(cost, slope_limit=limit, seed_state=seed_state)
        total, cells = smallest_mean(cost, limit, 1, False, run)
        assert found.cells.tolist() == [list(cell) for cell in cells]
        assert found.cost == pytest.approx(total)


def test_of_equal_means_the_longer_path_is_taken():
    assert len(find_end_path(np.ones((3, 5))).cells) == 5  # the shortest has three cells


@pytest.mark.parametrize(
    ("steps", "state"),
    [
        ([], 0),
        ([(1, 1), (1, 0)], 0),
        ([(1, 0), (1, 1), (1, 0)], 1),
        ([(1, 0), (1, 0), (1, 1)], 2),
        ([(1, 0)] * 3, 3),
        ([(0, 1), (1, 1)], 4),
        ([(0, 1)] * 3, 6),
        ([(1, 0), (0, 1)], 1),
    ],
)
def test_the_state_of_a_run_counts_its_steps_and_names_its_direction(steps, state):
    cells = np.concatenate([[(0, 0)], np.cumsum(np.reshape(steps, (-1, 2)), axis=0)]).astype(int)
    assert run_state(cells, 3) == state


def test_a_path_through_a_cell_counts_it_once_and_goes_to_both_borders():
    cost = np.full((7, 9), 4.0)
    on_path = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]
    for k, cell in enumerate(on_path):
        cost[cell] = 1.0 + 0.1 * k
    found = find_path_through(cost, 3, 4, slope_limit=2)
    assert found.cells.tolist() == [list(cell) for cell in on_path]
    assert found.cost == pytest.approx(7.0 + 2.1)
