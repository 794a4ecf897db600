"""Laws of the figures of a data set."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import motionloom as ml
from motionloom.datasets.clip_measures import measure_jitter, measure_slides
from motionloom.datasets.duplicates import make_fingerprint, matched_distances
from motionloom.datasets.frame_rate import downward_acceleration, repeated_part
from motionloom.datasets.reports import ClipReport, Defect

WALK = ml.synthetic.clip("walk", duration_s=2.0, fps=30).motion
BODY = ml.BodyMap.guess(WALK.skeleton)
angles = st.floats(-3.0, 3.0)
metres = st.floats(-20.0, 20.0)


@settings(max_examples=15)
@given(heading=angles, x=metres, z=metres)
def test_a_fingerprint_does_not_know_place_and_direction(heading, x, z) -> None:
    moved = ml.move(WALK, heading=heading, x=x, z=z)
    a, b = (make_fingerprint(m.world_positions(), m.skeleton, BODY) for m in (WALK, moved))
    np.testing.assert_allclose(a, b, atol=1e-7)


@settings(max_examples=15)
@given(size=st.floats(0.001, 0.02), seed=st.integers(0, 99), fps=st.sampled_from([30, 60, 120]))
def test_jitter_is_the_size_of_white_noise_on_any_smooth_motion(size, seed, fps) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    time = np.arange(4 * fps)[:, None, None] / fps
    smooth = 0.1 * np.sin(1.5 * time + np.arange(3)) * np.ones((1, 4, 1))
    measured = measure_jitter(smooth + size * rng.standard_normal(smooth.shape), float(fps))
    assert 0.8 * size < measured.size < 1.35 * size
    assert measure_jitter(smooth, float(fps)).size < 0.0005


@settings(max_examples=25)
@given(speed=st.floats(0.0, 2.0), heading=angles, lift=metres)
def test_a_plant_that_moves_steadily_slides_at_its_speed(speed, heading, lift) -> None:
    points = np.zeros((40, 4, 3))
    points[..., 1] = lift
    way = speed * np.arange(40) / 30.0
    points[:, 2, 0], points[:, 2, 2] = way * np.sin(heading), way * np.cos(heading)
    planted = np.zeros((40, 4), dtype=bool)
    planted[5:35, 2] = True
    slides = measure_slides(points, planted, 30.0)
    assert abs(slides.speed - speed) < 1e-9
    assert slides.kind == "right_heel"


@settings(max_examples=20)
@given(fall=st.floats(0.0, 60.0), speed=st.floats(-5.0, 5.0), fps=st.sampled_from([30.0, 120.0]))
def test_a_parabola_falls_as_fast_as_it_bends(fall, speed, fps) -> None:
    time = np.arange(30) / fps
    heights = 1.0 + speed * time - 0.5 * fall * time**2
    np.testing.assert_allclose(downward_acceleration(heights, fps), fall, atol=1e-6)


@given(times=st.integers(2, 4))
def test_frames_that_are_repeated_are_counted(times) -> None:
    moving = np.arange(20.0)[:, None, None] * np.ones((1, 2, 3))
    assert repeated_part(moving) == 0.0
    part = repeated_part(np.repeat(moving, times, axis=0))
    assert abs(part - (times - 1) / times) < 0.05


@settings(max_examples=15)
@given(seed=st.integers(0, 999), scale=st.floats(0.1, 10.0))
def test_matched_distances_are_symmetric_and_without_scale(seed, scale) -> None:
    rng = np.random.Generator(np.random.PCG64(seed))
    a, b = (np.cumsum(rng.standard_normal((2, 30, 3)), axis=1) for _ in range(2))
    there, back = matched_distances(a, b), matched_distances(b, a)
    np.testing.assert_allclose(there, back, rtol=1e-9)
    np.testing.assert_allclose(there, matched_distances(scale * a, scale * b), rtol=1e-9)
    plain = np.sqrt(
        ((a - b) ** 2).sum(axis=(1, 2))
        / np.sqrt((a * a).sum(axis=(1, 2)) * (b * b).sum(axis=(1, 2)))
    )
    assert (there <= plain * (1.0 + 1e-9)).all()


@given(value=st.floats(0.1, 1e6), limit=st.floats(0.0, 1e3))
def test_a_worse_value_is_never_less_severe(value, limit) -> None:
    small, large = (Defect("slide", "fault", v, limit, "", "") for v in (value, 2.0 * value))
    assert small.severity <= large.severity <= 99.0
    one, two = ClipReport("a", defects=(small,)), ClipReport("b", defects=(small, large))
    assert one.severity <= two.severity < ClipReport("c", "unreadable").severity
