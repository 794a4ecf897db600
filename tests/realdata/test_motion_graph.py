"""The motion graph on real clips."""

import numpy as np
import pytest

from motionloom.tables.collection.frames import frames_of
from motionloom.tables.graph.motion_graph import MotionGraph
from tests.support.clips import takes_of_143

TAKES = ("143_01", "143_04", "143_32", "143_33", "143_41", "143_42")
LENGTH = 60


@pytest.fixture(scope="module")
def frames(mocap):
    return frames_of([clip[:500] for clip in takes_of_143(mocap, *TAKES)])


@pytest.fixture(scope="module")
def graph(frames):
    return MotionGraph.build(frames)


@pytest.fixture(scope="module")
def pairs(frames):
    rng = np.random.Generator(np.random.PCG64(11))
    return rng.choice(frames.windows(LENGTH), (12, 2)) + np.array([0, LENGTH - 1])


def fastest(motion):
    return np.linalg.norm(np.diff(motion.world_positions(), axis=0), axis=-1).max()


def test_most_of_a_collection_hangs_together(graph):
    assert len(graph.transitions) > 100
    assert graph.transitions.distance_cm.max() <= 8.0
    assert graph.connected_share > 0.5


def test_walks_through_the_graph_are_sound(graph, frames, pairs):
    captured = max(
        fastest(frames.motion(a, b - 1))
        for a, b in zip(frames.starts[:-1], frames.starts[1:], strict=True)
    )
    walked = 0
    for path in graph.paths(pairs[:, 0], pairs[:, 1]):
        if path is None:
            continue
        walk = graph.synthesize(path)
        assert walk.motion.n_frames == path.n_frames + 1
        assert fastest(walk.motion) < 1.5 * captured
        walked += 1
    assert walked > 4
