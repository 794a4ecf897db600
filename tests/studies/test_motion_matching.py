"""Motion matching: which window is found, and what it is made into."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection.frames import frames_of
from studies.baselines.motion_matching import MatchIndex, matching_transition

FLOAT32 = 1e-6
LENGTH = 30


@pytest.fixture(scope="module")
def index():
    names = ("walk", "run", "stand")
    return MatchIndex.build(frames_of([ml.synthetic.clip(n).motion.replace(name=n) for n in names]))


def test_a_captured_window_is_found_by_its_own_ends(index):
    for row in (3, 40, index.frames.row_of("run", 9)):
        assert index.nearest(row, row + LENGTH - 1, LENGTH) == row


def test_the_found_window_is_the_nearest_of_all(index):
    source, target = index.frames.row_of("walk", 20), index.frames.row_of("run", 41)
    every = index.frames.windows(LENGTH)
    apart = [
        np.sum((index.features[row] - index.features[source]) ** 2)
        + np.sum((index.features[row + LENGTH - 1] - index.features[target]) ** 2)
        for row in every
    ]
    assert index.nearest(source, target, LENGTH) == every[int(np.argmin(apart))]


def test_what_is_excluded_is_not_taken(index):
    row = 40
    span = (0, int(index.frames.starts[1]) - 1)
    found = index.nearest(row, row + LENGTH - 1, LENGTH, exclude=[span])
    assert found > span[1]
    near = index.nearest(row, row + LENGTH - 1, LENGTH, exclude=[(row + 5, row + 8)])
    assert near + LENGTH - 1 < row + 5 or near > row + 8


def test_features_do_not_depend_on_place_and_heading(index):
    frames = index.frames
    moved = [
        ml.move(frames.motion(a, b - 1), heading=1.0, x=9.0, z=-3.0)
        for a, b in zip(frames.starts[:-1], frames.starts[1:], strict=True)
    ]
    again = MatchIndex.build(frames_of(moved, ids=frames.ids))
    assert np.allclose(again.features, index.features, atol=2e-3)


def test_a_transition_starts_in_the_source_and_ends_in_the_target(index):
    frames = index.frames
    source, target = frames.row_of("walk", 20), frames.row_of("run", 41)
    made = matching_transition(index, source, target, LENGTH)
    motion = made.motion(frames)
    here = frames.motion(source, source)
    assert np.allclose(motion.world_positions()[0], here.world_positions()[0], atol=FLOAT32)
    assert np.allclose(made.local_quats[-1, 1:], frames.quats[target, 1:], atol=FLOAT32)
    assert motion.n_frames == LENGTH


def test_wrong_arguments_are_refused(index):
    with pytest.raises(ArrayError, match="source"):
        matching_transition(index, -1, 5, LENGTH)
    with pytest.raises(ArrayError, match="length"):
        matching_transition(index, 1, 5, 1)
    with pytest.raises(TableError, match="shorter"):
        index.nearest(1, 5, 100_000)
