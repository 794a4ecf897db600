"""Bodies that float above the floor, and those that stand on something or jump."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.intake.airborne import find_floating, floating_findings
from motionloom.intake.floor import LegTracks
from motionloom.motion.provenance import Floor

FPS = 60.0
FLOOR = Floor(0.0, 0.0, 0.0, 0.0, 0.0)


def tracks(heights: np.ndarray, *, moving: bool, pelvis: float = 0.9, step: int = 1) -> LegTracks:
    """Both balls at these heights (N,), going round at 1.3 m/s or standing still."""
    t = np.arange(len(heights)) / FPS
    balls = np.zeros((len(heights), 2, 3))
    balls[..., 1] = heights[:, None]
    if moving:
        balls[..., 0] = 0.2 * np.sin(6.5 * t)[:, None]
        balls[..., 2] = 0.2 * np.cos(6.5 * t)[:, None]
    middle = np.zeros((len(heights), 3))
    middle[:, 1] = heights + pelvis
    return LegTracks(FPS, step, middle, balls + np.array([0.0, 0.04, -0.1]), balls)


def floating_for(seconds: float, height: float = 0.1) -> np.ndarray:
    """A second on the floor, then in the air, then a second on the floor."""
    ground = np.zeros(round(FPS))
    return np.concatenate([ground, np.full(round(seconds * FPS), height), ground])


def test_a_body_that_stays_up_for_longer_than_a_jump_floats() -> None:
    heights = floating_for(3.0)
    heights[100:200] = 0.16
    (one,) = find_floating(tracks(heights, moving=True), FLOOR)
    assert (one.first, one.last) == (60, 239)
    assert one.seconds == pytest.approx(3.0)
    assert (one.low_m, one.high_m) == (pytest.approx(0.10), pytest.approx(0.16))


def test_the_finding_names_frames_and_height() -> None:
    (finding,) = floating_findings(find_floating(tracks(floating_for(3.0), moving=True), FLOOR))
    assert finding.level == "warning"
    assert finding.where == "frames 60 to 239"
    assert "floats 10 to 10 cm above the floor for 3.0 s" in finding.problem


def test_frames_are_those_of_the_motion_where_tracks_are_thinner() -> None:
    (one,) = find_floating(tracks(floating_for(3.0), moving=True, step=2), FLOOR)
    assert (one.first, one.last) == (120, 478)


def test_a_jump_does_not_float() -> None:
    assert not find_floating(tracks(floating_for(0.8, 0.5), moving=True), FLOOR)


def test_feet_that_stand_still_stand_on_something() -> None:
    assert not find_floating(tracks(floating_for(3.0, 0.4), moving=False), FLOOR)


def test_a_body_near_the_floor_does_not_float() -> None:
    assert not find_floating(tracks(floating_for(3.0, 0.02), moving=True), FLOOR)


def test_heights_are_those_over_a_floor_that_is_not_at_zero() -> None:
    high = Floor(0.09, 0.09, 0.0, 0.0, 0.0)
    assert not find_floating(tracks(floating_for(3.0), moving=True), high)


def test_somebody_who_sits_and_swings_the_legs_does_not_float() -> None:
    seated = tracks(floating_for(3.0, 0.3), moving=True)
    pelvis = np.array(seated.pelvis)
    pelvis[60:240, 1] = 0.3 + 0.4
    lower = LegTracks(FPS, 1, pelvis, seated.ankles, seated.balls)
    assert not find_floating(lower, FLOOR)
