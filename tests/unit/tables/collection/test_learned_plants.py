"""The learned plant classifier: it learns what it is shown, and can be asked for by name."""

import numpy as np
import pytest
from scipy.optimize import minimize

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, SkeletonMismatchError
from motionloom.motion.corrupt import corrupt
from motionloom.motion.motion import Footplants
from motionloom.tables.collection.learned_plants import (
    RIDGE,
    _fit_logistic,
    classify_plants,
    plants_by,
    train_plants,
)

AGREES = 0.95
"""Share of frames in which learned plants must be the true ones, on clips not learned from."""


@pytest.fixture(scope="module")
def learned():
    shown = []
    for seed, kind in enumerate(("walk", "jog", "stand", "sneak")):
        clip = ml.synthetic.clip(kind, seed=3, duration_s=3.0)
        shown.append((corrupt(clip.motion, noise_m=0.002, seed=seed), clip.footplants))
    return train_plants(shown)


@pytest.mark.parametrize("kind", ["walk", "jog", "stand"])
def test_plants_of_a_clip_that_was_not_shown_are_found(learned, kind):
    clip = ml.synthetic.clip(kind, seed=11, turn=0.4 if kind != "stand" else None)
    found = classify_plants(corrupt(clip.motion, noise_m=0.002, seed=99), learned)
    assert np.mean(found.planted == clip.footplants.planted) > AGREES


def test_left_and_right_are_alike(learned):
    clip = ml.synthetic.clip("walk", seed=11)
    found = classify_plants(clip.motion, learned).planted
    mirrored = classify_plants(ml.mirror(clip.motion), learned).planted[:, [2, 3, 0, 1]]
    assert np.mean(found == mirrored) > AGREES


def test_the_same_examples_give_the_same_classifier():
    clip = ml.synthetic.clip("walk", duration_s=2.0)
    first, second = (train_plants([(clip.motion, clip.footplants)]) for _ in range(2))
    assert np.array_equal(first.weights, second.weights)


def test_labels_can_be_anybodys(learned):
    clip = ml.synthetic.clip("walk", duration_s=2.0)
    never = Footplants(np.zeros_like(clip.footplants.planted))
    assert not classify_plants(clip.motion, train_plants([(clip.motion, never)])).planted.any()


def test_the_method_is_chosen_by_name():
    motion = ml.synthetic.clip("walk", duration_s=2.0).motion
    body = BodyMap.guess(motion.skeleton)
    by_rules = plants_by("thresholds", motion, body)
    assert np.array_equal(by_rules.planted, ml.detect_footplants(motion).planted)
    with pytest.raises(ArrayError, match="thresholds, learned"):
        plants_by("oracle", motion, body)


def test_what_cannot_be_learned_is_refused():
    with pytest.raises(ArrayError, match="at least one"):
        train_plants([])
    skeleton = ml.Skeleton(["root", "tip"], [-1, 0], [[0, 0, 0], [0, 0.5, 0]])
    quats = np.tile([1.0, 0.0, 0.0, 0.0], (9, 2, 1))
    stick = ml.Motion(skeleton, np.zeros((9, 3)), quats, 30)
    with pytest.raises(SkeletonMismatchError):
        train_plants([(stick, Footplants(np.zeros((9, 4), dtype=bool)))])


@pytest.mark.parametrize("seed", range(4))
def test_no_other_coefficients_have_a_smaller_loss(seed):
    rng = np.random.default_rng(seed)
    inputs = np.concatenate([rng.normal(size=(200, 5)), np.ones((200, 1))], axis=1)
    labels = inputs @ rng.normal(size=6) > (0.0 if seed % 2 else rng.normal(size=200))
    signs = np.where(labels, 1.0, -1.0)

    def loss(weights):
        margin = signs * (inputs @ weights)
        return np.logaddexp(0.0, -margin).mean() + 0.5 * RIDGE * weights @ weights

    theirs = minimize(loss, np.zeros(6), tol=1e-12)
    assert loss(_fit_logistic(inputs, labels)) == pytest.approx(theirs.fun, rel=1e-6)
