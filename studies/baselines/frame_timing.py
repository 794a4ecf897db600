"""Timing: which frames of a recipe's windows go together, where not simply the same ones.

Neighbouring windows of the chain are matched by dynamic time warping; the matches are joined on the
windows that they share. On captured clips the plain diagonal is as good as the match nearly always
(the summed cost of a longer path is higher, and plants stay where they are), so this is an option.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.errors import ArrayError
from motionloom.registration.distance import distance_grid
from motionloom.registration.timewarp import find_corner_path, reachable
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.windows import compared_joints
from motionloom.tables.score.recipe import Recipe, rows_at

__all__ = ["aligned", "find_border_path", "join_paths", "match_windows"]

LONGEST = 2.0
"""A joined path may have this many times the frames of a window; else the diagonal is taken."""


def aligned(
    frames: Frames, recipe: Recipe, *, slope_limit: int = 3, borders: bool = False
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
    paths = []
    for grid in grids:
        if borders:
            paths.append(find_border_path(grid, slope_limit=slope_limit))
        elif reachable(grid.shape[0] - 1, grid.shape[1] - 1, slope_limit):
            paths.append(find_corner_path(grid, slope_limit=slope_limit).cells)
        else:
            return recipe
    times = _from_end_to_end(join_paths(paths), recipe.length)
    if not 2 <= len(times) <= LONGEST * recipe.length:
        return recipe
    return Recipe(recipe.rows, recipe.length, recipe.family, times)


def _from_end_to_end(times: IntArray, length: int) -> IntArray:
    """Tuples with what comes before in the first window, and after in the last, played on."""
    before = np.repeat(times[:1], times[0, 0], axis=0)
    before[:, 0] = np.arange(times[0, 0])
    after = np.repeat(times[-1:], length - 1 - times[-1, -1], axis=0)
    after[:, -1] = np.arange(times[-1, -1] + 1, length)
    return np.concatenate([before, times, after])


def match_windows(frames: Frames, recipe: Recipe) -> list[FloatArray]:
    """Distances of all frames of each window to all frames of the next, metres: N - 1 of (T, T)."""
    at = rows_at(frames, Recipe(recipe.rows, recipe.length))
    joints = compared_joints(frames.skeleton, frames.body_map)
    clouds = [frames.body[at[:, i]][:, joints].astype(np.float64) for i in range(recipe.n_ways)]
    weights = np.full(len(joints), 1.0 / len(joints))
    return [
        np.sqrt(np.maximum(distance_grid(a, b, weights).cost, 0.0)) for a, b in pairwise(clouds)
    ]


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


def join_paths(paths: Sequence[IntArray]) -> IntArray:
    """Matches of neighbours (P, 2) joined to tuples of frames of all windows. (L, N).

    For every frame of a shared window the run of tuples that end in it and the run of frames that
    are matched to it are zipped to the longer one, the last item repeated: corners are kept, every
    step goes on by 0 or 1 in each window, and each pair of neighbours stays on its own match.
    Frames of a shared window that only one of its matches passes are left out.
    """
    if not paths:
        raise ArrayError("`paths` must hold the match of at least one pair of windows, got none.")
    tuples = [tuple(int(v) for v in cell) for cell in paths[0]]
    for path in paths[1:]:
        shared = path[:, 0]
        joined: list[tuple[int, ...]] = []
        for frame in range(max(tuples[0][-1], int(shared[0])), int(shared[-1]) + 1):
            left = [each for each in tuples if each[-1] == frame]
            right = [int(b) for b in path[shared == frame, 1]]
            if not left:
                break
            for k in range(max(len(left), len(right))):
                pair = (*left[min(k, len(left) - 1)], right[min(k, len(right) - 1)])
                if not joined or joined[-1] != pair:
                    joined.append(pair)
        if not joined:
            raise ArrayError("`paths` must have frames of the window between in common, got none.")
        tuples = joined
    return np.array(tuples, dtype=np.int64)
