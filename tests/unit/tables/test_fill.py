"""Which of several fills is taken, with fills and checks made up."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from motionloom.tables.synthesis import inbetween as filling
from motionloom.tables.synthesis.gap_motion import GapMotion

COUNTS = (64, 12, 3)


@dataclass(frozen=True)
class Made:
    """Stands for a fill: how it was asked for."""

    count: int
    feet: bool
    verification: object = None
    footplants: object = None
    notes: tuple[str, ...] = ("a note",)


@pytest.fixture
def tried(monkeypatch):
    """Fills as they are tried; those in ``bad`` are so bad, all others pass."""
    calls, bad = [], {}

    def fill(_, motion, first, last, query, *, rig, feet):
        calls.append((query.count, feet))
        return Made(query.count, feet)

    def checked(_, made, around):
        badness = bad.get((made.count, made.feet), bad.get("all", 0.0))
        failed = ("knees",) if badness else ()
        return SimpleNamespace(
            badness=badness,
            passed=not badness,
            verification=lambda first: SimpleNamespace(failed=failed, first=first),
        )

    monkeypatch.setattr(filling, "fill", fill)
    monkeypatch.setattr(filling, "_checked", checked)
    monkeypatch.setattr(filling, "_around", lambda *_: "limits")
    monkeypatch.setattr(filling, "_with_sides", lambda *_: "contacts")
    return calls, bad


def filled(count=None, feet=True):
    check = SimpleNamespace(frames=None, rig=None)
    return filling.fill_checked(
        check, GapMotion(None, 10, 20), index=None, count=count, feet=feet, exclude=()
    )


def test_the_first_that_passes_is_taken(tried):
    calls, bad = tried
    made = filled()
    assert calls == [(64, True)]
    assert (made.count, made.feet, made.notes) == (64, True, ("a note",))
    assert made.verification.first == 10
    for number in range(1, 6):
        calls.clear()
        wanted = [(count, feet) for feet in (True, False) for count in COUNTS]
        bad.update(dict.fromkeys(wanted[:number], 2.0))
        made = filled()
        assert calls == wanted[: number + 1]
        assert (made.count, made.feet) == wanted[number]
        assert made.notes == ("a note",)


def test_where_none_passes_the_least_bad_is_taken_and_the_first_of_equals(tried):
    calls, bad = tried
    bad["all"] = 3.0
    made = filled()
    assert len(calls) == 6
    assert (made.count, made.feet) == (64, True)
    assert made.notes == ("a note", "failed check: knees")
    bad[12, False] = 1.0
    made = filled()
    assert (made.count, made.feet) == (12, False)


def test_only_what_is_asked_for_is_tried(tried):
    calls, bad = tried
    bad["all"] = 3.0
    filled(count=7)
    assert calls == [(7, True), (7, False)]
    calls.clear()
    filled(feet=False)
    assert calls == [(count, False) for count in COUNTS]
