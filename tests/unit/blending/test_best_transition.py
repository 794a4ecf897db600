from __future__ import annotations

from typing import Any

import pytest

import motionloom as ml
from motionloom.blending import best_transition as module
from motionloom.blending.best_transition import best_transition, seam_ratios
from motionloom.blending.finish import Finished, finish
from motionloom.features.verify import Gate, Verification
from motionloom.findings import Finding
from motionloom.motion.body import BodyMap


@pytest.fixture(scope="module")
def pair() -> dict[str, Any]:
    walk, jog = (ml.synthetic.clip(kind, duration_s=2.0) for kind in ("walk", "jog"))
    return {
        "a": walk.motion, "b": jog.motion, "gate": Gate([walk.motion, jog.motion]),
        "footplants": (walk.footplants, jog.footplants),
        "body": BodyMap.guess(walk.motion.skeleton),
    }  # fmt: skip


def failing(times: int, monkeypatch: pytest.MonkeyPatch, where: str = "joint step") -> None:
    """Make the first results fail their gate."""
    left = iter(range(times))

    def worse(*told: Any, **said: Any) -> Finished:
        done = finish(*told, **said)
        if next(left, None) is None:
            return done
        gate = Verification(False, (Finding("error", where, "too much"),), 2.0, 1.0, 1.0)
        return Finished(done.motion, done.footplants, done.feet, gate, gate)

    monkeypatch.setattr(module, "finish", worse)


def test_the_best_place_is_taken_where_it_passes(pair) -> None:
    best = best_transition(**pair)
    assert best.passed_over == 0
    assert best.finished.gate.passed
    costs = [place.cost for place in best.joined.candidates]
    assert costs == sorted(costs)


def test_places_that_fail_are_passed_over_and_stay_in_the_list(pair, monkeypatch) -> None:
    places = best_transition(**pair).joined.candidates
    assert len(places) > 2
    failing(2, monkeypatch)
    best = best_transition(**pair)
    assert best.passed_over == 2
    assert best.joined.candidates[0] == places[2]
    assert best.joined.candidates[1:3] == places[:2]


def test_where_all_fail_the_best_is_taken(pair, monkeypatch) -> None:
    places = best_transition(**pair).joined.candidates
    failing(100, monkeypatch)
    best = best_transition(**pair)
    assert best.passed_over == 0
    assert best.joined.candidates[0] == places[0]
    assert not best.finished.acceptable


def test_a_place_that_is_given_or_not_searched_for_stays(pair, monkeypatch) -> None:
    failing(100, monkeypatch)
    best = best_transition(**pair, at=(60, 70))
    place = best.joined.candidates[0]
    assert (place.frame_a, place.frame_b) == (60, 70)
    failing(1, monkeypatch)
    assert best_transition(**pair, search=False).passed_over == 0


def test_seams_are_no_faster_than_the_whole(pair) -> None:
    best = best_transition(**pair)
    ratios = seam_ratios(best.finished.motion, best.joined.span, pair["gate"])
    assert 0.0 < max(ratios) <= best.finished.gate.step_ratio


def test_feet_that_are_not_cleaned_have_no_report(pair) -> None:
    best = best_transition(**pair, clean=False)
    assert best.finished.feet is None
    assert best.finished.gate is best.finished.before
