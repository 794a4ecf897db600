from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from motionloom.blending.join import DROPPED_M
from motionloom.cleanup.finalize import Finalized, finalize
from motionloom.features.checks.verification import FailedCheck, Verification

WALK, JOG = (ml.synthetic.clip(kind, duration_s=2.0) for kind in ("walk", "jog"))


def join(**options: Any) -> ml.Transition:
    plants = (WALK.footplants, JOG.footplants)
    return ml.transition(WALK.motion, JOG.motion, footplants=plants, **options)


def failing(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the first results fail their quality check."""
    left = iter(range(times))

    def worse(*given: Any, **named: Any) -> Finalized:
        done = finalize(*given, **named)
        if next(left, None) is None:
            return done
        flaw = FailedCheck("rotation speed", "LeftLeg", 3, 900.0, 300.0, "deg/s")
        return Finalized(done.motion, done.footplants, done.cleanup, Verification(False, (flaw,)))

    monkeypatch.setattr(sys.modules["motionloom.blending.transition"], "finalize", worse)


def test_the_best_place_is_taken_where_it_passes() -> None:
    best = join()
    assert best.passed_over == 0
    assert best.verification.passed, best.notes
    n_a, n_b = (clip.n_frames - 1 for clip in best.matched.motions)
    ranks = [
        place.cost + DROPPED_M * (1.0 - place.frame_a / n_a + place.frame_b / n_b)
        for place in best.candidates
    ]
    assert ranks == sorted(ranks)


def test_places_that_fail_are_passed_over_and_stay_in_the_list(monkeypatch) -> None:
    places = join().candidates
    assert len(places) > 2
    failing(2, monkeypatch)
    best = join()
    assert best.passed_over == 2
    assert best.candidates[0] == places[2]
    assert best.candidates[1:3] == places[:2]


def test_where_all_fail_the_best_is_taken_and_its_notes_explain_why(monkeypatch) -> None:
    places = join().candidates
    failing(100, monkeypatch)
    best = join()
    assert best.passed_over == 0
    assert best.candidates[0] == places[0]
    assert not best.verification.passed
    assert any("rotation speed" in note and "LeftLeg" in note for note in best.notes)


def test_a_place_that_is_given_or_not_searched_for_stays(monkeypatch) -> None:
    failing(100, monkeypatch)
    best = join(at=(60, 70))
    place = best.candidates[0]
    assert (place.frame_a, place.frame_b) == (60, 70)
    failing(1, monkeypatch)
    assert join(check=False).passed_over == 0


def test_feet_that_are_not_cleaned_have_no_report() -> None:
    assert join(clean=False).cleanup is None


def test_where_no_place_passes_a_longer_blend_is_tried_and_noted(monkeypatch) -> None:
    asked = join()
    failing(len(asked.candidates), monkeypatch)
    other = join()
    assert other.verification.passed
    assert np.diff(other.span) > np.diff(asked.span)
    assert any("no blend of that length passes" in note for note in other.notes)
