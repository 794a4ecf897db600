"""Long clips: the path and the alignments of the whole grid, without making it."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.pointcloud import point_cloud
from motionloom.registration import long_clips, register
from motionloom.registration.distance import distance_grid
from motionloom.registration.long_clips import LongGrid, find_long_path
from motionloom.registration.timewarp import find_corner_path

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
    monkeypatch.setattr(register, "MOST_CELLS", 100_000)
    monkeypatch.setattr(long_clips, "MOST_CELLS", 100_000)
    long = ml.register(walks, ends="match")
    u = np.linspace(*plain.u_range, 300)
    assert np.abs(long.frames(u) - plain.frames(u)).max() < 1e-6
