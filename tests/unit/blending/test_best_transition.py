from __future__ import annotations

from typing import Any

import pytest

import motionloom as ml
from motionloom.blending import best_transition as module
from motionloom.blending.best_transition import best_transition
from motionloom.blending.finish import Finished, finish
from motionloom.blending.pair import Pair, pair_of
from motionloom.features.checks.failed import FailedCheck
from motionloom.features.verify import Verification


@pytest.fixture(scope="module")
def pair() -> Pair:
    walk, jog = (ml.synthetic.clip(kind, duration_s=2.0) for kind in ("walk", "jog"))
    return pair_of(walk.motion, jog.motion, footplants=(walk.footplants, jog.footplants))


def failing(times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the first results fail their quality check."""
    left = iter(range(times))

    def worse(*given: Any, **named: Any) -> Finished:
        done = finish(*given, **named)
        if next(left, None) is None:
            return done
        flaw = FailedCheck("rotation speed", "LeftLeg", 3, 900.0, 300.0, "deg/s")
        return Finished(done.motion, done.footplants, done.feet, Verification(False, (flaw,)))

    monkeypatch.setattr(module, "finish", worse)


def test_the_best_place_is_taken_where_it_passes(pair: Pair) -> None:
    best = best_transition(pair)
    assert best.passed_over == 0
    assert best.finished.verification.passed, best.finished.notes
    costs = [place.cost for place in best.joined.candidates]
    assert costs == sorted(costs)


def test_places_that_fail_are_passed_over_and_stay_in_the_list(pair, monkeypatch) -> None:
    places = best_transition(pair).joined.candidates
    assert len(places) > 2
    failing(2, monkeypatch)
    best = best_transition(pair)
    assert best.passed_over == 2
    assert best.joined.candidates[0] == places[2]
    assert best.joined.candidates[1:3] == places[:2]


def test_where_all_fail_the_best_is_taken_and_its_notes_say_why(pair, monkeypatch) -> None:
    places = best_transition(pair).joined.candidates
    failing(100, monkeypatch)
    best = best_transition(pair)
    assert best.passed_over == 0
    assert best.joined.candidates[0] == places[0]
    assert not best.finished.verification.passed
    assert any("rotation speed" in note and "LeftLeg" in note for note in best.finished.notes)


def test_a_place_that_is_given_or_not_searched_for_stays(pair, monkeypatch) -> None:
    failing(100, monkeypatch)
    best = best_transition(pair, at=(60, 70))
    place = best.joined.candidates[0]
    assert (place.frame_a, place.frame_b) == (60, 70)
    failing(1, monkeypatch)
    assert best_transition(pair, search=False).passed_over == 0


def test_feet_that_are_not_cleaned_have_no_report(pair: Pair) -> None:
    assert best_transition(pair, clean=False).finished.feet is None
