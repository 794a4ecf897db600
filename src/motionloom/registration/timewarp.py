"""The cheapest path through a distance grid that never lingers: slope-limited time warping.

A path steps by (1, 1), (1, 0) or (0, 1), and takes at most ``slope_limit`` steps in a row in one
of the last two directions. The dynamic programme over (cell, length of the current run) is exact:
it sweeps a grid once, and paths are traced back on demand. A step of one kind directly after one of
the other is left out: a diagonal does the same with one cell less, so with costs that are not
negative the optimum is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom._records import record
from motionloom.errors import RegistrationError

_sweep = kernel("ml_sweep_grid")
_trace = kernel("ml_sweep_trace")
FIRST_LEVEL, NEXT_LEVEL = 0.5, 1.35
"""Between clips that are not alike, cells below this part of the median cost are gains in the first
try. Every further try multiplies the limit by the second number."""


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


def find_corner_path(cost: FloatArray, *, slope_limit: int = 3, seed_state: int = 0) -> TimePath:
    """The cheapest path from the first cell to the last.

    A path that goes on from another may arrive at the first cell in a run, ``seed_state`` (see
    :func:`run_state`). If no path can continue that run, the run is ignored.

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
    swept = Swept(cost, slope_limit, seed_state=seed_state, to_corner=True)
    if not np.isfinite(swept.total[m - 1]):
        swept = Swept(cost, slope_limit, to_corner=True)
    return swept.path(m - 1)


def reachable(steps_a: int, steps_b: int, slope_limit: int) -> bool:
    """Whether a path can go that many frames in A while going that many in B."""
    return abs(steps_a - steps_b) <= slope_limit * (min(steps_a, steps_b) + 1)


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
    swept = Swept(cost, slope_limit, seed_state=seed_state)
    n, m = cost.shape
    covered = np.concatenate([np.arange(m), np.arange(n - 1)]) + 1
    wanted = min(at_least, n, m)
    passed = covered + np.concatenate([np.full(m, n), np.full(n - 1, m)])
    means = swept.total / (passed if per_frame else swept.count)
    mean = np.where(covered >= wanted, means, np.inf)  # a diagonal always covers that much
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

    The sweep keeps one path per end cell, the cheapest, and between clips that are not alike all of
    these can be too short. Then ``level`` is raised until the path that gains most covers enough.

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
        path = _best_covering(cost, level, slope_limit, wanted, by_mean=True)
        if path is None or (best is not None and path.mean_cost >= best.mean_cost - 1e-12):
            break
        best, level = path, path.mean_cost
    if best is None:
        return _covering_at_any_cost(cost, slope_limit, wanted)
    grown = _best_covering(cost, reach * level, slope_limit, wanted, by_mean=False)
    return best if grown is None else grown


def _best_covering(
    cost: FloatArray, level: float, slope_limit: int, wanted: int, *, by_mean: bool
) -> TimePath | None:
    """The path with free ends that is best above ``level`` and covers enough, if there is one."""
    swept = Swept(cost, slope_limit, level=level, free_start=True)
    value = swept.total / swept.count if by_mean else swept.total
    for at in np.argsort(value, kind="stable"):
        if not np.isfinite(value[at]) or not _may_cover(swept, int(at), wanted):
            continue
        cells = swept.path(int(at)).cells
        if np.min(cells[-1] - cells[0]) + 1 >= wanted:
            return TimePath(cells, float(cost[tuple(cells.T)].sum()))
    return None


def _may_cover(swept: Swept, at: int, wanted: int) -> bool:
    i, j = swept.cell(at)
    return min(i, j) + 1 >= wanted and int(swept.count[at]) >= wanted


def _covering_at_any_cost(cost: FloatArray, slope_limit: int, wanted: int) -> TimePath:
    """The path that gains most at the least of the tried levels at which it covers enough."""
    level = FIRST_LEVEL * float(np.median(cost)) or float(cost.max()) or 1.0
    while True:
        path = _best_covering(cost, level, slope_limit, wanted, by_mean=False)
        # Above the largest cost every cell is a gain, and a whole diagonal always covers enough.
        if path is not None:
            return path
        if level > float(cost.max()):
            n, m = cost.shape
            return find_end_path(cost, slope_limit=0, at_least=min(n, m))
        level *= NEXT_LEVEL


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
            n, m, np.ascontiguousarray(cost, dtype=np.float64), level, limit, seed_state,
            free_start, to_corner, np.zeros((2 * limit + 5, m)),
            np.zeros((limit + 3, m), np.int64), self.states, self.total, self.count,
        )  # fmt: skip

    def cell(self, at: int) -> tuple[int, int]:
        """The cell of a place on the far borders: the last row's, then the last column's."""
        n, m = self.shape
        return (n - 1, at) if at < m else (at - m, m - 1)

    def path(self, at: int) -> TimePath:
        """The cheapest path that ends there."""
        i, j = self.cell(at)
        cells = np.zeros((int(self.count[at]), 2), np.int64)
        _trace(*self.shape, self.states, self.limit, i, j, len(cells), cells)
        return TimePath(cells, float(self.total[at]))
