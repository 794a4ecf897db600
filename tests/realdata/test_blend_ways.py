"""Clips whose blend fails with the usual registration and passes with another."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import motionloom as ml


def _load(path: Path) -> ml.Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ml.load(path)


def test_another_registration_is_taken_where_the_usual_one_fails(mocap: Path) -> None:
    wave, kick = (_load(mocap / "audit" / f"{name}.bvh") for name in ("141_20", "74_05"))
    weights = [0.3, 0.7]
    usual = ml.blend(ml.register([wave, kick]), weights)
    assert not usual.verification.passed
    made = ml.blend([wave, kick], weights)
    assert made.verification.passed, made.verification.describe()
    said = [note for note in made.notes if note.startswith("registered with cover=0.3, ")]
    assert len(said) == 1
    assert made.motion.n_frames >= usual.motion.n_frames  # nothing of the clips is lost
    assert set(usual.curve.notes) <= set(made.notes)
    with pytest.raises(ml.ArrayError, match="a curve knows its roles"):
        ml.blend(made.curve, weights, body=ml.BodyMap.guess(wave.skeleton))


def test_a_blend_that_passes_is_that_of_the_usual_registration(mocap: Path) -> None:
    walks = [_load(mocap / "audit" / f"{name}.bvh") for name in ("16_22", "35_01")]
    made = ml.blend(walks, [0.5, 0.5])
    usual = ml.blend(ml.register(walks), [0.5, 0.5])
    assert made.verification.passed and made.notes == usual.notes
    assert (made.motion.local_quats == usual.motion.local_quats).all()
