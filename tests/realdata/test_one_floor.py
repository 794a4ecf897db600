"""Transitions between captures whose floors lie at other heights, one with a step in it."""

from __future__ import annotations

import re

import pytest

import motionloom as ml

# Captures of 141 are 60 Hz in files that say 120, and have a knee that bends backwards.
pytestmark = pytest.mark.filterwarnings("ignore::motionloom.MotionLoomWarning")


@pytest.mark.parametrize(
    ("a", "b", "rise_cm"),
    [
        ("cmu_bvh/83_27", "cmu_bvh/83_33", -9.0),
        ("audit/141_34", "audit/16_02", 7.5),
        ("audit/120_12", "audit/141_03", -7.5),
    ],
)
def test_the_second_clip_is_moved_onto_the_floor_of_the_first(mocap, a, b, rise_cm):
    joined = ml.transition(*(ml.load(mocap / f"{name}.bvh") for name in (a, b)))
    (note,) = [each for each in joined.notes if "onto the floor of A" in each]
    found = re.search(r"moved (\d+) cm (up|down)", note)
    assert found
    rise = float(found[1]) * (1.0 if found[2] == "up" else -1.0)
    assert abs(rise - rise_cm) < 1.6
    assert joined.motion.root_positions[-1, 1] == joined.matched.motions[1].root_positions[-1, 1]


def test_clips_whose_feet_stand_on_steps_stay_and_say_so(mocap):
    a, b = (ml.load(mocap / "cmu_bvh" / f"{name}.bvh") for name in ("83_33", "143_19"))
    assert any("B: left at its height" in note for note in ml.transition(a, b).notes)
