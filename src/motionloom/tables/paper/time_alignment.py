"""Time alignment: which frames of a recipe's windows go together (appendix A of [I7]_).

Neighbouring windows of the chain are matched by dynamic time warping; the matches are joined on the
windows that they share. On captured clips the match of [I7]_, from corner to corner, is mostly
frame to frame: the summed cost of a longer path is higher. The core scores and searches blends with
these times; a table's file holds them for every cached recipe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import Record, integer, kernel, record
from motionloom.errors import ArrayError
from motionloom.registration.timewarp import distance_grid, find_corner_path, reachable
from motionloom.tables.collection.frames import FloatArray32, Frames
from motionloom.tables.index.matrices import product
from motionloom.tables.index.windows import compared_joints
from motionloom.tables.score.columns import COLUMNS, N_PATHS, Ranking, terms_record
from motionloom.tables.score.recipe import FAMILIES, MOST_WAYS, Recipe, rows_at
from motionloom.tables.score.terms import N_ROWS, N_SEGMENTS, Terms
from motionloom.tables.table_file import TableFile

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


_score = kernel("ml_warp_score")
_times = kernel("ml_warp_times")
_search = kernel("ml_warp_search")
FAMILY_NUMBERS = {name: integer(f"ML_FAMILY_{name.upper()}") for name in FAMILIES}
"""Numbers of the families of weights."""


class Found(NamedTuple):
    """The best blends of a pair of windows, best first."""

    costs: FloatArray32
    """Infinite where there are fewer blends than asked. (keep,)"""
    recipes: npt.NDArray[np.uint16]
    """Windows as places in the terms, then 0xffff. (keep, 4)"""
    families: npt.NDArray[np.uint8]
    """(keep,)"""


class WarpedTerms:
    """Windows whose blends follow a time alignment; each thread needs its own.

    Parameters
    ----------
    terms
        Of all windows.
    """

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._record = terms_record(terms)
        self._warp, self._scratch = _memory(terms)

    def score(self, ids: npt.ArrayLike, times: IntArray, family: str) -> FloatArray32:
        """What is measured of one blend, as :data:`~motionloom.tables.score.columns.COLUMNS`.

        Parameters
        ----------
        ids : (N,)
            Windows as places in the terms, source first.
        times : (L, N)
            Frame of every window at every frame of the blend.
        family
            Of the weights.
        """
        windows = np.asarray(ids, dtype=np.int32)
        if times.ndim != 2 or times.shape[1] != len(windows):
            raise ArrayError(f"`times` must be (frames, {len(windows)}), got {times.shape}.")
        padded = np.full(MOST_WAYS, -1, dtype=np.int32)
        padded[: len(windows)] = windows
        at = np.zeros((len(times), MOST_WAYS), dtype=np.int32)
        at[:, : len(windows)] = times
        out = np.zeros(len(COLUMNS), dtype=np.float32)
        _score(
            self._record, self._scratch, self._warp, FAMILY_NUMBERS[family], padded, len(at), at,
            out,
        )  # fmt: skip
        return out

    def times(self, matches: Record, ids: npt.ArrayLike) -> IntArray:
        """Frames of windows (N,) that go together, by the matches of neighbours. (L, N)."""
        windows = np.asarray(ids, dtype=np.int32)
        padded = np.full(MOST_WAYS, -1, dtype=np.int32)
        padded[: len(windows)] = windows
        count = np.zeros(1, dtype=np.int64)
        _times(self._record, matches, self._warp, padded, count)
        return np.asarray(self._warp.times[: int(count[0]), : len(windows)], dtype=np.int64)

    def search(
        self,
        matches: Record,
        pair: tuple[int, int],
        middles: npt.NDArray[np.uint16],
        ranking: Ranking,
        families: tuple[str, ...],
        *,
        keep: int = 1,
    ) -> Found:
        """The best blends from one window to another.

        Parameters
        ----------
        matches
            Record of :class:`WindowMatches` of the same windows.
        pair
            Source and target as places in the terms.
        middles : (M, 2)
            Intermediaries to try, 0xffff where there are fewer.
        ranking
            What is best; no weight may be negative.
        families
            Weights to try each blend with; of equals the first stays.
        keep
            How many to return.
        """
        best = Found(
            np.full(keep, np.inf, dtype=np.float32),
            np.full((keep, MOST_WAYS), integer("ML_NO_WINDOW"), dtype=np.uint16),
            np.zeros(keep, dtype=np.uint8),
        )
        numbers = np.array([FAMILY_NUMBERS[name] for name in families], dtype=np.int64)
        _search(
            self._record, self._scratch, self._warp, matches, ranking.linear, ranking.log,
            len(numbers), numbers, pair[0], pair[1], len(middles), middles, keep, *best,
        )  # fmt: skip
        return best


def _memory(terms: Terms) -> tuple[Record, Record]:
    """Memory for the warped terms of one blend, and to judge it in."""
    most, plants = LONGEST * terms.length, terms.arrays.spans.shape[2]
    padded = most + 2 * terms.pad

    def zeros(*shape: int) -> FloatArray32:
        return np.zeros(shape, dtype=np.float32)

    def whole(*shape: int) -> npt.NDArray[np.int32]:
        return np.zeros(shape, dtype=np.int32)

    warp = record(
        "ml_warp",
        most=most,
        n_padded=padded,
        n_plants=plants,
        rows=zeros(MOST_WAYS, N_ROWS, padded),
        posture=zeros(MOST_WAYS, padded, 3 * N_SEGMENTS),
        anchors=zeros(MOST_WAYS, 4, padded),
        spans=whole(MOST_WAYS, 2, plants, 2),
        ahead=zeros(MOST_WAYS, 2, plants, 2),
        counts=whole(MOST_WAYS, 2),
        reach=whole(MOST_WAYS, 2),
        weights=zeros(MOST_WAYS, MOST_WAYS, padded),
        times=whole(most, MOST_WAYS),
        other=whole(most, MOST_WAYS),
    )
    n = MOST_WAYS * plants
    scratch = record(
        "ml_scratch",
        n_padded=padded,
        n_plants=plants,
        length=most,
        rows=zeros(N_ROWS, padded),
        posture=zeros(padded, 3 * N_SEGMENTS),
        path=zeros(N_PATHS, padded),
        plants=zeros(n, 5),
        spans=whole(n, 3),
        order=whole(n),
        chosen=zeros(2, n, 4),
        labels=np.zeros((2, most), dtype=np.int16),
    )
    return warp, scratch


PAPER_ARRAYS = ("paper.firsts", "paper.times", "paper.families")
_FAMILIES = tuple(FAMILY_NUMBERS)


class RecipeTimes(NamedTuple):
    """Frames of the windows of every recipe that go together, and how the windows are weighed."""

    firsts: npt.NDArray[np.uint32]
    """First of the frames of each pair of representatives, and their number. (E * E + 1,)"""
    times: npt.NDArray[np.uint16]
    """Frame of every window at every frame of the blend, pair by pair. (F, 4)"""
    families: npt.NDArray[np.uint8]
    """Family of the weights. (E, E)"""

    @classmethod
    def of_file(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> RecipeTimes:
        """From the named arrays of a table file."""
        return cls(*(arrays[name] for name in PAPER_ARRAYS))

    @classmethod
    def of_entries(cls, entries: Sequence[IntArray], families: npt.ArrayLike) -> RecipeTimes:
        """From the times (L, N) of every pair, and the numbers of their families (E, E)."""
        firsts = np.cumsum([0, *map(len, entries)])
        times = np.zeros((int(firsts[-1]), MOST_WAYS), dtype=np.uint16)
        for first, entry in zip(firsts[:-1].tolist(), entries, strict=True):
            if entry.max(initial=0) > np.iinfo(np.uint16).max:
                raise ArrayError(
                    "A window of the papers' table must have fewer than 65,536 frames."
                )
            times[first : first + len(entry), : entry.shape[1]] = entry
        return cls(firsts.astype(np.uint32), times, np.asarray(families, dtype=np.uint8))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by name, for a file."""
        return dict(zip(PAPER_ARRAYS, self, strict=True))

    def entry(self, source: int, target: int, n_ways: int) -> tuple[IntArray, str]:
        """Times (L, N) of the recipe between two representatives, and the family of its weights."""
        pair = source * len(self.families) + target
        first, last = (int(k) for k in self.firsts[pair : pair + 2])
        times = np.asarray(self.times[first:last, :n_ways], dtype=np.int64)
        return times, _FAMILIES[int(self.families[source, target])]

    def lengths(self) -> IntArray:
        """Frames of the blend of every pair. (E, E)."""
        firsts = self.firsts.astype(np.int64)
        return np.asarray(firsts[1:] - firsts[:-1]).reshape(self.families.shape)


