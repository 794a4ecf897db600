"""Time alignment: which frames of a recipe's windows go together (appendix A of [I7]_).

Neighbouring windows of the chain are matched by dynamic time warping; the matches are joined on the
windows that they share. On captured clips the match of [I7]_, from corner to corner, is mostly
frame to frame: the summed cost of a longer path is higher.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import Record, kernel, record
from motionloom.errors import ArrayError
from motionloom.registration.distance import distance_grid
from motionloom.registration.timewarp import find_corner_path, reachable
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.matrices import product
from motionloom.tables.index.windows import compared_joints
from motionloom.tables.score.recipe import Recipe, rows_at

_join = kernel("ml_warp_join")

LONGEST = 2
"""A joined path may have this many times the frames of a window; else the diagonal is taken."""
SLOPE_LIMIT = 3
"""Most frames in a row that one window waits for another."""


def aligned(
    frames: Frames, recipe: Recipe, *, slope_limit: int = SLOPE_LIMIT, borders: bool = False
) -> Recipe:
    """The recipe with the frames of its windows matched, or as it is where that cannot be.

    Parameters
    ----------
    frames, recipe
        What to match.
    slope_limit
        Most frames in a row that one window waits for another.
    borders
        Start and end where the first and last rows of a match are alike, as [I6]_ do, in place of
        the windows' own first and last frames. Frames of the source before the start, and of the
        target after the end, are then played as they are.
    """
    if recipe.n_ways < 2:
        return recipe
    grids = match_windows(frames, recipe)
    paths = [match_grid(grid, slope_limit=slope_limit, borders=borders) for grid in grids]
    times = join_paths(paths, recipe.length)
    return recipe if times is None else Recipe(recipe.rows, recipe.length, recipe.family, times)


def match_grid(grid: FloatArray, *, slope_limit: int = SLOPE_LIMIT, borders: bool) -> IntArray:
    """The match of two windows by their distances: frames of both that go together, (P, 2)."""
    if borders:
        return find_border_path(grid, slope_limit=slope_limit)
    if reachable(grid.shape[0] - 1, grid.shape[1] - 1, slope_limit):
        return np.asarray(find_corner_path(grid, slope_limit=slope_limit).cells)
    return np.zeros((0, 2), dtype=np.int64)


def match_windows(frames: Frames, recipe: Recipe) -> list[FloatArray]:
    """Distances of all frames of each window to all frames of the next, metres: N - 1 of (T, T)."""
    at = rows_at(frames, Recipe(recipe.rows, recipe.length))
    clouds = [_cloud(frames, at[:, i]) for i in range(recipe.n_ways)]
    return [_distances(a, b) for a, b in pairwise(clouds)]


def _cloud(frames: Frames, rows: IntArray) -> FloatArray:
    """Compared joints of rows, as seen from the body. (n, J', 3)."""
    joints = compared_joints(frames.skeleton, frames.body_map)
    return frames.body[rows][:, joints].astype(np.float64)


def _distances(a: FloatArray, b: FloatArray) -> FloatArray:
    """Distances of all frames of a cloud to all of another, metres, the same on every machine."""
    weights = np.full(a.shape[1], 1.0 / a.shape[1])
    return np.sqrt(np.maximum(distance_grid(a, b, weights, product=product).cost, 0.0))


class WindowMatches(NamedTuple):
    """Matches of every window with every other."""

    firsts: IntArray
    """First cell of each pair, and the number of cells. (W * W + 1,)"""
    cells: IntArray
    """Frames of both windows that go together, pair by pair. (C, 2)"""

    def record(self) -> Record:
        """As the core reads them."""
        n_windows = round(float(np.sqrt(len(self.firsts) - 1)))
        return record(
            "ml_paths",
            n_windows=n_windows,
            n_cells=len(self.cells),
            firsts=np.ascontiguousarray(self.firsts, dtype=np.int64),
            cells=np.ascontiguousarray(self.cells, dtype=np.int32),
        )


def match_all(
    frames: Frames,
    rows: IntArray,
    length: int,
    *,
    borders: bool = False,
) -> WindowMatches:
    """Matches of every window with every other; ``borders`` as in :func:`aligned`."""
    clouds = [_cloud(frames, np.arange(row, row + length)) for row in rows.tolist()]
    paths: dict[tuple[int, int], IntArray] = {}
    for i in range(len(rows)):
        for j in range(i, len(rows)):
            grid = _distances(clouds[i], clouds[j])
            paths[i, j] = match_grid(grid, borders=borders)
            if i != j:
                paths[j, i] = match_grid(np.ascontiguousarray(grid.T), borders=borders)
    each = [paths[i, j] for i in range(len(rows)) for j in range(len(rows))]
    firsts = np.cumsum([0, *map(len, each)], dtype=np.int64)
    return WindowMatches(firsts, np.concatenate(each))


def find_border_path(grid: FloatArray, *, slope_limit: int = 3) -> IntArray:
    """The path of the smallest mean cost between local minima of the grid's borders. (P, 2).

    It starts at a minimum of the first row or column and ends at one of the last row or column
    ([I6]_ section 3); where there is none that covers half of the windows, at the corners.
    """
    n, m = grid.shape
    starts = [(0, j) for j in _minima(grid[0])] + [(i, 0) for i in _minima(grid[:, 0])]
    ends = [(n - 1, j) for j in _minima(grid[-1])] + [(i, m - 1) for i in _minima(grid[:, -1])]
    best: tuple[float, IntArray] | None = None
    for a, b in starts or [(0, 0)]:
        for c, d in ends or [(n - 1, m - 1)]:
            if c <= a or d <= b or not reachable(c - a, d - b, slope_limit):
                continue
            path = find_corner_path(grid[a : c + 1, b : d + 1], slope_limit=slope_limit)
            mean = path.cost / len(path.cells)
            # A short match is easily cheap; half of the windows must be in it.
            if min(c - a, d - b) >= min(n, m) // 2 and (best is None or mean < best[0]):
                best = mean, path.cells + np.array([a, b])
    if best is None:
        return np.asarray(find_corner_path(grid, slope_limit=slope_limit).cells)
    return best[1]


def _minima(costs: FloatArray) -> list[int]:
    """Places lower than both neighbours; an end counts where it is lower than its one."""
    padded = np.concatenate([[np.inf], costs, [np.inf]])
    low = (padded[1:-1] < padded[:-2]) & (padded[1:-1] <= padded[2:])
    return [int(i) for i in np.flatnonzero(low)]


def join_paths(paths: Sequence[IntArray], length: int) -> IntArray | None:
    """Matches of neighbours (P, 2) joined to frames of all windows. (L, N).

    For every frame of a shared window the run of tuples that end in it and the run of frames that
    are matched to it are zipped to the longer one, the last item repeated: corners are kept, every
    step goes on by 0 or 1 in each window, and each pair of neighbours stays on its own match.
    Frames of a shared window that only one of its matches passes are left out. What comes before in
    the first window, and after in the last, is played on.

    Returns None where matches have no frame in common, or more than :data:`LONGEST` times the
    frames of a window come out.
    """
    if not 1 <= len(paths) <= 3:
        raise ArrayError(f"`paths` must hold the matches of 1 to 3 pairs, got {len(paths)}.")
    firsts = np.cumsum([0, *map(len, paths)], dtype=np.int64)
    cells = np.ascontiguousarray(np.concatenate(paths), dtype=np.int32)
    most, count = LONGEST * length, np.zeros(1, dtype=np.int64)
    other, times = (np.zeros((most, 4), dtype=np.int32) for _ in range(2))
    _join(length, len(paths), firsts, len(cells), cells, most, other, times, count)
    n = int(count[0])
    return times[:n, : len(paths) + 1].astype(np.int64) if n else None
