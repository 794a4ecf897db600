"""Baselines of tables on real clips: graph, hidden Markov models, switches."""

import warnings

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.evaluation.roc import roc_curve
from motionloom.tables.graph.motion_graph import MotionGraph
from studies.baselines.hmm import HmmEnsemble
from studies.baselines.inertialize import inertialized_transition
from studies.baselines.limb_groups import body_parts
from studies.baselines.motion_matching import MatchIndex, matching_transition
from studies.measures.window_batch import WindowBatch

TAKES = ("143_01", "143_04", "143_32", "143_33", "143_41", "143_42")
LENGTH = 60
ROUND_OFF_M = 1e-5


@pytest.fixture(scope="module")
def frames(mocap):
    clips = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in TAKES:
            file = mocap / "cmu_bvh" / f"{name}.bvh"
            if file.is_file():
                clips.append(ml.load(file, fps=60.0)[:500].replace(name=name))
    if len(clips) < len(TAKES):
        pytest.skip("takes of CMU subject 143 are missing")
    return frames_of(clips)


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


def test_switches_begin_and_end_where_they_must(frames, pairs):
    index = MatchIndex.build(frames)
    for source, target in pairs:
        here = frames.motion(source, source).world_positions()[0]
        for made in (
            inertialized_transition(frames, source, target, LENGTH),
            matching_transition(index, source, target, LENGTH),
        ):
            there = made.motion(frames).world_positions()
            assert np.allclose(there[0], here, atol=ROUND_OFF_M)
            assert np.allclose(
                np.abs(made.local_quats[-1, 1:]), np.abs(frames.quats[target, 1:]), atol=1e-5
            )


def test_windows_of_takes_not_seen_are_likelier_than_the_same_windows_spoilt(frames):
    rows = frames.windows(LENGTH, stride=7)
    clips = np.array([frames.clip_at(int(row)) for row in rows])
    part = {"body": body_parts(frames.skeleton, frames.body_map)["body"]}
    seen = WindowBatch.of_rows(frames, rows[clips % 2 == 0], LENGTH)
    model = HmmEnsemble.fit(seen, part, restarts=1)
    held = WindowBatch.of_rows(frames, rows[clips % 2 == 1], LENGTH)
    rng = np.random.Generator(np.random.PCG64(0))
    shaken = (held.body + 0.004 * rng.normal(size=held.body.shape)).astype(np.float32)
    corrupted = WindowBatch(held.heading, held.ground, shaken, held.fps)
    good = np.repeat([True, False], len(held))
    scores = np.concatenate([model.score(held), model.score(corrupted)])
    assert roc_curve(good, scores).auc > 0.8
