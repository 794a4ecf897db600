"""Windows about edges: the compiled form against the plain one, and what they promise."""

import numpy as np
import pytest

from motionloom._core import CoreError
from motionloom.errors import ArrayError
from motionloom.features.footplants.plant_edges import edge_windows
from tests.oracles import edge_windows as plain

FLOAT64 = 1e-12
EDGES = np.array([24, 31, 55])


@pytest.fixture
def track():
    return np.random.Generator(np.random.PCG64(6)).normal(size=(90, 3)).cumsum(axis=0)


@pytest.mark.parametrize("block", [1, 2])
@pytest.mark.parametrize(("before", "after"), [(8, 12), (0, 5), (1, 2), (0, 2)])
def test_compiled_and_plain_windows_agree(track, before, after, block):
    got = edge_windows(track, EDGES, before, after, block)
    expected = plain.edge_windows(track, EDGES, before, after, block)
    for a, b in zip(got, expected, strict=True):
        assert a.shape == b.shape
        assert np.allclose(a, b, rtol=0.0, atol=FLOAT64)


def test_windows_begin_at_nought_and_leave_along_their_first_axis(track):
    ground, height = edge_windows(track, EDGES, 6, 6, 1)
    assert not ground[0].any() and not height[0].any()
    leaves = ground[-2:].mean(axis=0) - ground[:3].mean(axis=0)
    assert (leaves[:, 0] > 0.0).all()
    assert np.allclose(leaves[:, 1], 0.0, atol=FLOAT64)


def test_a_point_that_goes_nowhere_keeps_its_axes():
    track = np.zeros((20, 3))
    track[:, 1] = np.arange(20)
    ground, height = edge_windows(track, np.array([10]), 4, 4, 1)
    assert not ground.any()
    assert np.array_equal(height[:, 0, 0], -np.arange(8))


def test_no_edges_have_no_windows(track):
    ground, height = edge_windows(track, EDGES[:0], 6, 6, 1)
    assert (ground.shape, height.shape) == ((12, 0, 2), (12, 0, 1))


@pytest.mark.parametrize(("edge", "fits"), [(11, False), (12, True), (76, True), (77, False)])
def test_windows_beyond_the_clip_are_refused(track, edge, fits):
    edges = np.array([40, edge])
    if fits:
        assert edge_windows(track, edges, 6, 7, 2)[0].shape == (13, 2, 2)
    else:
        with pytest.raises(ArrayError, match="ml_edge_windows"):
            edge_windows(track, edges, 6, 7, 2)


@pytest.mark.parametrize(
    ("before", "after", "block"), [(-1, 3, 1), (3, -1, 1), (1, 1, 0), (1, 1, -1), (0, 0, 1)]
)
def test_sizes_that_are_none_are_refused(before, after, block):
    with pytest.raises(CoreError):
        edge_windows(np.zeros((50, 3)), np.array([25]), before, after, block)


@pytest.mark.parametrize(("edge", "is_inside"), [(3, False), (4, True), (44, True), (45, False)])
def test_a_window_lies_inside_of_the_clip(edge, is_inside):
    points, edges = np.zeros((50, 3)), np.array([edge])
    if is_inside:
        ground, _ = edge_windows(points, edges, 2, 3, 2)
        assert ground.shape == (5, 1, 2)
    else:
        with pytest.raises(CoreError):
            edge_windows(points, edges, 2, 3, 2)
