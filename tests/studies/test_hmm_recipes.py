"""Blends judged by sums of what a model saw of their windows."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.score.recipe import Recipe, rows_at
from studies.baselines.hmm import HmmEnsemble
from studies.baselines.hmm_recipes import hmm_terms, score_recipes
from studies.baselines.limb_groups import body_parts
from studies.measures.window_batch import WindowBatch
from tests.oracles.blend_kernel import track_of
from tests.studies import plain_hmm as plain

LENGTH = 40
FLOAT32_SCORE = 1e-3


@pytest.fixture(scope="module")
def frames():
    return frames_of([ml.synthetic.clip(n).motion.replace(name=n) for n in ("walk", "jog")])


@pytest.fixture(scope="module")
def ensemble(frames):
    parts = {"body": body_parts(frames.skeleton, frames.body_map)["body"]}
    windows = WindowBatch.of_rows(frames, frames.windows(LENGTH), LENGTH)
    return HmmEnsemble.fit(windows, parts, states=4, dimensions=10, restarts=1)


@pytest.fixture(scope="module")
def terms(ensemble, frames):
    return hmm_terms(ensemble, frames, [0, 5, 20, frames.row_of("jog", 3)], LENGTH)


def test_the_scores_are_the_plain_ones(terms):
    ids = np.array([[0, 1, 2, 3], [3, 3, 3, 3], [2, 0, 1, 0]])
    for ways in (1, 2, 3, 4):
        fast, slow = score_recipes(terms, ids[:, :ways]), plain.score_recipes(terms, ids[:, :ways])
        assert np.allclose(fast, slow, rtol=1e-10, atol=1e-10)
    assert score_recipes(terms, ids[:0]).shape == (0,)


def test_a_window_blended_with_itself_scores_as_captured(terms, ensemble, frames):
    captured = ensemble.part_scores(WindowBatch.of_rows(frames, [0, 20], LENGTH))[:, 0]
    assert np.allclose(score_recipes(terms, [[0, 0, 0], [2, 2, 2]]), captured, atol=FLOAT32_SCORE)


def test_a_blend_scores_nearly_as_when_it_is_made(terms, ensemble, frames):
    recipe = Recipe((0, frames.row_of("jog", 3)), LENGTH)
    at, track = rows_at(frames, recipe), track_of(frames, recipe)
    body = np.einsum("it,tijc->tjc", recipe.weights(), frames.body[at].astype(float))
    made = WindowBatch(
        track.heading[None], track.ground[None], body[None].astype(np.float32), frames.fps
    )
    # The walked root is a sum of steps with one frame's weights, the judged one of two frames'.
    assert score_recipes(terms, [[0, 3]])[0] == pytest.approx(
        ensemble.part_scores(made)[0, 0], abs=0.05
    )


def test_wrong_windows_are_refused(terms):
    with pytest.raises(ArrayError, match="0 to 3"):
        score_recipes(terms, [[0, 4]])
