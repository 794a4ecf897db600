"""Scores on captured clips of CMU 143: the kernel, captured seconds, and flights."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.columns import PAPER, column, score_recipes
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.score.score import score_motion
from motionloom.tables.score.stance import plants_of
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.search import search_pair
from tests.oracles.blend_score import measure_blend
from tests.support.clips import takes_of_143

LENGTH = 60
FOOT_IN = 2e-5
ZMP_IN = 2e-3
TAKES = ("143_01", "143_06", "143_32", "143_23")
"""Run, jump, walk, punch."""


@pytest.fixture(scope="module")
def motions(mocap):
    return takes_of_143(mocap, *TAKES)


@pytest.fixture(scope="module")
def frames(motions):
    return frames_of(motions)


@pytest.fixture(scope="module")
def windows(frames):
    rng = np.random.Generator(np.random.PCG64(3))
    return rng.choice(frames.windows(LENGTH), 40, replace=False)


def test_the_kernel_measures_captured_blends_as_the_plain_form_does(frames, windows):
    terms, plants = terms_of(frames, windows, LENGTH), plants_of(frames)
    rng = np.random.Generator(np.random.PCG64(4))
    for recipe in rng.integers(0, len(windows), (25, 4)):
        columns = score_recipes(terms, [recipe])[0]
        plain = measure_blend(frames, plants, [int(windows[i]) for i in recipe], LENGTH)
        assert columns[column("planted")] == plain["planted"]
        assert columns[column("foot_in")] == pytest.approx(plain["foot_in"], abs=FOOT_IN)
        assert columns[column("zmp_max_in")] == pytest.approx(plain["zmp_max_in"], abs=ZMP_IN)


def test_captured_seconds_mostly_pass_and_random_blends_mostly_do_not(frames, windows):
    terms = terms_of(frames, windows, LENGTH)
    captured = PAPER.cost(score_recipes(terms, np.arange(len(windows))[:, None]))
    rng = np.random.Generator(np.random.PCG64(5))
    blends = PAPER.cost(score_recipes(terms, rng.integers(0, len(windows), (200, 4))))
    assert np.mean(captured < 6.0) > 0.7
    assert np.mean(blends < 6.0) < 0.5


def test_a_captured_second_scores_alike_as_a_window_and_as_a_motion(frames, windows):
    terms = terms_of(frames, windows, LENGTH)
    columns = score_recipes(terms, np.arange(len(windows))[:, None])
    for k in range(0, len(windows), 8):
        row, reach = int(windows[k]), terms.arrays.reach[k]
        first, last = row - int(reach[0]), row + LENGTH - 1 + int(reach[1])
        plants = np.array(frames.planted[first : last + 1])
        plants[:, [0, 2]] = False  # windows of recipes stand on their balls alone
        found = score_motion(frames.motion(first, last), ml.Footplants(plants))
        # The motion's plants reach into the frames around the window, so feet differ a little.
        assert found.zmp_mean == pytest.approx(columns[k, column("zmp_mean_in")], abs=0.5)


def test_searches_by_naturalness_find_the_best_of_all_captured_blends(frames, windows):
    terms = terms_of(frames, windows[:14], LENGTH)
    between = np.arange(14)
    found = search_pair(terms, 0, 1, between, keep=5, ranking=NATURAL)
    every = [[0, 1, -1, -1]]
    every += [[0, i, 1, -1] for i in between]
    every += [[0, i, j, 1] for i in between for j in between]
    costs = np.sort(NATURAL.cost(score_recipes(terms, every)))
    assert np.allclose(found.costs[0], costs[:5], rtol=1e-6)
