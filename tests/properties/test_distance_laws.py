"""Laws 1 to 6: the distance between frames does not care about place and heading."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from motionloom.errors import ArrayError
from motionloom.registration.timewarp import distance_grid, fit_planar_alignment
from motionloom.rotation.quat import PlanarTransform, wrap_angle
from tests.oracles import distance as plain

SQUARE_M = 1e-9

clouds = arrays(np.float64, (6, 3), elements=st.floats(-2, 2))
weights = arrays(np.float64, 6, elements=st.floats(0.05, 1.0))
planars = st.tuples(st.floats(-7, 7), st.floats(-50, 50), st.floats(-50, 50)).map(
    lambda t: PlanarTransform(*t)
)


def extent(cloud, w):
    ground = cloud[:, [0, 2]]
    return float(np.sum(w[:, None] * (ground - (w / w.sum()) @ ground) ** 2) / w.sum())


@given(clouds, weights, planars)
def test_a_moved_frame_is_no_distance_away_and_the_move_is_found(cloud, w, move):
    theta, offset, distance = fit_planar_alignment(cloud, move.apply(cloud), w)
    assert distance < 1e-8
    if extent(cloud, w) > 1e-3:
        back = move.inverse()
        assert abs(wrap_angle(theta - back.theta)) < 1e-6
        assert np.abs(offset - [back.x0, back.z0]).max() < 1e-4


@given(clouds, clouds, weights)
def test_distance_is_symmetric_and_the_alignments_undo_each_other(a, b, w):
    theta, offset, distance = fit_planar_alignment(a, b, w)
    back_theta, back_offset, back = fit_planar_alignment(b, a, w)
    assert abs(distance - back) < SQUARE_M
    if distance > 1e-6 and min(extent(a, w), extent(b, w)) > 1e-2:
        both = PlanarTransform(theta, *offset) @ PlanarTransform(back_theta, *back_offset)
        points = np.array([[0.0, 0, 0], [1.0, 0, 1.0]])
        moved = both.apply(points)
        # Two alignments of equal worth may exist; then they need not be each other's inverse.
        assert np.abs(moved - points).max() < 1e-5 or abs(abs(wrap_angle(both.theta)) - np.pi) < 1


@given(clouds, clouds, weights, planars, planars)
def test_moving_either_frame_changes_no_distance(a, b, w, move_a, move_b):
    here = fit_planar_alignment(a, b, w)[2]
    there = fit_planar_alignment(move_a.apply(a), move_b.apply(b), w)[2]
    assert abs(here - there) < 1e-8


@given(clouds, clouds, weights)
def test_distance_lies_between_the_heights_and_the_plain_fit(a, b, w):
    distance = fit_planar_alignment(a, b, w)[2]
    w = w / w.sum()
    heights = np.sum(w * (a[:, 1] - b[:, 1]) ** 2)
    ground_a, ground_b = a[:, [0, 2]] - w @ a[:, [0, 2]], b[:, [0, 2]] - w @ b[:, [0, 2]]
    unturned = heights + np.sum(w[:, None] * (ground_a - ground_b) ** 2)
    assert heights - SQUARE_M <= distance <= unturned + SQUARE_M


@given(clouds, weights, planars, st.floats(-1, 1))
def test_lifting_a_copy_costs_the_lift_squared(cloud, w, move, lift):
    raised = move.apply(cloud) + np.array([0.0, lift, 0.0])
    assert abs(fit_planar_alignment(cloud, raised, w)[2] - lift**2) < 1e-8


def assert_same(fast, slow):
    cross, dot = fast.turns(*np.indices(fast.cost.shape))
    found = (fast.cost, cross, dot, fast.centre_a, fast.centre_b)
    for array, plain_array in zip(found, slow, strict=True):
        assert np.abs(array - plain_array).max() < SQUARE_M


@given(st.integers(0, 10_000), st.integers(0, 3), st.integers(1, 9), st.integers(1, 9))
def test_the_grid_is_the_cells_one_by_one(seed, half, n, m):
    rng = np.random.Generator(np.random.PCG64(seed))
    a = rng.normal(size=(n, 5, 3)) + rng.normal(scale=30, size=3) * [1, 0, 1]
    b = rng.normal(size=(m, 5, 3))
    w = rng.random(5) + 0.1
    fast = distance_grid(a, b, w, half_window=half)
    slow = plain.distance_grid(a, b, w, half_window=half)
    assert_same(fast, slow)


@pytest.mark.parametrize("half", [0, 2, 70])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 128, 200])
def test_grids_of_several_blocks_are_the_cells_one_by_one(n, half):
    rng = np.random.Generator(np.random.PCG64(n))
    a, b = (np.cumsum(0.05 * rng.normal(size=(k, 4, 3)), axis=0) for k in (n, 37))
    w = rng.random(4)
    fast = distance_grid(a, b, w, half_window=half)
    slow = plain.distance_grid(a, b, w, half_window=half)
    assert_same(fast, slow)


def test_turns_are_those_of_single_cells_and_of_cells_that_are_there():
    rng = np.random.Generator(np.random.PCG64(3))
    a, b, w = rng.normal(size=(7, 5, 3)), rng.normal(size=(6, 5, 3)), rng.random(5)
    grid = distance_grid(a, b, w)
    cross, dot = grid.turns(*np.indices((7, 6)))
    assert (*grid.turns(np.array([3]), np.array(4)),) == (cross[3, 4], dot[3, 4])
    theta, slide = grid.alignment(np.array([[6], [0]]), np.array([[5], [2]]))
    assert (theta.shape, slide.shape) == ((2, 1), (2, 1, 2))
    for cell in ((7, 0), (0, 6), (-1, 0), (0, -1)):
        with pytest.raises(ArrayError):
            grid.turns(*np.array(cell)[:, None])


def test_points_may_lie_anyhow_in_memory():
    rng = np.random.Generator(np.random.PCG64(2))
    points, w = rng.normal(size=(12, 5, 3)), rng.random(10)[::2]
    here = distance_grid(points[::2], points[::-3], w).cost
    there = distance_grid(points[::2].copy(), points[::-3].copy(), w.copy()).cost
    assert here.tolist() == there.tolist()
    single = distance_grid(points.astype(np.float32), points.astype(np.float32), w)
    assert single.cost.dtype == np.float64


def test_the_order_of_points_does_not_matter():
    rng = np.random.Generator(np.random.PCG64(1))
    a, b, w = rng.normal(size=(7, 5, 3)), rng.normal(size=(6, 5, 3)), rng.random(5)
    order = rng.permutation(5)
    here = distance_grid(a, b, w).cost
    there = distance_grid(a[:, order], b[:, order], w[order]).cost
    assert np.abs(here - there).max() < SQUARE_M


def test_a_cloud_on_one_upright_line_is_not_turned():
    line = np.stack([np.zeros(4), np.arange(4.0), np.zeros(4)], axis=-1)
    theta, offset, distance = fit_planar_alignment(line + np.array([1.0, 0, 2.0]), line, np.ones(4))
    assert (theta, distance) == (0.0, pytest.approx(0.0))
    assert offset.tolist() == [1.0, 2.0]
