"""Capture glitches of real takes, as a look at their pictures shows."""

import warnings

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.glitches.glitch_frames import find_glitches

SEEN = {
    "143_08": {216},  # a foot through the floor on landing
    "143_09": {350},  # a toe that turns by 93 degrees in one frame
    "143_38": {623, 624, 677, 678},  # the trunk is elsewhere between them
    "143_21": {199, 200},  # a neck that turns by 160 degrees
}
UNHURT = ("143_01", "143_23", "143_24", "143_32", "143_42")
"""Runs, punches, kicks and walks: quick, and as bodies move."""


def loaded(mocap, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the headers' rate is wrong, and 60 is given
        return ml.load(mocap / "cmu_bvh" / f"{name}.bvh", fps=60)


@pytest.mark.parametrize("name", SEEN)
def test_what_looks_wrong_is_found(mocap, name):
    found = {jump.frame for jump in find_glitches(loaded(mocap, name))}
    assert found >= SEEN[name]
    assert len(found) < 25  # ten steps of the neck of 143_21 turn by up to 170 degrees


@pytest.mark.parametrize("fps", [30, 120, 240])
def test_a_trunk_that_is_elsewhere_is_found_at_other_rates(mocap, fps):
    motion = ml.resample(loaded(mocap, "143_38"), fps=fps)
    found = np.array([jump.frame for jump in find_glitches(motion)]) * 60 / fps
    for frame in SEEN["143_38"]:
        assert np.abs(found - frame).min() <= 60 / min(fps, 60)


@pytest.mark.parametrize("fps", [24, 30, 60, 120, 240])
@pytest.mark.parametrize("name", UNHURT)
def test_quick_motion_is_not_taken_for_a_fault(mocap, name, fps):
    assert find_glitches(ml.resample(loaded(mocap, name), fps=fps)) == ()
