"""Floors, slides, drags and hovering of made-up paths, whose measures are known."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom.features.checks.source_limits import (
    DRAG_SPEED,
    N_SPANS,
    contact_slides,
    drag_lengths,
    floor_heights,
    free_fall_gap,
)
from tests.oracles import soles as plain

FPS = 60.0
FLOAT64 = 1e-9
GRAVITY = 9.81
DRAG_HEIGHT_M, HOVER_M = 0.03, 0.06
"""Heights over the floor below which points are dragged, and above which a body touches nothing."""


def soles_at(*points: np.ndarray) -> np.ndarray:
    """Four sole points (F, 4, 3); those not given stand at the origin."""
    soles = np.zeros((len(points[0]), 4, 3))
    for k, point in enumerate(points):
        soles[:, k] = point
    return soles


def path(x: np.ndarray, y: np.ndarray | float = 0.0) -> np.ndarray:
    return np.stack([x, np.broadcast_to(y, x.shape), np.zeros(len(x))], axis=1)


def test_slides_are_measured_over_parts_as_long_as_each_span() -> None:
    step = 0.001
    soles = soles_at(path(step * np.arange(100)))
    planted = np.zeros((100, 4), dtype=bool)
    planted[:, 0] = True
    slides = contact_slides(soles, planted, FPS).reshape(4, N_SPANS)
    widths = np.array([4, 8, 16, 32, 64, 100, 100])  # a fifteenth of a second, twice ..., any
    assert np.abs(slides[0] - step * (widths - 1)).max() < FLOAT64
    assert np.abs(slides[2] - 0.8 * slides[0]).max() < FLOAT64  # its pad, while the ball stands
    assert not slides[[1, 3]].any()


def test_a_long_contact_licenses_no_slide_of_a_short_one() -> None:
    slow = np.linspace(0.0, 0.08, 240)
    planted = np.ones((240, 4), dtype=bool)
    slides = contact_slides(soles_at(path(slow)), planted, FPS).reshape(4, N_SPANS)
    assert slides[0, -1] > 0.0799
    assert slides[0, 2] < 0.006  # of 16 frames


def test_drags_of_heel_and_ball_do_not_add_up() -> None:
    x = np.linspace(0.0, 1.0, 61)  # 1 m/s
    over = 2.0 * DRAG_HEIGHT_M
    heel = path(x, np.where(np.arange(61) <= 30, 0.0, over))
    ball = path(x, np.where(np.arange(61) >= 40, 0.0, over))
    ways = drag_lengths(soles_at(heel, ball), np.zeros(4), FPS)
    # The pad: as the heel, 1.2 cm high, for it is a fifth of the way to the ball.
    known = np.array([[30, 30, 30], [20, 20, 20], [0, 30, 30], [0, 0, 0]]) / 60
    assert np.abs(ways - known.ravel()).max() < FLOAT64


def test_drags_below_each_height_are_measured_apart() -> None:
    x = np.linspace(0.0, 1.0, 61)  # 1 m/s
    ball = path(x, np.repeat([0.005, 0.015, 0.025, 0.035], [11, 20, 20, 10]))
    ways = drag_lengths(soles_at(path(np.zeros(61)), ball), np.zeros(4), FPS).reshape(4, 3)
    assert np.abs(ways[1] - np.array([10, 30, 50]) / 60).max() < FLOAT64


def test_a_slow_or_high_point_is_not_dragged() -> None:
    x = np.linspace(0.0, 0.2, 61)  # 0.2 m/s
    assert not drag_lengths(soles_at(path(x)), np.zeros(4), FPS).any()
    high = path(5.0 * x, DRAG_HEIGHT_M)
    assert not drag_lengths(soles_at(high, high), np.zeros(4), FPS).any()


def test_the_pad_of_a_heel_is_dragged_below_an_end_that_is_not() -> None:
    x = np.linspace(0.0, 1.0, 61)  # 1 m/s
    ways = drag_lengths(soles_at(path(x, 0.023), path(x, 0.0)), np.zeros(4), FPS).reshape(4, 3)
    assert np.abs(ways[:, 1] - [0.0, 1.0, 1.0, 0.0]).max() < FLOAT64  # the pad is 1.84 cm high


def test_a_floor_is_where_points_stand_not_where_toes_push() -> None:
    heights = np.r_[np.full(90, 0.05), np.linspace(0.05, 0.0, 10)]
    soles = soles_at(path(np.zeros(100), heights))
    planted = np.zeros((100, 4), dtype=bool)
    planted[:, 0] = True
    floors = floor_heights(soles, np.zeros(100), planted)
    assert np.abs(floors - 0.05).max() < FLOAT64  # points that never stand have that of the others
    assert floor_heights(soles, np.zeros(100), planted, 0.05)[0] < 0.03


def gap(mass: np.ndarray) -> float:
    """How far a body that is off the floor all the time leaves free fall."""
    n = len(mass)
    return free_fall_gap(np.ones((n, 4, 3)), np.ones(n), mass, np.zeros(4), FPS)


@pytest.mark.parametrize("rate", [0.86, 1.0, 1.14])
def test_a_jump_is_in_free_fall_even_if_it_plays_slower_or_faster(rate: float) -> None:
    t = np.arange(31) / FPS * rate
    jump = path(np.zeros(31), 1.0 + 0.25 * GRAVITY * t - 0.5 * GRAVITY * t * t)
    assert gap(jump) < FLOAT64


def test_a_body_that_stays_up_is_off_free_fall_by_what_it_should_fall() -> None:
    t = np.arange(19) / FPS  # 0.3 s
    assert gap(path(np.zeros(19), np.ones(19))) == pytest.approx(0.7 * GRAVITY * t[-1] ** 2 / 8.0)
    slow = path(np.zeros(19), 1.0 + 0.35 * GRAVITY * (t[-1] * t - t * t) / 2.0)
    assert gap(slow) == pytest.approx(0.35 * GRAVITY * t[-1] ** 2 / 8.0)


def test_only_time_off_the_floor_is_hovering() -> None:
    high = np.where((np.arange(60) >= 20) & (np.arange(60) < 40), HOVER_M + 0.01, 0.0)
    soles = np.zeros((60, 4, 3))
    soles[..., 1] = high[:, None]
    still = np.ones((60, 3))
    off = free_fall_gap(soles, high, still, np.zeros(4), FPS)
    level = 0.7 * GRAVITY / 8.0
    assert off == pytest.approx(level * (21 / FPS) ** 2, rel=0.01)  # from the frame before it on
    soles[..., 0, 1] = 0.0  # one heel stands
    assert free_fall_gap(soles, high, still, np.zeros(4), FPS) == 0.0


@pytest.mark.parametrize("fps", [24.0, 60.0, 120.0, 240.0])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 9, 300])
def test_slides_drags_and_hovering_are_those_of_the_plain_form(n: int, fps: float) -> None:
    rng = np.random.Generator(np.random.PCG64(n + round(fps)))
    soles = 0.004 * rng.normal(size=(n, 4, 3)).cumsum(axis=0)
    soles[..., 1] = 0.03 * np.abs(rng.normal(size=(n, 4)).cumsum(axis=0))
    soles[rng.random((n, 4)) < 0.3] = 0.01  # ties
    planted = rng.random((n, 4)) < 0.9
    floor = 0.01 * rng.random(4)
    slides = contact_slides(soles, planted, fps)
    assert np.abs(slides - plain.contact_slides(soles, planted, fps)).max() < FLOAT64
    drags = drag_lengths(soles, floor, fps)
    if n:
        assert np.abs(drags - plain.drag_lengths(soles, floor, fps)).max() < FLOAT64
    lowest = soles[..., 1].min(axis=1, initial=9.0) + 0.02 * rng.normal(size=n)
    pelvis = 1.0 + 0.002 * rng.normal(size=(n, 3))
    for high in (0.0, 0.05, 0.2):
        floors = floor - high
        times = np.zeros(n, dtype=np.float32)
        time = free_fall_gap(soles, lowest, pelvis, floors, fps, times)
        assert abs(time - plain.free_fall_gap(soles, lowest, pelvis, floors, fps)) < FLOAT64
        known = plain.gaps(soles, lowest, pelvis, floors, fps)
        assert np.array_equal(times, known.astype(np.float32))


def test_a_point_is_dragged_above_the_speed_that_clearance_knows() -> None:
    for speed, dragged in ((0.999, False), (1.001, True)):
        x = speed * DRAG_SPEED * np.arange(10) / FPS
        assert drag_lengths(soles_at(path(x)), np.zeros(4), FPS).any() == dragged


@pytest.mark.parametrize("lowest_floor", range(4))
def test_the_body_is_off_the_floor_above_the_lowest_of_four_floors(lowest_floor: int) -> None:
    n, floors = 60, np.ones(4)
    floors[lowest_floor] = 0.0
    soles = np.zeros((n, 4, 3))
    soles[..., 1] = floors + 0.5
    still = np.ones((n, 3))
    assert free_fall_gap(soles, np.full(n, 0.5), still, floors, FPS) > 0.5
    assert free_fall_gap(soles, np.zeros(n), still, floors, FPS) == 0.0


def test_both_feet_stand_on_the_lower_floor_of_the_two() -> None:
    """A run shows one heel on the ground; the other foot's is no higher."""
    n, floors = 60, np.array([0.3, 0.4, 0.0, 0.1])
    soles = np.ones((n, 4, 3))
    soles[:, 0, 1] = 0.2  # under its own floor, and 20 cm over that of the other heel
    still = np.ones((n, 3))
    assert free_fall_gap(soles, np.ones(n), still, floors, FPS) > 0.5
    soles[:, 0, 1] = 0.03
    assert free_fall_gap(soles, np.ones(n), still, floors, FPS) == 0.0


