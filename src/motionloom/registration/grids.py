"""Grids: distances between the frames of clips, at the rate at which they are compared.

Ten minutes against ten minutes would be a grid of gigabytes. The path of long clips is found
coarsely first: the least of every few cells is enough to find where it goes. Between places on that
path, a few seconds apart, small grids find it exactly. A second pass does the same between places
in the middle of the first pass's pieces, so that no place chosen coarsely remains. One difference
is possible: clips that repeat one cycle may be matched a whole cycle away, where that costs about
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._progress import report_step
from motionloom.body.body_map import BodyMap
from motionloom.body.facing import facing
from motionloom.errors import SkeletonMismatchError
from motionloom.features.pointcloud import PointCloud
from motionloom.motion.motion import Motion
from motionloom.registration.distance import DistanceGrid, distance_grid
from motionloom.registration.timewarp import TimePath, find_corner_path, reachable, run_state
from motionloom.retargeting.match import clip_names

GRID_RATE = 30.0
"""Frames per second at which clips are compared, as in [KG03]_; more add nothing about a body."""
MOST_CELLS = 16_000_000
"""Cells of the largest grid that is made at once: two clips of more than two minutes at 30 Hz."""
STRIP_CELLS = 2_000_000
"""Cells that are made at once to find the coarse grid."""
PIECE = 400
"""Frames of the grid in one piece of a long path."""


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """A motion at the grid's rate."""

    points: FloatArray
    roots: FloatArray
    headings: FloatArray
    """Where the body faces, radians. (n,)"""


class Grids:
    """Distance grids between clips, each built when it is first asked for.

    Parameters
    ----------
    clips, clouds
        Clips at one rate, and their point clouds.
    window_s
        Seconds over which frames are compared.
    body
        Roles of their joints.
    """

    def __init__(
        self,
        clips: Sequence[Motion],
        clouds: Sequence[PointCloud],
        window_s: float,
        body: BodyMap,
    ) -> None:
        self.stride = max(1, round(clips[0].fps / GRID_RATE))
        """Frames of a clip from one row of a grid to the next."""
        self.rate = clips[0].fps / self.stride
        """Rows per second."""
        longest = 2.0 * max(clip.n_frames for clip in clips)  # a longer window adds no frames
        self._half = max(0, round(0.5 * (min(window_s * self.rate, longest) - 1.0)))
        self.weights = clouds[0].weights
        self.clips = [
            Sampled(
                cloud.points[:: self.stride],
                clip.root_positions[:: self.stride],
                _headings(clip, body)[:: self.stride],
            )
            for cloud, clip in zip(clouds, clips, strict=True)
        ]
        self.names = [named_clip(clips, k) for k in range(len(clips))]
        """What errors call the clips."""
        self._grids: dict[tuple[int, int], DistanceGrid] = {}

    def __call__(self, a: int, b: int) -> DistanceGrid:
        """The grid between clips ``a`` and ``b``."""
        if (a, b) not in self._grids:
            report_step("comparing clips", len(self._grids), len(self.clips) ** 2)
            self._grids[a, b] = distance_grid(
                self.clips[a].points, self.clips[b].points, self.weights, half_window=self._half
            )
        return self._grids[a, b]

    def long(self, a: int, b: int) -> LongGrid:
        """The same for clips whose whole grid would be too large."""
        return LongGrid(self.clips[a].points, self.clips[b].points, self.weights, self._half)


def named_clip(clips: Sequence[Motion], k: int) -> str:
    """What errors call a clip: its letter and, where it has one, its name."""
    letter, name = clip_names(len(clips))[k], clips[k].name
    return f"clip {letter} ({name})" if name else f"clip {letter}"


def _headings(clip: Motion, body: BodyMap) -> FloatArray:
    """Where the body faces, radians (F,); nan where the skeleton has neither hips nor shoulders."""
    try:
        return facing(clip, body=body)
    except SkeletonMismatchError:
        return np.full(clip.n_frames, np.nan)


