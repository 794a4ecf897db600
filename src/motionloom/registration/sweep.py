"""The dynamic programme behind every path: a grid swept once, paths traced back on demand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel
from motionloom._records import record
from motionloom.errors import RegistrationError

_sweep = kernel("ml_sweep_grid")
_trace = kernel("ml_sweep_trace")


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