def test_a_body_on_feet_that_slide_fast_hovers_unless_something_else_carries_it() -> None:
    n, still = 60, np.ones((60, 3))
    for speed, hovers in ((0.99, False), (1.01, True)):
        soles = np.zeros((n, 4, 3))
        soles[..., 2] = speed * np.arange(n)[:, None] / FPS
        low = np.zeros(n)
        # In the first frame nothing shows how fast feet are.
        level = 0.7 * GRAVITY * ((n - 1) / FPS) ** 2 / 8.0 if hovers else 0.0
        off = free_fall_gap(soles, low, still, np.zeros(4), FPS)
        assert off == pytest.approx(level, rel=0.01)
        # A knee or a hand 5 cm under the soles.
        assert free_fall_gap(soles, low - 0.049, still, np.zeros(4), FPS) == pytest.approx(
            level, rel=0.01
        )
        assert free_fall_gap(soles, low - 0.051, still, np.zeros(4), FPS) == 0.0
        soles[:, 3, 2] = 0.0  # one point stands
        assert free_fall_gap(soles, low, still, np.zeros(4), FPS) == 0.0
        soles[:, 3, 1] = 0.07  # not on the floor
        assert free_fall_gap(soles, low, still, np.zeros(4), FPS) == pytest.approx(level, rel=0.01)
