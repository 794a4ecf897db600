"""Masses fitted to how a collection keeps its balance."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError
from motionloom.motion.masses import mass_segments
from motionloom.transitions.frames import frames_of
from motionloom.transitions.kernel import score_recipes
from motionloom.transitions.mass_fit import fit_masses, support_misses
from motionloom.transitions.terms import terms_of


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
