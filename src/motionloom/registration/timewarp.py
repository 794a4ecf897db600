"""The cheapest path through a distance grid that never lingers: slope-limited time warping.

A path steps by (1, 1), (1, 0) or (0, 1), and takes at most ``slope_limit`` steps in a row in one
of the last two directions. The dynamic programme over (cell, length of the current run) is exact.
A step of one kind directly after one of the other is left out: a diagonal does the same with one
cell less, so with costs that are not negative the optimum is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import RegistrationError

__all__ = ["TimePath", "find_corner_path", "find_open_path", "find_path_through", "reachable"]

_Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class TimePath:
    """Matched frames of two clips, in time order."""

    cells: IntArray
    """Frame of A and frame of B at every step of the path. (N, 2)"""
    cost: float
    """Sum of the cells' costs."""

    @property
    def mean_cost(self) -> float:
        """Cost per cell, square metres for a distance grid."""
        return self.cost / len(self.cells)


def reachable(steps_a: int, steps_b: int, slope_limit: int) -> bool:
    """Whether a path can go that many frames in A while going that many in B."""
    return abs(steps_a - steps_b) <= slope_limit * (min(steps_a, steps_b) + 1)


@njit(cache=True, error_model="numpy")
def _sweep(
    cost: FloatArray,
    limit: int,
    seed_state: int,
    free_start: bool,
    before: _Bytes,
    border: FloatArray,
    border_count: IntArray,
    border_state: _Bytes,
) -> None:
    """Fill ``before`` (state before each diagonal step) and the best totals on the far borders.

    State 0: came by a diagonal, or starts here; 1..L: so many steps along A; L+1..2L: along B.
    ``border`` holds the last row's m cells, then the last column's first n - 1.
    """
    n, m = cost.shape
    n_states = 2 * limit + 1
    inf = np.inf
    total, last = np.full((m, n_states), inf), np.full((m, n_states), inf)
    count, last_count = np.zeros((m, n_states), np.int64), np.zeros((m, n_states), np.int64)
    for i in range(n):
        for j in range(m):
            c = cost[i, j]
            # along a diagonal
            best, state, steps = inf, 0, 0
            if i > 0 and j > 0:
                for s in range(n_states):
                    if last[j - 1, s] < best:
                        best, state, steps = last[j - 1, s], s, last_count[j - 1, s]
            if free_start and (i == 0 or j == 0) and best > 0.0:
                best, state, steps = 0.0, 255, 0
            for s in range(n_states):
                total[j, s] = inf
            total[j, 0] = best + c
            count[j, 0] = steps + 1
            before[i, j] = state
            if i == 0 and j == 0:
                total[j, 0] = inf
                total[j, seed_state] = c
                count[j, seed_state] = 1
            # along A, then along B
            if i > 0:
                total[j, 1] = last[j, 0] + c
                count[j, 1] = last_count[j, 0] + 1
                for r in range(2, limit + 1):
                    total[j, r] = last[j, r - 1] + c
                    count[j, r] = last_count[j, r - 1] + 1
            if j > 0:
                total[j, limit + 1] = total[j - 1, 0] + c
                count[j, limit + 1] = count[j - 1, 0] + 1
                for r in range(limit + 2, n_states):
                    total[j, r] = total[j - 1, r - 1] + c
                    count[j, r] = count[j - 1, r - 1] + 1
            if i == n - 1 or j == m - 1:
                at = j if i == n - 1 else m + i
                border[at] = inf
                for s in range(n_states):
                    if total[j, s] < border[at]:
                        border[at] = total[j, s]
                        border_count[at] = count[j, s]
                        border_state[at] = s
        total, last = last, total
        count, last_count = last_count, count


@njit(cache=True, error_model="numpy")
def _trace(before: _Bytes, limit: int, i: int, j: int, state: int, n_cells: int) -> IntArray:
    """The path that ends in a cell and state, first cell first. (n_cells, 2)."""
    cells = np.zeros((n_cells, 2), np.int64)
    for k in range(n_cells - 1, -1, -1):
        cells[k, 0], cells[k, 1] = i, j
        if state == 0:
            state = before[i, j]
            i, j = i - 1, j - 1
        elif state <= limit:
            state = state - 1
            i -= 1
        else:
            state = 0 if state == limit + 1 else state - 1
            j -= 1
    return cells


class _Swept:
    """A grid after the sweep: totals on the far borders, paths on demand."""

    def __init__(
        self, cost: FloatArray, limit: int, *, seed_state: int = 0, free_start: bool = False
    ) -> None:
        if not np.isfinite(cost).all():
            raise RegistrationError("Distances between frames must be finite; check both clips.")
        n, m = cost.shape
        self.shape, self.limit = (n, m), limit
        self.before = np.zeros((n, m), np.uint8)
        self.total = np.full(n + m - 1, np.inf)
        self.count = np.ones(n + m - 1, np.int64)
        self.state = np.zeros(n + m - 1, np.uint8)
        _sweep(
            np.ascontiguousarray(cost), limit, seed_state, free_start,
            self.before, self.total, self.count, self.state,
        )  # fmt: skip

    def cell(self, at: int) -> tuple[int, int]:
        n, m = self.shape
        return (n - 1, at) if at < m else (at - m, m - 1)

    def path(self, at: int) -> TimePath:
        i, j = self.cell(at)
        cells = _trace(self.before, self.limit, i, j, int(self.state[at]), int(self.count[at]))
        return TimePath(cells, float(self.total[at]))