class LongGrid:
    """Distances and alignments of two clips whose whole grid is too large to make."""

    def __init__(
        self, points_a: FloatArray, points_b: FloatArray, weights: FloatArray, half_window: int
    ) -> None:
        self._points, self._weights, self._half = (points_a, points_b), weights, half_window
        self.shape = len(points_a), len(points_b)

    def part(self, first: tuple[int, int], last: tuple[int, int]) -> FloatArray:
        """Costs of the cells from ``first`` to ``last``, both included."""
        grid, low = self._made(first, last)
        rows, columns = (slice(f - x, y - x + 1) for f, y, x in zip(first, last, low, strict=True))
        return grid.cost[rows, columns]

    def alignment(self, i: IntArray, j: IntArray) -> tuple[FloatArray, FloatArray]:
        """Turn (N,) and slide (N, 2) that carry B's cloud j onto A's cloud i, along a path."""
        theta, slide = np.zeros(len(i)), np.zeros((len(i), 2))
        for start in range(0, len(i), PIECE):
            some = slice(start, start + PIECE)
            first = int(i[some].min()), int(j[some].min())
            grid, low = self._made(first, (int(i[some].max()), int(j[some].max())))
            theta[some], slide[some] = grid.alignment(i[some] - low[0], j[some] - low[1])
        return theta, slide

    def coarse(self, stride: int) -> FloatArray:
        """The least cost of every ``stride`` x ``stride`` cells.

        Every frame counts: between frames that are merely sampled, clips that repeat themselves
        lose their best path to one that stays a whole cycle behind.
        """
        n, m = self.shape
        least = np.full((-(-n // stride), -(-m // stride)), np.inf)
        rows = stride * max(1, STRIP_CELLS // (stride * m))
        columns = np.arange(0, m, stride)
        for first in range(0, n, rows):
            last = min(first + rows, n) - 1
            strip = np.minimum.reduceat(self.part((first, 0), (last, m - 1)), columns, axis=1)
            down = np.arange(0, len(strip), stride)
            at = first // stride
            least[at : at + len(down)] = np.minimum.reduceat(strip, down, axis=0)
        return least

    def _made(
        self, first: tuple[int, int], last: tuple[int, int]
    ) -> tuple[DistanceGrid, list[int]]:
        """The grid around some cells, as wide as their windows need, and its first cell."""
        low = [max(0, f - self._half) for f in first]
        a, b = (p[x : y + self._half + 1] for p, x, y in zip(self._points, low, last, strict=True))
        return distance_grid(a, b, self._weights, half_window=self._half), low


def find_long_path(
    grid: LongGrid,
    find: Callable[[FloatArray], TimePath],
    *,
    slope_limit: int,
    to_corner: bool,
    most_cells: int = MOST_CELLS,
) -> TimePath:
    """The path that ``find`` would give on the whole grid, without making it.

    Free ends are chosen on the coarse grid, to within a few frames.

    Parameters
    ----------
    grid
        The two clips.
    find
        From a grid of costs to a path; used on the coarse grid.
    slope_limit
        Most steps in a row in one direction.
    to_corner
        Whether the path must end with both clips.
    most_cells
        Size of the coarse grid.
    """
    n, m = grid.shape
    stride = max(1, int(np.ceil(np.sqrt(n * m / most_cells))))
    cells = stride * find(grid.coarse(stride)).cells
    # Frames after the last coarse one belong to the path that reached it.
    rest = np.array([n - 1, m - 1]) - cells[-1]
    more = rest if to_corner else np.repeat(rest.min(), 2) if rest.min() < stride else 0 * rest
    cells = np.concatenate([cells, cells[-1:] + more])
    path = _joined(grid, _places(cells, slope_limit, 0), slope_limit)
    return _joined(grid, _places(path.cells, slope_limit, PIECE // 2), slope_limit)


def _places(cells: IntArray, slope_limit: int, shift: int) -> list[tuple[int, int]]:
    """Places along a path that pieces can go between; both ends are always among them."""
    along = cells.mean(axis=1) - cells[0].mean()
    marks = np.arange(PIECE - shift, along[-1] - PIECE // 4, PIECE)
    # In the middle of diagonal steps a piece's end disturbs no run of steps to one side.
    diagonal = np.concatenate([[False], np.diff(cells[:, 0]) == np.diff(cells[:, 1]), [False]])
    calm = np.flatnonzero(diagonal[:-1] & diagonal[1:])
    if calm.size:
        nearest = calm[np.minimum(np.searchsorted(along[calm], marks), calm.size - 1)]
    else:
        nearest = np.searchsorted(along, marks)
    at = [*np.unique(nearest).tolist(), len(cells) - 1]
    places = [(int(cells[0, 0]), int(cells[0, 1]))]
    for k in at:
        i, j = int(cells[k, 0]), int(cells[k, 1])
        while len(places) > 1 and not _passable(places[-1], (i, j), slope_limit):
            places.pop()
        places.append((i, j))
    return places


def _passable(first: tuple[int, int], last: tuple[int, int], slope_limit: int) -> bool:
    steps = last[0] - first[0], last[1] - first[1]
    return min(steps) > 0 and reachable(*steps, slope_limit)


def _joined(grid: LongGrid, places: list[tuple[int, int]], slope_limit: int) -> TimePath:
    """The cheapest paths between places, one after the other; runs go on across a place."""
    parts: list[IntArray] = []
    total, state = 0.0, 0
    for first, last in pairwise(places):
        cost = grid.part(first, last)
        piece = find_corner_path(cost, slope_limit=slope_limit, seed_state=state)
        skip = 1 if parts else 0
        parts.append(piece.cells[skip:] + np.array(first))
        total += piece.cost - (float(cost[0, 0]) if skip else 0.0)
        state = run_state(piece.cells[-1] - piece.cells[::-1], slope_limit)
    return TimePath(np.concatenate(parts), total)
