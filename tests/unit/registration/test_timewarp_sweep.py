"""The sweep of a grid against its plain form, and what its kernels refuse."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom._core import kernel
from motionloom.errors import ArrayError
from motionloom.registration.timewarp import Swept
from tests.oracles import sweep as plain

SHAPES = [(1, 1), (1, 7), (7, 1), (2, 2), (9, 12), (20, 5), (5, 20), (16, 16)]


def border(totals: np.ndarray) -> np.ndarray:
    return np.concatenate([totals[-1], totals[:-1, -1]])


def costs(shape: tuple[int, int], seed: int) -> np.ndarray:
    rng = np.random.Generator(np.random.PCG64(seed))
    if seed % 2:
        return rng.integers(0, 3, shape).astype(float)  # with many ties
    return rng.random(shape)


def check_path(swept: Swept, at: int, cost: np.ndarray, level: float) -> np.ndarray:
    path = swept.path(at)
    assert path.cells[-1].tolist() == list(swept.cell(at))
    assert np.sum(cost[tuple(path.cells.T)] - level) == pytest.approx(path.cost)
    assert set(map(tuple, np.diff(path.cells, axis=0))) <= {(1, 1), (1, 0), (0, 1)}
    return path.cells


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("limit", [0, 1, 3, 6])
@pytest.mark.parametrize("free_start", [False, True])
def test_totals_on_the_border_are_those_of_all_states(
    shape: tuple[int, int], limit: int, free_start: bool
) -> None:
    for seed in range(4):
        cost, level = costs(shape, seed), 0.3 * free_start
        expected = border(plain.totals(cost, limit, level=level, free_start=free_start))
        swept = Swept(cost, limit, level=level, free_start=free_start)
        np.testing.assert_allclose(swept.total, expected, atol=1e-12)
        for at in np.flatnonzero(np.isfinite(expected)):
            first = check_path(swept, int(at), cost, level)[0]
            assert first.tolist() == [0, 0] or (free_start and 0 in first)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("limit", [1, 3])
def test_a_path_may_begin_in_any_run(shape: tuple[int, int], limit: int) -> None:
    for seed_state in range(1, 2 * limit + 1):
        cost = costs(shape, seed_state)
        expected = border(plain.totals(cost, limit, seed_state=seed_state))
        swept = Swept(cost, limit, seed_state=seed_state)
        np.testing.assert_allclose(swept.total, expected, atol=1e-12)
        for at in np.flatnonzero(np.isfinite(expected)):
            assert check_path(swept, int(at), cost, 0.0)[0].tolist() == [0, 0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("limit", [1, 3])
def test_what_cannot_reach_the_last_cell_is_left_out(shape: tuple[int, int], limit: int) -> None:
    for seed in range(4):
        cost = costs(shape, seed)
        expected = plain.totals(cost, limit)[-1, -1]
        swept = Swept(cost, limit, to_corner=True)
        assert swept.total[shape[1] - 1] == pytest.approx(expected)
        if np.isfinite(expected):
            check_path(swept, shape[1] - 1, cost, 0.0)


def test_the_longest_runs_have_states_of_their_own() -> None:
    cost = np.ones((128, 1))
    assert len(Swept(cost, 127).path(0).cells) == 128
    with pytest.raises(ArrayError, match="sizes do not fit"):
        Swept(cost, 128)


@pytest.mark.parametrize("seed_state", [-1, 7])
def test_a_run_longer_than_the_limit_is_refused(seed_state: int) -> None:
    with pytest.raises(ArrayError, match="sizes do not fit"):
        Swept(np.ones((4, 4)), 3, seed_state=seed_state)


@pytest.mark.parametrize(
    ("i", "j", "n_cells"), [(3, 0, 1), (0, 4, 1), (-1, 0, 1), (0, -1, 1), (2, 3, 4), (2, 3, 0)]
)
def test_a_path_that_leaves_the_grid_is_refused(i: int, j: int, n_cells: int) -> None:
    with pytest.raises(ArrayError, match="sizes do not fit"):
        kernel("ml_sweep_trace")(
            3, 4, np.zeros((3, 4), np.uint8), 3, i, j, n_cells, np.zeros((n_cells, 2), np.int64)
        )
