"""The dynamic programme behind every path: a grid swept once, paths traced back on demand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom._records import record
from motionloom.errors import RegistrationError

__all__ = ["Swept", "TimePath"]

_Bytes = npt.NDArray[np.uint8]

MARK = 256
"""Where the state ends and the count of cells begins in the number that a path carries."""


@dataclass(frozen=True, slots=True, eq=False)
@record
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


@njit(cache=True, error_model="numpy")
def _extend(
    total: FloatArray,
    cost: FloatArray,
    extended: FloatArray,
    begun: IntArray,
    more: int,
    best: FloatArray,
    mark: IntArray,
) -> None:
    """Paths one step longer, taken where they are the best yet.

    Written so that the compiler makes vector instructions of it: one loop, no branch.
    """
    for k in range(len(cost)):
        t, b = total[k] + cost[k], best[k]
        new, old = begun[k] + more, mark[k]
        extended[k] = t
        best[k] = t if t < b else b
        mark[k] = new if t < b else old


@njit(cache=True, error_model="numpy")
def _step(
    last: FloatArray,
    last_mark: IntArray,
    cost: FloatArray,
    level: float,
    c: FloatArray,
    diagonal: FloatArray,
    own: IntArray,
    best: FloatArray,
    mark: IntArray,
) -> None:
    """Costs of a row above the level, and the paths that come into it along diagonals."""
    for k in range(len(c)):
        above = cost[k] - level
        total, new = last[k] + above, (last_mark[k] & -MARK) + MARK
        c[k] = above
        diagonal[k] = total
        best[k] = total
        own[k] = new
        mark[k] = new


@njit(cache=True, error_model="numpy")
def _reached(i: int, m: int, limit: int) -> tuple[int, int]:
    """First column that a path from the first cell can be at in row ``i``, and one past the last.

    :func:`reachable`, solved for the column.
    """
    return min(max(0, -((limit - i) // (limit + 1))), m), min(i + limit * (i + 1) + 1, m)


@njit(cache=True, error_model="numpy")
def _sweep(
    cost: FloatArray,
    level: float,
    limit: int,
    seed_state: int,
    free_start: bool,
    to_corner: bool,
    states: _Bytes,
    border: FloatArray,
    border_count: IntArray,
) -> None:
    """Fill ``states`` (how the best path arrives at each cell) and the totals on the far borders.

    State 0: came by a diagonal, or starts here; 1..L: so many steps along A; L+1..2L: along B.
    ``border`` holds the last row's m cells, then the last column's first n - 1. ``level`` is taken
    off every cost.

    Every run starts at a cell in state 0, and that state only needs the row before. So no cell
    waits for its left neighbour, and a row is done state by state. Cells of a path and its last
    state share one number, ``cells * MARK + state``. Cells that the slope limit puts out of reach
    of the start, or with ``to_corner`` of the last cell, are left out.
    """
    n, m = cost.shape
    c, diagonal = np.zeros(m), np.full(m, np.inf)
    along_a = np.full((limit + 1, m), np.inf)  # totals in states 0, 1..L
    along_b = np.full((limit + 1, m), np.inf)  # totals in states L+1..2L
    begun = np.full((limit + 1, m), MARK)  # marks of state 0 in the last rows
    best, last = np.full(m, np.inf), np.full(m, np.inf)
    mark, last_mark = np.zeros(m, np.int64), np.zeros(m, np.int64)
    for i in range(n):
        own = begun[i % (limit + 1)]
        first, stop = (0, m) if free_start else _reached(i, m, limit)
        if to_corner:
            back_first, back_stop = _reached(n - 1 - i, m, limit)
            first, stop = max(first, m - back_stop), min(stop, m - back_first)
        best, last, mark, last_mark = last, best, last_mark, mark
        after = slice(max(first, 1), stop)
        before = slice(after.start - 1, stop - 1)
        _step(
            last[before], last_mark[before], cost[i, after], level,
            c[after], diagonal[after], own[after], best[after], mark[after],
        )  # fmt: skip
        if first == 0:
            c[0] = cost[i, 0] - level
            starts = free_start or (i == 0 and seed_state == 0)
            diagonal[0] = best[0] = c[0] if starts else np.inf
            own[0] = mark[0] = MARK
        if i == 0 and free_start:
            for j in range(m):
                diagonal[j], own[j], best[j], mark[j] = c[j], MARK, c[j], MARK
        here = slice(first, stop)
        for r in range(limit, 0, -1):
            _extend(
                along_a[r - 1, here], c[here], along_a[r, here],
                begun[(i - r) % (limit + 1), here], r * MARK + r, best[here], mark[here],
            )  # fmt: skip
        for j in range(first, stop):
            along_a[0, j] = diagonal[j]
        shorter = diagonal
        for r in range(1, min(limit, stop - first - 1) + 1):
            there = slice(first + r, stop)
            _extend(
                shorter[first + r - 1 : stop - 1], c[there], along_b[r, there],
                own[first : stop - r], r * MARK + limit + r, best[there], mark[there],
            )  # fmt: skip
            shorter = along_b[r]
        if i == 0 and seed_state > 0:  # a seeded run is the one that starts in no state 0
            if seed_state <= limit:
                along_a[seed_state, 0] = c[0]
                begun[-seed_state, 0] = (1 - seed_state) * MARK
                best[0], mark[0] = c[0], MARK + seed_state
            else:
                total = 0.0
                for j in range(min(m, 2 * limit - seed_state + 1)):
                    total += c[j]
                    best[j], mark[j] = total, (j + 1) * MARK + seed_state + j
        if first > 0:  # what an earlier row left there is out of reach now
            best[first - 1] = np.inf
        for j in range(first, stop):
            states[i, j] = mark[j] & (MARK - 1)
        if stop == m:
            at = m + i if i < n - 1 else m - 1
            border[at], border_count[at] = best[m - 1], mark[m - 1] // MARK
    for j in range(first, m):
        border[j], border_count[j] = best[j], mark[j] // MARK


@njit(cache=True, error_model="numpy")
def _trace(states: _Bytes, limit: int, i: int, j: int, n_cells: int) -> IntArray:
    """The best path that ends in a cell, first cell first. (n_cells, 2)."""
    cells = np.zeros((n_cells, 2), np.int64)
    state = states[i, j]
    for k in range(n_cells - 1, -1, -1):
        cells[k, 0], cells[k, 1] = i, j
        if state == 0:
            i, j = i - 1, j - 1
            if k > 0:
                state = states[i, j]
        elif state <= limit:
            state = state - 1
            i -= 1
        else:
            state = 0 if state == limit + 1 else state - 1
            j -= 1
    return cells


class Swept:
    """A grid after the sweep: totals on the far borders, paths on demand."""

    def __init__(
        self,
        cost: FloatArray,
        limit: int,
        *,
        level: float = 0.0,
        seed_state: int = 0,
        free_start: bool = False,
        to_corner: bool = False,
    ) -> None:
        if not np.isfinite(cost.sum()):
            raise RegistrationError("Distances between frames must be finite; check both clips.")
        n, m = cost.shape
        self.shape, self.limit = (n, m), limit
        self.states = np.zeros((n, m), np.uint8)
        self.total = np.full(n + m - 1, np.inf)
        self.count = np.ones(n + m - 1, np.int64)
        _sweep(
            np.ascontiguousarray(cost), level, limit, seed_state, free_start, to_corner,
            self.states, self.total, self.count,
        )  # fmt: skip

    def cell(self, at: int) -> tuple[int, int]:
        """The cell of a place on the far borders: the last row's, then the last column's."""
        n, m = self.shape
        return (n - 1, at) if at < m else (at - m, m - 1)

    def path(self, at: int) -> TimePath:
        """The cheapest path that ends there."""
        i, j = self.cell(at)
        cells = _trace(self.states, self.limit, i, j, int(self.count[at]))
        return TimePath(cells, float(self.total[at]))