def find_corner_path(cost: FloatArray, *, slope_limit: int = 3) -> TimePath:
    """The cheapest path from the first cell to the last.

    Raises
    ------
    RegistrationError
        If one clip is more than ``slope_limit + 1`` times as long as the other.
    """
    n, m = cost.shape
    if not reachable(n - 1, m - 1, slope_limit):
        raise RegistrationError(
            f"Clips of {n} and {m} frames cannot be matched end to end with at most "
            f"{slope_limit} steps in a row in one clip: one may be at most {slope_limit + 1} times "
            "as long as the other. Cut the longer one, raise `slope_limit`, or use ends='open'."
        )
    return _Swept(cost, slope_limit).path(m - 1)


def find_end_path(
    cost: FloatArray, *, slope_limit: int = 3, at_least: int = 1, seed_state: int = 0
) -> TimePath:
    """The path from the first cell to a far border with the smallest mean cost.

    Parameters
    ----------
    cost : (n, m)
        Distances between frames.
    slope_limit
        Most steps in a row in one direction.
    at_least
        Frames that the path must cover in both clips, where they have that many: the smallest
        mean alone likes to stop at once where both clips stand still.
    seed_state
        Run in which the path arrives at the first cell, for a path continued through it.
    """
    swept = _Swept(cost, slope_limit, seed_state=seed_state)
    n, m = cost.shape
    covered = np.concatenate([np.arange(m), np.arange(n - 1)]) + 1
    wanted = min(at_least, n, m)
    mean = np.where(covered >= wanted, swept.total / swept.count, np.inf)
    if not np.isfinite(mean).any():  # the slope limit may forbid covering that much
        mean = swept.total / swept.count
    # Ties go to the longer path: it says more.
    best = np.lexsort((-swept.count, mean))[0]
    return swept.path(int(best))


def find_path_through(
    cost: FloatArray, i: int, j: int, *, slope_limit: int = 3, at_least: int = 1
) -> TimePath:
    """The path through cell (i, j), grown from it backwards and forwards to the borders.

    The run limit holds across the cell: the forward half starts in the run in which the backward
    half leaves it.
    """
    back = find_end_path(
        cost[: i + 1, : j + 1][::-1, ::-1], slope_limit=slope_limit, at_least=at_least
    )
    backward = np.array([i, j]) - back.cells[::-1]
    on = find_end_path(
        cost[i:, j:],
        slope_limit=slope_limit,
        at_least=at_least,
        seed_state=_run_state(back.cells, slope_limit),
    )
    cells = np.concatenate([backward, on.cells[1:] + np.array([i, j])])
    return TimePath(cells, back.cost + on.cost - float(cost[i, j]))


def _run_state(cells: IntArray, limit: int) -> int:
    """State in which a path (reversed in time) leaves its first cell."""
    steps = np.diff(cells[: limit + 1], axis=0)
    for direction, base in (((1, 0), 0), ((0, 1), limit)):
        run = 0
        for step in steps:
            if tuple(step) != direction:
                break
            run += 1
        if run:
            return base + run
    return 0


def find_open_path(
    cost: FloatArray,
    *,
    slope_limit: int = 3,
    cover: float = 0.6,
    reach: float = 2.0,
    rounds: int = 4,
) -> TimePath:
    """The part that two clips share: from a near border to a far one, cheap all along.

    First the path of the smallest mean cost among those that cover enough: minimising
    ``sum(c - level)`` and raising ``level`` to the mean found (Dinkelbach) ends there. The smallest
    mean likes to be short, so the path is then grown: taken is the one that gains most where every
    cell below ``reach`` times that mean is a gain.

    Parameters
    ----------
    cost : (n, m)
        Distances between frames.
    slope_limit
        Most steps in a row in one direction.
    cover
        Least part of the shorter clip that the path must cover, in both clips.
    reach
        How much worse than the mean a stretch may be and still be taken along.
    rounds
        Most steps of the search for the smallest mean.
    """
    n, m = cost.shape
    wanted = int(np.ceil(cover * min(n, m)))
    level, best = 0.0, None
    for _ in range(rounds):
        found = _best_covering(cost, level, slope_limit, wanted, by_mean=True)
        if found is None or (best is not None and found.mean_cost >= best.mean_cost - 1e-12):
            break
        best, level = found, found.mean_cost
    if best is None:
        raise RegistrationError(
            f"No common part of at least {wanted} frames was found in clips of {n} and {m} frames "
            f"at a slope limit of {slope_limit}. Lower `cover`, raise `slope_limit`, or pin frames."
        )
    grown = _best_covering(cost, reach * level, slope_limit, wanted, by_mean=False)
    return best if grown is None else grown


def _best_covering(
    cost: FloatArray, level: float, slope_limit: int, wanted: int, *, by_mean: bool
) -> TimePath | None:
    """The path with free ends that is best above ``level`` and covers enough, if there is one."""
    swept = _Swept(cost - level, slope_limit, free_start=True)
    value = swept.total / swept.count if by_mean else swept.total
    for at in np.argsort(value, kind="stable"):
        if not np.isfinite(value[at]) or not _may_cover(swept, int(at), wanted):
            continue
        cells = swept.path(int(at)).cells
        if np.min(cells[-1] - cells[0]) + 1 >= wanted:
            return TimePath(cells, float(cost[tuple(cells.T)].sum()))
    return None


def _may_cover(swept: _Swept, at: int, wanted: int) -> bool:
    i, j = swept.cell(at)
    return min(i, j) + 1 >= wanted and int(swept.count[at]) >= wanted
