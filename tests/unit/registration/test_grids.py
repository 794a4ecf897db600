"""Long clips: the path and the alignments of the whole grid, without making it."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.registration import pair_curve, timewarp
from motionloom.registration.timewarp import (
    LongGrid,
    TimePath,
    _passable,
    _places,
    distance_grid,
    find_corner_path,
    find_long_path,
    point_cloud,
)

FPS = 30.0
LIMIT = 3
EXACT = 1e-9


@pytest.fixture(scope="module")
def walks():
    """Two long walks that slow down and hurry at different times."""
    found = []
    for turn, phase in ((0.1, 0.0), (-0.1, 2.0)):
        walk = ml.synthetic.clip("walk", turn=turn, duration_s=50.0, fps=FPS).motion
        pace = 1.0 + 0.4 * np.sin(np.arange(1200) / 60.0 + phase)
        frames = np.cumsum(pace)
        frames *= (walk.n_frames - 1) / frames[-1]
        found.append(ml.motion.edit.sample(walk, frames))
    return found


def corner(cost):
    return find_corner_path(cost, slope_limit=LIMIT)


def test_the_path_is_that_of_the_whole_grid(walks):
    a, b = (point_cloud(walk).points for walk in walks)
    weights = np.ones(a.shape[1])
    whole = distance_grid(a, b, weights, half_window=2)
    grid = LongGrid(a, b, weights, 2)
    for stride in (2, 3):
        path = find_long_path(
            grid, corner, slope_limit=LIMIT, to_corner=True, most_cells=whole.cost.size // stride**2
        )
        assert path.cells.tolist() == corner(whole.cost).cells.tolist()
        assert path.cost == pytest.approx(corner(whole.cost).cost)


def test_costs_and_alignments_are_those_of_the_whole_grid(walks):
    a, b = (point_cloud(walk).points[:500] for walk in walks)
    weights = np.ones(a.shape[1])
    whole = distance_grid(a, b, weights, half_window=2)
    grid = LongGrid(a, b, weights, 2)
    assert np.abs(grid.part((0, 30), (80, 90)) - whole.cost[:81, 30:91]).max() < EXACT
    i, j = corner(whole.cost).cells.T
    for part, all_of_it in zip(grid.alignment(i, j), whole.alignment(i, j), strict=True):
        assert np.abs(part - all_of_it).max() < 1e-6


def test_registering_long_clips_gives_the_same_curve(walks, monkeypatch):
    plain = ml.register(walks, ends="match")
    monkeypatch.setattr(pair_curve, "MOST_CELLS", 100_000)
    monkeypatch.setattr(timewarp, "MOST_CELLS", 100_000)
    long = ml.register(walks, ends="match")
    u = np.linspace(*plain.u_range, 300)
    assert np.abs(long.frames(u) - plain.frames(u)).max() < 1e-6


def stepping(*runs):
    """Cells of a path that starts at (0, 0), from (steps, (frames of A, frames of B)). (N, 2)"""
    steps = [step for count, step in runs for _ in range(count)]
    return np.concatenate([[(0, 0)], np.cumsum(steps, axis=0)])


def least_of_blocks(cost, stride):
    n, m = cost.shape
    return [
        [cost[i : i + stride, j : j + stride].min() for j in range(0, m, stride)]
        for i in range(0, n, stride)
    ]


@pytest.mark.parametrize("strip", [1, 140, 10**6])
@pytest.mark.parametrize("stride", [1, 2, 3, 7])
def test_a_coarse_grid_has_the_least_of_every_few_cells(stride, strip, monkeypatch):
    monkeypatch.setattr(timewarp, "STRIP_CELLS", strip)
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(23, 4, 3)), rng.normal(size=(17, 4, 3))
    whole = distance_grid(a, b, np.ones(4), half_window=1).cost
    found = LongGrid(a, b, np.ones(4), 1).coarse(stride)
    assert found == pytest.approx(np.array(least_of_blocks(whole, stride)), abs=EXACT)


def test_pieces_of_a_diagonal_are_as_long_as_they_should_be():
    cells = stepping((999, (1, 1)))
    assert _places(cells, LIMIT, 0) == [(0, 0), (400, 400), (800, 800), (999, 999)]
    assert _places(cells, LIMIT, 200) == [(0, 0), (200, 200), (600, 600), (999, 999)]
    # What is left after the last place is longer than a quarter of a piece.
    assert _places(cells[:901], LIMIT, 0) == [(0, 0), (400, 400), (900, 900)]
    assert _places(cells[:902], LIMIT, 0) == [(0, 0), (400, 400), (800, 800), (901, 901)]
    assert _places(cells[:300] + np.array([5, 9]), LIMIT, 0) == [(5, 9), (304, 308)]


def test_places_are_put_where_the_path_goes_diagonally_before_and_after():
    cells = stepping((300, (1, 1)), (200, (1, 0)), (400, (1, 1)))
    # Half way along the two clips lies in the run along A: the next calm cell comes after it.
    assert _places(cells, LIMIT, 0) == [(0, 0), (501, 301), (900, 700)]


def test_a_path_without_diagonals_has_places_too():
    cells = stepping(*[(1, (1, 0)), (1, (0, 1))] * 600)
    assert _places(cells, LIMIT, 0) == [(0, 0), (400, 400), (600, 600)]


def test_a_place_that_the_rest_cannot_be_reached_from_is_left_out():
    cells = stepping((100, (1, 1)), (300, (0, 1)))
    assert _places(cells, LIMIT, 300) == [(0, 0), (100, 400)]


@pytest.mark.parametrize(
    ("last", "is_passable"),
    [((3, 3), True), ((1, 7), True), ((1, 8), False), ((0, 2), False), ((2, 0), False)],
)
def test_both_clips_must_go_on_between_places(last, is_passable):
    assert _passable((10, 20), (10 + last[0], 20 + last[1]), LIMIT) == is_passable
    assert _passable((20, 10), (20 + last[1], 10 + last[0]), LIMIT) == is_passable


class Costs:
    """A long grid of known costs."""

    def __init__(self, cost):
        self.cost, self.shape = cost, cost.shape

    def part(self, first, last):
        return self.cost[first[0] : last[0] + 1, first[1] : last[1] + 1]

    def coarse(self, stride):
        return np.array(least_of_blocks(self.cost, stride))


@pytest.mark.parametrize(
    ("n_coarse", "to_corner", "end"),
    [
        (25, False, (49, 49)),  # one frame of A is left: the path goes on with it
        (11, False, (20, 20)),
        (25, True, (49, 56)),
    ],
)
def test_a_long_path_ends_where_it_should_and_counts_every_cell_once(
    n_coarse, to_corner, end, monkeypatch
):
    monkeypatch.setattr(timewarp, "PIECE", 16)
    rng = np.random.default_rng(4)
    i, j = np.indices((50, 57))
    grid = Costs(np.abs(i - j) + 0.1 * rng.random((50, 57)))

    def find(coarse):
        assert coarse.shape == (25, 29)
        return TimePath(np.stack([np.arange(n_coarse)] * 2, axis=-1), 0.0)

    found = find_long_path(
        grid, find, slope_limit=LIMIT, to_corner=to_corner, most_cells=50 * 57 // 4 + 1
    )
    expected = corner(grid.cost[: end[0] + 1, : end[1] + 1])
    assert found.cells.tolist() == expected.cells.tolist()
    assert found.cost == pytest.approx(expected.cost)
