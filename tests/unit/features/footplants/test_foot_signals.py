"""Signals of feet: slopes of their tracks."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.features.footplants import plant_edges
from motionloom.features.footplants.plant_edges import (
    _find_slide,
    _lift,
    _odd,
    _slope_noise,
    _stood,
    line_slopes,
    noise_level,
)
from tests.oracles import foot_signals as plain


def test_slopes_of_a_line_are_its_own_and_of_a_curve_those_of_the_fitted_line():
    time = np.arange(20) / 50.0
    assert line_slopes(3.0 * time - 1.0, 5, 50.0) == pytest.approx(np.full(20, 3.0))
    # The line fitted to five points of a parabola has the slope of its middle.
    bowed = line_slopes(time**2, 5, 50.0)
    assert bowed[2:-2] == pytest.approx(2.0 * time[2:-2])
    assert bowed[:2] == pytest.approx([2.0 * time[2]] * 2)
    assert bowed[-2:] == pytest.approx([2.0 * time[-3]] * 2)


def test_a_clip_too_short_for_a_line_has_the_slopes_of_its_differences():
    assert line_slopes(np.array([1.0, 3.0]), 5, 10.0) == pytest.approx([20.0, 20.0])
    assert line_slopes(np.array([1.0, 3.0, 7.0]), 5, 10.0) == pytest.approx([30.0] * 3)


def test_a_slope_has_the_noise_of_a_line_fitted_to_white_noise():
    frames = np.arange(7)
    unit = np.linalg.norm(np.linalg.pinv(np.stack([frames / 50.0, np.ones(7)], axis=1))[0])
    assert _slope_noise(0.003, 7, 50.0) == pytest.approx(0.003 * unit)


def test_noise_comes_from_third_differences_of_at_least_eight_frames():
    cubic = np.arange(8.0)[:, None, None] ** 3 / 6.0  # third difference 1
    points = cubic * np.array([[0.3, 0.5, 0.4], [0.0, 0.1, 2.0], [0.0, -4.0, 0.0]])
    ground = np.array([0.5, 2.0, 0.0]) / 0.895 / np.sqrt(20.0)
    height = np.array([0.5, 0.1, 4.0]) / 0.426 / np.sqrt(20.0)
    expected = np.stack([ground, height], axis=1)
    expected[1, 1] = 0.45 * ground[1]  # a leg that leans shakes upwards too
    expected[2, 0] = 0.45 * height[2]
    assert noise_level(points) == pytest.approx(expected)
    assert np.array_equal(noise_level(points[:7, :2]), np.zeros((2, 2)))


def test_widths_are_odd_at_least_three_and_within_the_clip():
    assert [_odd(frames, 100) for frames in (0.0, 3.9, 4.1, 5.0, 6.1, 9.0)] == [3, 3, 5, 5, 7, 9]
    assert [_odd(50.0, n) for n in (1, 3, 4, 5, 10, 11)] == [3, 3, 3, 5, 9, 11]


def test_a_body_in_free_fall_has_the_acceleration_of_gravity():
    time = np.arange(60) / 60.0
    assert _lift(-4.905 * time**2, 60.0)[4:-4] == pytest.approx(np.full(52, -9.81))
    # Twice five frames are looked at, two to either side each time.
    jolt = np.flatnonzero(_lift((np.arange(60) == 30).astype(float), 60.0))
    assert (jolt[0], jolt[-1]) == (26, 34)


def gliding(slide, *, speed=1.0, frames=40, stand=20):
    """Velocities of feet that glide along with a body for some frames and swing in others."""
    body = np.tile([0.6 * speed, 0.0, 0.8 * speed], (frames, 1))
    feet = np.repeat(2.5 * body[:, None], 4, axis=1)
    feet[:stand] = slide * body[:stand, None]
    return feet, body


@pytest.mark.parametrize("slide", [-0.3, -0.15, -0.05, 0.05, 0.15, 0.3])
def test_feet_that_move_along_with_the_body_or_against_it_slide(slide):
    assert _find_slide(*gliding(slide)) == pytest.approx(slide, abs=1e-9)


def test_no_slide_is_found_in_small_parts_slow_bodies_and_few_frames():
    for speed in (1.0, 3.0):
        small = [_find_slide(*gliding(slide, speed=speed)) for slide in (-0.03, 0.0, 0.03)]
        assert small == [0.0] * 3
    assert _find_slide(*gliding(0.15, speed=0.29)) == 0.0
    straight = np.tile([0.3, 0.0, 0.0], (20, 1))
    assert _find_slide(np.repeat(0.2 * straight[:, None], 4, axis=1), straight) == 0.0
    assert _find_slide(*gliding(0.15, frames=7, stand=7)) == 0.0
    assert _find_slide(*gliding(0.15, frames=8, stand=8)) == pytest.approx(0.15)
    # Sliding feet count 1 with the slide and 0.1 without, standing feet the other way round: 22.9
    # of 21.1 is less than a tenth more, 23.8 of 20.2 is not.
    for sliding, slide in ((21, 0.0), (22, 0.3)):
        feet, body = gliding(0.3, stand=sliding)
        feet[sliding:] = 0.0
        assert _find_slide(feet, body) == pytest.approx(slide)


@pytest.mark.parametrize(("n_frames", "n_points"), [(9, 4), (1, 1), (0, 4), (5, 0)])
@pytest.mark.parametrize("n_slides", [0, 1, 3, 81])
def test_points_stand_by_what_is_left_of_their_velocity(n_frames, n_points, n_slides):
    rng = np.random.default_rng(3)
    feet, body = rng.normal(size=(n_frames, n_points, 3)), rng.normal(size=(n_frames, 3))
    feet[: n_frames // 2] = 0.25 * body[: n_frames // 2, None]  # nothing is left at one slide
    slides = np.array([0.25, *rng.normal(size=n_slides)])[:n_slides]
    assert _stood(feet, body, slides) == pytest.approx(plain.stood(feet, body, slides))


def test_poses_of_a_part_of_the_clip_at_a_time_give_the_signals_of_the_whole(monkeypatch):
    motion = ml.synthetic.clip("walk").motion
    body = BodyMap.guess(motion.skeleton)
    whole = plant_edges.measure_foot_signals(motion, body)
    monkeypatch.setattr(plant_edges, "FRAMES", 37)
    parts = plant_edges.measure_foot_signals(motion, body)
    for name in ("points", "speeds", "body_speed", "sway", "lift", "lowest"):
        assert np.array_equal(getattr(parts, name), getattr(whole, name)), name
