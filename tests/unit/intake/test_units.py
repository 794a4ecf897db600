from __future__ import annotations

import itertools
import math

import pytest

from motionloom.errors import ArrayError
from motionloom.intake.axes import (
    HUMAN_M,
    UNITS,
    detect_unit,
    named_unit,
    stature_finding,
    unit_metres,
)


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("height_m", [1.42, 1.6, 1.72, 1.9, 2.05])
def test_the_unit_of_a_grown_person_is_found(name: str, height_m: float) -> None:
    unit_m, finding = detect_unit(height_m / UNITS[name])
    assert unit_m * height_m / UNITS[name] == pytest.approx(height_m)
    assert finding.level == "note"


def test_no_two_known_units_can_both_make_a_person() -> None:
    ordered = sorted(UNITS.values())
    for small, large in itertools.pairwise(ordered):
        assert large / small > HUMAN_M[1] / HUMAN_M[0]


def test_what_is_no_person_keeps_its_numbers() -> None:
    for stature in (None, 0.0, math.nan):
        unit_m, finding = detect_unit(stature)
        assert unit_m == 1.0
        assert finding.level == "note"


def test_a_child_in_centimetres_is_believed_and_warned_about() -> None:
    unit_m, finding = detect_unit(118.0)
    assert unit_m == UNITS["cm"]
    assert finding.level == "warning"
    assert "1.18 m" in finding.problem
    assert "unit=" in finding.fix


def test_a_rig_in_no_known_unit_is_brought_to_a_persons_size_and_warned_about() -> None:
    unit_m, finding = detect_unit(39.9)
    assert HUMAN_M[0] <= 39.9 * unit_m <= HUMAN_M[1]
    assert unit_m not in UNITS.values()
    assert finding.level == "warning"
    assert f"{100 * unit_m:g} cm" in finding.problem


def test_a_unit_may_be_stated_by_name_or_in_metres() -> None:
    assert unit_metres("CM") == 0.01
    assert unit_metres(" in ") == 0.0254
    assert unit_metres(0.5) == 0.5
    assert unit_metres("0.5") == 0.5


@pytest.mark.parametrize("wrong", ["parsec", "", 0, -1.0, math.inf, math.nan, None])
def test_a_unit_that_is_none_is_refused(wrong: object) -> None:
    with pytest.raises(ArrayError, match="unit"):
        unit_metres(wrong)  # type: ignore[arg-type]


def test_units_have_names_people_know() -> None:
    assert named_unit(0.01) == "centimetres"
    assert named_unit(0.0564444444) == "CMU units (5.644 cm)"
    assert named_unit(0.043) == "units of 0.043 m"


def test_a_format_that_makes_giants_is_warned_about() -> None:
    finding = stature_finding(172.0, 1.0, stated_by="format")
    assert finding.level == "warning"
    assert "unit=0.01" in finding.fix


def test_what_the_caller_gives_is_never_warned_about() -> None:
    assert stature_finding(172.0, 1.0, stated_by="caller").level == "note"
