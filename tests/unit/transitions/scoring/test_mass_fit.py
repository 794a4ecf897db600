"""Masses fitted to how a collection keeps its balance."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError
from motionloom.motion.masses import mass_segments
from motionloom.transitions.collecting.frames import frames_of
from motionloom.transitions.scoring.kernel import score_recipes
from motionloom.transitions.scoring.mass_fit import fit_masses, support_misses
from motionloom.transitions.scoring.terms import terms_of


@pytest.fixture(scope="module")
def frames():
    clips = [ml.synthetic.clip(kind, duration_s=2.0) for kind in ("walk", "sneak")]
    return frames_of(
        [clip.motion for clip in clips],
        ids=["walk", "sneak"],
        footplants=[clip.footplants for clip in clips],
    )


@pytest.fixture(scope="module")
def fit(frames):
    return fit_masses(frames)


def test_fitted_masses_sum_to_one_and_are_the_same_on_both_sides(frames, fit):
    names = mass_segments(frames.skeleton.n_joints, frames.body_map).names
    mass = dict(zip(names, fit.masses, strict=True))
    assert fit.masses.sum() == pytest.approx(1.0)
    for name in names:
        if name.startswith("left_"):
            assert mass[name] == mass[name.replace("left_", "right_")]
    assert (fit.masses > 0.0).all()


def test_the_fit_misses_the_support_by_less(frames, fit):
    assert fit.after < fit.before
    misses = support_misses(frames, fit.masses)
    assert np.sqrt(np.mean(misses**2)) == pytest.approx(fit.after)


def test_stronger_ties_stay_nearer_to_winter(frames, fit):
    winter = mass_segments(frames.skeleton.n_joints, frames.body_map).masses
    firm = fit_masses(frames, strength=50.0)
    assert np.abs(firm.masses / winter - 1.0).max() < np.abs(fit.masses / winter - 1.0).max()


def test_terms_can_have_the_fitted_masses(frames, fit):
    rows = [20, 60]
    plain, fitted = terms_of(frames, rows, 30), terms_of(frames, rows, 30, masses=fit.masses)
    here, there = score_recipes(plain, [[0, 1]]), score_recipes(fitted, [[0, 1]])
    assert here[0, 0] == there[0, 0]
    assert not np.array_equal(here, there)


def test_weak_ties_are_refused(frames):
    with pytest.raises(ArrayError, match="`strength` must be at least 1"):
        fit_masses(frames, strength=0.1)


def test_a_motion_is_scored_with_masses_that_are_given(frames, fit):
    clip = ml.synthetic.clip("walk", duration_s=2.0)
    plain, fitted = ml.score(clip), ml.score(clip, masses=fit.masses)
    assert fitted.foot_plant == plain.foot_plant
    assert fitted.zmp_mean != plain.zmp_mean
    winter = mass_segments(frames.skeleton.n_joints, frames.body_map).masses
    assert ml.score(clip, masses=3.0 * winter).total == pytest.approx(plain.total)


@pytest.mark.parametrize("masses", [[0.5, 0.5], np.zeros(16)])
def test_masses_that_are_none_are_refused(masses):
    with pytest.raises(ArrayError, match="16 positive parts of body mass"):
        ml.score(ml.synthetic.clip("walk", duration_s=2.0), masses=masses)
