"""Which of several attempts to fill a gap is taken, with fills and checks made up."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from motionloom.tables.synthesis import fill as filling
from motionloom.tables.synthesis.fill import ATTEMPTS, LITTLE, Attempt, GapMotion, attempts
from motionloom.tables.synthesis.gap_windows import COUNT, RATES, Matches

LENGTH = 13


@dataclass(frozen=True)
class Made:
    """Stands for a fill: the attempt that made it."""

    attempt: Attempt
    verification: object = None
    footplants: object = None
    notes: tuple[str, ...] = ("a note",)


@pytest.fixture
def tried(monkeypatch):
    """Attempts as they are made; those in ``bad`` are so bad, all others pass.

    Feet of those in ``swept`` go a little over the floor.
    """
    calls, bad, swept, searched = [], {}, set(), []

    def fill(_frames, _rig, _opened, _windows, attempt):
        calls.append(attempt)
        return Made(attempt)

    def search(_frames, gap, query):
        searched.append((query.count, query.stretch))
        lengths = np.array([1 + round(gap.played * (LENGTH - 1))])
        return Matches(np.zeros(1, dtype=int), lengths, np.ones(1))

    def checked(_, made, around, higher=0.0):
        assert around == f"limits {higher}"
        badness = bad.get(made.attempt, bad.get("all", 0.0))
        badness += bool(higher) and made.attempt in swept
        failed = ("knees",) if badness else ()
        return SimpleNamespace(
            badness=badness,
            passed=not badness,
            verification=lambda first: SimpleNamespace(failed=failed, first=first),
        )

    gap = SimpleNamespace(length=LENGTH, played=RATES[-1])
    monkeypatch.setattr(filling, "opened_gap", lambda *_: SimpleNamespace(gap=gap))
    monkeypatch.setattr(filling, "windows_for", search)
    monkeypatch.setattr(filling, "filled_gap", fill)
    monkeypatch.setattr(filling, "_checked", checked)
    monkeypatch.setattr(filling, "_around", lambda *given: f"limits {given[-1]}")
    monkeypatch.setattr(filling, "_with_sides", lambda *_: "contacts")
    return SimpleNamespace(calls=calls, bad=bad, swept=swept, searched=searched, gap=gap)


def filled(count=None, feet=True):
    check = SimpleNamespace(frames=None, rig=None)
    return filling.fill_checked(
        check, GapMotion(None, 10, 20), index=None, count=count, feet=feet, exclude=()
    )


def test_the_first_that_passes_is_taken(tried):
    made = filled()
    assert tried.calls == [Attempt(COUNT, RATES[-1], True, "held")]
    assert made.notes == ("a note",)
    assert made.verification.first == 9
    for number in range(1, len(ATTEMPTS)):
        tried.calls.clear()
        tried.bad.update(dict.fromkeys(ATTEMPTS[:number], 2.0))
        made = filled()
        assert tuple(tried.calls) == ATTEMPTS[: number + 1]
        assert made.attempt == ATTEMPTS[number]
        assert made.notes == ("a note",)


def test_one_whose_feet_sweep_the_floor_is_taken_only_if_no_other_passes(tried):
    tried.swept.update(ATTEMPTS[:2])
    tried.bad[ATTEMPTS[2]] = 2.0
    assert filled().attempt == ATTEMPTS[3]
    assert tuple(tried.calls) == ATTEMPTS[:4]
    tried.swept.update(ATTEMPTS)
    made = filled()
    assert made.attempt == ATTEMPTS[0]
    assert made.notes == ("a note",)


def test_where_none_passes_the_least_bad_is_taken_and_the_first_of_equals(tried):
    tried.bad["all"] = 3.0
    made = filled()
    assert tuple(tried.calls) == ATTEMPTS
    assert made.attempt == ATTEMPTS[0]
    assert made.notes == ("a note", "failed check: knees")
    tried.bad[ATTEMPTS[3]] = 1.0
    assert filled().attempt == ATTEMPTS[3]


def test_windows_are_searched_once_for_all_attempts_with_a_stretch(tried):
    tried.bad["all"] = 3.0
    filled()
    assert tried.searched == [(COUNT, RATES[-1]), (COUNT, LITTLE)]


def test_windows_are_stretched_less_only_where_some_are_stretched_more(tried):
    tried.bad["all"], tried.gap.played = 3.0, 1.0
    filled()
    assert tried.searched == [(COUNT, RATES[-1])]
    assert tried.calls == [each for each in ATTEMPTS if each.stretch == RATES[-1]]


def test_only_what_is_asked_for_is_tried(tried):
    tried.bad["all"] = 3.0
    filled(count=7)
    assert {each.n_windows for each in tried.calls} == {7}
    assert {count for count, _ in tried.searched} == {7}
    assert tuple(tried.calls) == attempts(7)
    tried.calls.clear()
    filled(feet=False)
    assert {each.feet for each in tried.calls} == {"free"}
    assert tuple(tried.calls) == attempts(feet=False)


def test_no_attempt_is_made_twice():
    for count in (None, 1, COUNT):
        for feet in (True, False):
            each = attempts(count, feet)
            assert len(set(each)) == len(each) > 1
            assert each[0].keeps_fast and not any(one.keeps_fast for one in each[1:])
