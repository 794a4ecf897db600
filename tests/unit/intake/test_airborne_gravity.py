from __future__ import annotations

import numpy as np
import pytest

from motionloom.body.body_map import BodyMap
from motionloom.intake.floor import RateCheck, check_rate, fit_floor, rate_finding, track_legs
from motionloom.motion.motion import Motion

GRAVITY = 9.81
EXACT = 1e-6
NOISE_M = 0.0015


def jumping(person, fps: float, *, flights: int = 3, seconds: float = 0.4, g: float = GRAVITY):
    """Stand, fly, stand, ...: a stiff body, so that the centre of mass is a true parabola."""
    still = np.zeros(round(0.5 * fps))
    t = np.arange(1, round(seconds * fps)) / fps
    hop = 0.5 * g * t * (seconds - t)
    heights = np.concatenate([still] + [np.concatenate([hop, still])] * flights)
    root = np.zeros((len(heights), 3))
    root[:, 1] = 0.95 + heights
    return person(fps=fps, root=root)


def checked(motion: Motion) -> RateCheck | None:
    body = BodyMap.guess(motion.skeleton)
    tracks = track_legs(motion, body)
    assert tracks is not None
    floor = fit_floor(tracks)
    assert floor is not None
    return check_rate(motion, body, tracks, floor[0])


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0, 240.0])
def test_a_true_rate_falls_at_gravity(person, fps: float) -> None:
    check = checked(jumping(person, fps))
    assert check is not None
    assert check.fall == pytest.approx(GRAVITY, rel=0.02)  # the arms sway a little in the air
    assert check.flights == 3
    assert check.is_credible
    assert rate_finding(check, stated=False).level == "note"


@pytest.mark.parametrize(("true", "stated"), [(60, 120), (30, 60), (120, 240), (30, 120)])
def test_a_header_with_twice_the_rate_is_detected(person, true: int, stated: int) -> None:
    check = checked(jumping(person, float(true)).replace(fps=float(stated)))
    assert check is not None
    assert check.fall == pytest.approx(GRAVITY * (stated / true) ** 2, rel=0.05)
    assert check.fps == true
    finding = rate_finding(check, stated=False)
    assert finding.level == "warning"
    assert f"fps={true}" in finding.fix


@pytest.mark.parametrize(("true", "stated"), [(100, 120), (25, 30), (50, 60), (120, 100)])
def test_a_header_that_is_a_fifth_off_is_found_out_by_several_flights(
    person, true: int, stated: int
) -> None:
    check = checked(jumping(person, float(true), flights=4).replace(fps=float(stated)))
    assert check is not None
    assert check.fps == true
    assert not check.is_credible


def test_one_odd_flight_does_not_speak_against_a_rate_that_is_not_doubled(person) -> None:
    check = checked(jumping(person, 60.0, flights=1, g=14.0))
    assert check is not None
    assert check.is_credible
    finding = rate_finding(check, stated=False)
    assert finding.level == "note"
    assert "too few" in finding.problem


def test_short_flights_of_a_run_are_enough_in_number(person) -> None:
    rng = np.random.Generator(np.random.PCG64(2))
    motion = jumping(person, 60.0, flights=6, seconds=0.3).replace(fps=120.0)
    root = motion.root_positions + NOISE_M * rng.normal(size=motion.root_positions.shape)
    check = checked(motion.replace(root_positions=root))
    assert check is not None
    assert check.fps == 60.0
    assert not check.is_credible


def test_a_rate_that_the_caller_gave_is_not_warned_about(person) -> None:
    check = checked(jumping(person, 60.0).replace(fps=120.0))
    assert check is not None
    assert rate_finding(check, stated=True).level == "note"


def test_someone_who_stands_gives_no_check(person) -> None:
    assert checked(person(200)) is None


def test_someone_carried_up_slowly_is_no_flight(person) -> None:
    root = np.zeros((240, 3))
    root[:, 1] = 0.95 + np.concatenate([np.zeros(80), np.linspace(0, 0.5, 80), np.full(80, 0.5)])
    assert checked(person(fps=60.0, root=root)) is None
