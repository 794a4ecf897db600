"""HmmEnsemble: captured windows are likely, corrupted ones are not."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.tables.collection.frames import frames_of
from studies.baselines.hmm import HmmEnsemble
from studies.baselines.limb_groups import body_parts
from studies.measures.window_batch import WindowBatch

LENGTH = 40
FLOAT32_SCORE = 2e-3
"""Scores of the same window, whose positions were rounded to single precision in another place."""


@pytest.fixture(scope="module")
def frames():
    made = [ml.synthetic.clip(name).motion.replace(name=name) for name in ("walk", "jog", "stand")]
    return frames_of(made)


@pytest.fixture(scope="module")
def windows(frames):
    return WindowBatch.of_rows(frames, frames.windows(LENGTH, stride=2), LENGTH)


@pytest.fixture(scope="module")
def parts(frames):
    every = body_parts(frames.skeleton, frames.body_map)
    return {name: every[name] for name in ("body", "left leg", "left arm and right leg")}


@pytest.fixture(scope="module")
def ensemble(windows, parts):
    return HmmEnsemble.fit(windows, parts, states=4, dimensions=12, restarts=2)


def test_there_are_eleven_parts(frames):
    parts = body_parts(frames.skeleton, frames.body_map)
    assert len(parts) == 11
    assert len(parts["left arm and right leg"]) == 7
    assert set(parts["left leg"]) < set(parts["body"])


def test_a_skeleton_without_arms_is_refused(frames):
    with pytest.raises(SkeletonMismatchError, match="left arm"):
        body_parts(frames.skeleton, BodyMap(pelvis=0))


def test_captured_windows_score_about_nothing(ensemble, windows):
    scores = ensemble.part_scores(windows)
    assert scores.shape == (len(windows), 3)
    assert np.allclose(scores.mean(axis=0), 0.0, atol=1e-6)
    assert np.allclose(scores.std(axis=0), 1.0, atol=1e-6)
    assert (ensemble.score(windows) == scores.min(axis=1)).all()


def test_a_shaking_body_is_less_likely(ensemble, windows):
    rng = np.random.Generator(np.random.PCG64(0))
    shaken = windows.body + 0.01 * rng.normal(size=windows.body.shape)
    corrupted = WindowBatch(windows.heading, windows.ground, shaken.astype(np.float32), windows.fps)
    assert ensemble.score(corrupted).max() < np.quantile(ensemble.score(windows), 0.05)


def test_a_body_that_glides_sideways_is_less_likely(ensemble, windows):
    glide = np.arange(LENGTH)[:, None] / windows.fps * np.array([4.0, 0.0])
    corrupted = WindowBatch(windows.heading, windows.ground + glide, windows.body, windows.fps)
    body = ensemble.part_scores(corrupted, ["body"])[:, 0]
    assert np.median(body) < np.median(ensemble.part_scores(windows, ["body"])) - 1.0


def test_place_and_heading_do_not_matter(ensemble, frames):
    row = frames.row_of("walk", 9)
    moved = ml.move(frames.motion(row, row + LENGTH - 1), heading=1.1, x=4.0, z=-2.0)
    there = WindowBatch.of_motions([moved], body=frames.body_map)
    here = WindowBatch.of_motions([frames.motion(row, row + LENGTH - 1)], body=frames.body_map)
    assert np.allclose(ensemble.score(there), ensemble.score(here), atol=FLOAT32_SCORE)


def test_the_same_seed_gives_the_same_models(windows, parts, ensemble):
    again = HmmEnsemble.fit(windows, parts, states=4, dimensions=12, restarts=2)
    assert (again.score(windows) == ensemble.score(windows)).all()


def test_what_the_chain_sees_is_uncorrelated_and_of_unit_size(windows, ensemble):
    model = ensemble.part("left leg")
    seen = model.sequences(ensemble.signals(windows, model))
    flat = seen.reshape(-1, seen.shape[-1])
    assert np.allclose(flat.mean(axis=0), 0.0, atol=1e-6)
    assert np.allclose(np.cov(flat, rowvar=False), np.eye(flat.shape[1]), atol=1e-6)


def test_wrong_arguments_are_refused(ensemble, windows, parts, frames):
    with pytest.raises(ArrayError, match="tail"):
        ensemble.part("tail")
    other = WindowBatch(windows.heading, windows.ground, windows.body, 24.0)
    with pytest.raises(ArrayError, match="24"):
        ensemble.score(other)
    with pytest.raises(ArrayError, match="states"):
        HmmEnsemble.fit(WindowBatch.of_rows(frames, [0], LENGTH), parts)
    with pytest.raises(ArrayError, match="longer"):
        HmmEnsemble.fit(WindowBatch.of_rows(frames, np.arange(20), 4), parts)
    with pytest.raises(ArrayError, match="rows"):
        WindowBatch.of_rows(frames, [frames.n_rows], LENGTH)
    with pytest.raises(ArrayError, match="equally long"):
        WindowBatch.of_motions([frames.motion(0, 9), frames.motion(0, 10)])
    with pytest.raises(ArrayError, match="at least one"):
        WindowBatch.of_motions([])


def test_models_of_a_collection_are_fitted_to_windows_drawn_from_it(frames, parts):
    model = HmmEnsemble.fit_frames(frames, LENGTH, count=40, parts={"body": parts["body"]})
    assert model.part("body").chain.start.shape == (8,)