def check_recipe_times(file: TableFile, length: int, n_ends: int) -> None:
    """Check kind, shape and every value of the arrays of the papers' table.

    Parameters
    ----------
    file
        The table.
    length, n_ends
        Frames of a window, and representatives.

    Raises
    ------
    TableError
        An array is missing or of another kind or shape, or a value is out of its range.
    """
    firsts = file.array("paper.firsts", "<u4", (n_ends * n_ends + 1,)).astype(np.int64)
    times = file.array("paper.times", "<u2", (None, MOST_WAYS))
    families = file.array("paper.families", "|u1", (n_ends, n_ends))
    counts = np.diff(firsts)
    if firsts[0] != 0 or firsts[-1] != len(times) or (counts < 2).any():
        raise file.damaged("the times of its recipes must follow one another")
    if (counts > LONGEST * length).any() or (len(times) and int(times.max()) >= length):
        raise file.damaged(f"the times of its recipes must be frames of windows of {length} frames")
    steps = np.diff(times.astype(np.int32), axis=0)
    inside = np.ones(len(steps), dtype=bool)
    inside[firsts[1:-1] - 1] = False
    if ((steps < 0) | (steps > 1))[inside].any():
        raise file.damaged("the times of a recipe must go on by no frame or one")
    if (families >= len(_FAMILIES)).any():
        raise file.damaged("a recipe has weights of an unknown family")
