"""Failed checks in words."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from motionloom.features.checks.verification import CHECKS, UNITS, FailedCheck, failed_checks

NAMES = ("root", "hips", "left knee joint", "head joint", "wrist")
RIG = SimpleNamespace(
    head=3,
    legs=np.array([[1, 2, 1], [1, 2, 1]]),
    carriers=np.array([0]),
    checked=np.array([1, 4]),
)


def test_a_value_comes_with_its_unit_and_limit_and_a_mark_without():
    failed = FailedCheck("speed", "wrist", 7, 3.14159, 2.0, "m/s")
    assert str(failed).startswith("speed: wrist ")
    assert str(failed).endswith(", frame 7: 3.142 m/s, the limit is 2")
    bare = FailedCheck("speed", "wrist", 7, 3.14159, 2.0, "")
    assert str(bare).endswith(", frame 7")
    assert failed.ratio == pytest.approx(0.5708, abs=1e-4)


@pytest.mark.parametrize(
    ("check", "joint", "name"),
    [
        ("rotation speed", 1, "wrist"),
        ("rotation speed", -1, "body"),
        ("knee bent backwards", 0, "left knee joint"),
        ("knee folded", 1, "left knee joint"),
        ("sliding contact", 2, "right heel"),
        ("sole below the floor", 1, "left toe"),
    ],
)
def test_each_check_names_its_joint(check, joint, name):
    rows = np.array([[CHECKS.index(check), joint, 5, 1.0, 0.5]])
    [failed] = failed_checks(RIG, NAMES, rows)
    assert (failed.check, failed.joint, failed.frame) == (check, name, 5)


def test_the_head_is_named_and_angles_are_in_degrees_with_the_worst_first():
    turn, speed = CHECKS.index("head turn"), CHECKS.index("rotation speed")
    rows = [[turn, -1, 3, 1.0, 0.5], [speed, 0, 1, 2.0, 1.0], [speed, 1, 2, 4.0, 1.0]]
    found = failed_checks(RIG, NAMES, np.array(rows))
    assert [f.joint for f in found] == ["wrist", "hips", "head joint"]
    assert found[0].value == pytest.approx(np.degrees(4.0))
    assert found[0].limit == pytest.approx(np.degrees(1.0))


@pytest.mark.parametrize(
    ("unit", "factor", "checks"),
    [
        ("deg", 180.0 / np.pi, {"knee bent backwards", "knee folded", "heading"}),
        (
            "cm",
            100.0,
            {
                "sole below the floor",
                "sliding contact",
                "dragged foot",
                "floating",
                "hovering",
                "foot slip",
                "no foot stands",
            },
        ),
        ("m/s", 1.0, {"speed", "one-frame jump", "travel speed", "stall", "launch", "direction"}),
        ("m/s2", 1.0, {"acceleration", "braking"}),
        ("", 1.0, {"capture glitch"}),
    ],
)
def test_values_of_each_check_are_given_in_its_unit(unit, factor, checks):
    assert {name for name in CHECKS if UNITS[name][0] == unit} == checks
    for name in checks:
        [failed] = failed_checks(RIG, NAMES, np.array([[CHECKS.index(name), 0, 5, 3.0, 2.0]]))
        assert (failed.value, failed.limit) == pytest.approx((3.0 * factor, 2.0 * factor))


@pytest.mark.parametrize(("value", "limit", "ratio"), [(3.0, 2.0, 0.5), (-3.0, -2.0, 0.5)])
def test_how_bad_it_is_is_a_part_of_the_limit_whatever_its_sign(value, limit, ratio):
    assert FailedCheck("speed", "wrist", 7, value, limit, "m/s").ratio == pytest.approx(ratio)
