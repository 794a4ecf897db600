"""Bodies of passages that hover over the floor of their windows are lowered."""

import numpy as np
import pytest

from motionloom.features.balance import GRAVITY
from motionloom.tables.synthesis.passage import CLEAR, EDGE_S, Passage, land
from motionloom.tables.synthesis.synthesis import chain_pose, rig_of, sole_points

LENGTH = 60
SMOOTHED_M = 0.05
"""What the lowest sole may be higher than its limit where a body that falls at 2.6 m/s is stopped
within a tenth of a second."""
STANDS, FLIES = np.array([True, True]), np.array([False, True])


@pytest.fixture(scope="module")
def rig(kinds_frames):
    return rig_of(kinds_frames)


@pytest.fixture
def at(kinds_frames):
    """Rows of one captured walk, (1, L)."""
    return kinds_frames.row_of("walk_0", 10) + np.arange(LENGTH)[None]


@pytest.fixture
def walk(kinds_frames, at):
    motion = kinds_frames.motion(int(at[0, 0]), int(at[0, -1]))
    root, quats = np.array(motion.root_positions), np.array(motion.local_quats)
    return Passage(kinds_frames.heading[at[0]], root, quats)


def lifted(passage, heights):
    return passage._replace(root_positions=passage.root_positions + np.outer(heights, [0, 1, 0]))


def lowest(rig, passage):
    pose = chain_pose(rig, passage.root_positions, passage.local_quats)
    return sole_points(rig, *pose)[..., 1].min(axis=1)


def landed(frames, rig, at, passage, stands):
    return land(frames, rig, at, np.ones(1), passage, stands)


def test_a_body_as_high_as_its_windows_stays(kinds_frames, rig, at, walk):
    made = landed(kinds_frames, rig, at, walk, STANDS)
    assert np.array_equal(made.root_positions, walk.root_positions)


def test_a_body_below_its_windows_is_not_lifted(kinds_frames, rig, at, walk):
    low = lifted(walk, -0.2 * np.sin(np.linspace(0.0, np.pi, LENGTH)))
    made = landed(kinds_frames, rig, at, low, STANDS)
    assert np.array_equal(made.root_positions, low.root_positions)


def test_a_higher_floor_is_no_hovering(kinds_frames, rig, at, walk):
    higher = lifted(walk, np.linspace(0.2, 0.3, LENGTH))
    made = landed(kinds_frames, rig, at, higher, STANDS)
    assert np.allclose(made.root_positions, higher.root_positions, atol=1e-6)


def test_a_body_that_hovers_between_two_stances_comes_down(kinds_frames, rig, at, walk):
    high = lifted(walk, 0.3 * np.sin(np.linspace(0.0, np.pi, LENGTH)) ** 2)
    made = landed(kinds_frames, rig, at, high, STANDS)
    floor = lowest(rig, walk)
    assert (lowest(rig, high) - floor).max() > 0.29
    assert (lowest(rig, made) - floor).max() < CLEAR + SMOOTHED_M
    assert (lowest(rig, made) - floor).min() > -1e-6
    ends = [0, -1]
    assert np.array_equal(made.root_positions[ends], high.root_positions[ends])
    assert np.array_equal(made.local_quats, high.local_quats)
    assert np.array_equal(made.root_positions[:, [0, 2]], high.root_positions[:, [0, 2]])


@pytest.mark.parametrize("backwards", [False, True], ids=["at the start", "at the end"])
def test_a_body_in_the_air_at_an_end_is_as_high_as_one_that_falls(
    kinds_frames, rig, at, walk, backwards
):
    up = 0.4 * np.linspace(1.0, 0.0, LENGTH)
    order = -1 if backwards else 1
    high = lifted(walk, up[::order])
    made = landed(kinds_frames, rig, at, high, FLIES[::order])
    floor, was, now = (lowest(rig, each)[::order] for each in (walk, high, made))
    t = np.arange(LENGTH) / kinds_frames.fps
    height = high.root_positions[::order, 1]
    flight = was[0] + kinds_frames.fps * (height[1] - height[0]) * t - 0.5 * GRAVITY * t * t
    assert now[0] == was[0]
    late = t > EDGE_S
    assert (now - np.maximum(flight, floor))[late].max() < CLEAR + SMOOTHED_M
    assert (was - np.maximum(flight, floor))[late].max() > 0.15
    assert (now - floor).min() > -1e-6
    bends = np.abs(np.diff(made.root_positions[:, 1], 2)).max() * kinds_frames.fps**2
    assert bends < 40.0


def test_short_gaps_are_no_longer_than_the_time_of_a_landing(kinds_frames, rig, at, walk):
    for length in (3, 5):
        part = Passage(*(each[:length] for each in walk))
        made = landed(kinds_frames, rig, at[:, :length], part, FLIES)
        assert np.array_equal(made.root_positions[[0, -1]], part.root_positions[[0, -1]])
