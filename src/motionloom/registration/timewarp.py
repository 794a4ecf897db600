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

__all__ = [
    "TimePath",
    "find_corner_path",
    "find_open_path",
    "find_path_through",
    "reachable",
    "run_state",
]

_Bytes = npt.NDArray[np.uint8]

MARK = 256
"""Where the state ends and the count of cells begins in the number that a path carries."""


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
            diagonal[:], own[:], best[:], mark[:] = c, MARK, c, MARK
        here = slice(first, stop)
        for r in range(limit, 0, -1):
            _extend(
                along_a[r - 1, here], c[here], along_a[r, here],
                begun[(i - r) % (limit + 1), here], r * MARK + r, best[here], mark[here],
            )  # fmt: skip
        along_a[0, here] = diagonal[here]
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
    border[first:m], border_count[first:m] = best[first:], mark[first:] // MARK


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


class _Swept:
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
        n, m = self.shape
        return (n - 1, at) if at < m else (at - m, m - 1)

    def path(self, at: int) -> TimePath:
        i, j = self.cell(at)
        cells = _trace(self.states, self.limit, i, j, int(self.count[at]))
        return TimePath(cells, float(self.total[at]))


def find_corner_path(cost: FloatArray, *, slope_limit: int = 3, seed_state: int = 0) -> TimePath:
    """The cheapest path from the first cell to the last.

    A path that goes on from another may arrive at the first cell in a run, ``seed_state`` (see
    :func:`run_state`); where that run leaves no way, it is forgotten.

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
    swept = _Swept(cost, slope_limit, seed_state=seed_state, to_corner=True)
    if not np.isfinite(swept.total[m - 1]):
        swept = _Swept(cost, slope_limit, to_corner=True)
    return swept.path(m - 1)


def find_end_path(
    cost: FloatArray,
    *,
    slope_limit: int = 3,
    at_least: int = 1,
    seed_state: int = 0,
    per_frame: bool = False,
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
    per_frame
        Take the mean over frames passed in both clips, not over cells: then a path that hurries
        through one clip, and so has fewer frames to pay for its cells, does not come cheap.
    """
    swept = _Swept(cost, slope_limit, seed_state=seed_state)
    n, m = cost.shape
    covered = np.concatenate([np.arange(m), np.arange(n - 1)]) + 1
    wanted = min(at_least, n, m)
    passed = covered + np.concatenate([np.full(m, n), np.full(n - 1, m)])
    means = swept.total / (passed if per_frame else swept.count)
    mean = np.where(covered >= wanted, means, np.inf)
    if not np.isfinite(mean).any():  # the slope limit may forbid covering that much
        mean = means
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
        seed_state=run_state(back.cells, slope_limit),
    )
    cells = np.concatenate([backward, on.cells[1:] + np.array([i, j])])
    return TimePath(cells, back.cost + on.cost - float(cost[i, j]))


def run_state(cells: IntArray, limit: int) -> int:
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
    swept = _Swept(cost, slope_limit, level=level, free_start=True)
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
