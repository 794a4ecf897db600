"""Baselines of tables on real clips: hidden Markov models, switches."""

import numpy as np
import pytest

from motionloom.tables.collection.frames import frames_of
from motionloom.tables.evaluation.roc import roc_curve
from studies.baselines.hmm import HmmEnsemble
from studies.baselines.inertialize import inertialized_transition
from studies.baselines.limb_groups import body_parts
from studies.baselines.motion_matching import MatchIndex, matching_transition
from studies.measures.window_batch import WindowBatch
from tests.support.clips import takes_of_143

TAKES = ("143_01", "143_04", "143_32", "143_33", "143_41", "143_42")
LENGTH = 60
ROUND_OFF_M = 1e-5


@pytest.fixture(scope="module")
def frames(mocap):
    return frames_of([clip[:500] for clip in takes_of_143(mocap, *TAKES)])


@pytest.fixture(scope="module")
def pairs(frames):
    rng = np.random.Generator(np.random.PCG64(11))
    return rng.choice(frames.windows(LENGTH), (12, 2)) + np.array([0, LENGTH - 1])


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
