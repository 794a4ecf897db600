"""Limits of clips: what they measure, and several together."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom._core import CoreError, kernel
from motionloom.features.checks.source_limits import (
    BRAKE,
    HEAD,
    TRAVEL,
    Series,
    check_rig,
    measure_limits,
    merged,
    new_series,
    no_limits,
    series_of,
)
from tests.oracles import limits as plain_limits
from tests.oracles import series as plain

FPS = 60.0
CLIP = ml.synthetic.clip("walk", duration_s=1.5, fps=60)
RIG = check_rig(CLIP.motion)


def limits_of(clip=CLIP, glitched=()):
    mask = np.zeros(clip.motion.n_frames, dtype=bool)
    mask[list(glitched)] = True
    return measure_limits(RIG, series_of(RIG, clip.motion), clip.footplants.planted, FPS, mask)


def test_limits_of_nothing_add_nothing_to_others():
    own = limits_of()
    for both in (merged([no_limits(RIG), own]), merged([own, no_limits(RIG)])):
        for name, a, b in zip(own._fields, own, both, strict=True):
            assert np.array_equal(a, b), name


def test_of_two_clips_the_wider_limit_counts():
    own, other = limits_of(), limits_of(ml.synthetic.clip("run", duration_s=1.5, fps=60))
    lower = {"least_flexion", "sole", "floor"}
    for name, a, b, both in zip(own._fields, own, other, merged([own, other]), strict=True):
        assert np.array_equal(both, np.minimum(a, b) if name in lower else np.maximum(a, b)), name


@pytest.mark.parametrize(("n", "edge"), [(60, 0), (61, 4)])
def test_the_ends_of_clips_longer_than_a_second_set_no_limits(n, edge):
    for frame in (0, 3, 4, 30, n - 5, n - 4, n - 1):
        series = new_series(RIG, n)
        for values in (series.turn, series.speed, series.bend, series.flexion, series.head):
            values[frame] = 2.0
        series.soles[frame, :, 1] = -0.5
        free, glitched = np.zeros((n, 4), dtype=bool), np.zeros(n, dtype=bool)
        counts = edge <= frame < n - edge
        limits = measure_limits(RIG, series, free, FPS, glitched)
        for values in (limits.turn, limits.speed, limits.bend, limits.most_flexion):
            assert values.tolist() == [2.0 * counts] * len(values)
        assert limits.sole.tolist() == [-0.5 * counts] * 4
        assert limits.least_flexion.tolist() == [0.0, 0.0]
        glitched[frame] = True
        assert not measure_limits(RIG, series, free, FPS, glitched).turn.any()
        # Where all frames are glitched, they are all there is.
        assert measure_limits(RIG, series, free, FPS, ~free[:, 0]).turn.all()


def test_the_pelvis_sets_the_speed_and_the_head_its_usual_turn():
    series = new_series(RIG, 60)
    series.pelvis[:, 0] = 0.6 * np.arange(60) / FPS
    series.pelvis[:, 1] = 5.0 * np.arange(60)
    series.pelvis[:, 2] = -0.8 * np.arange(60) / FPS
    series.head[:] = np.arange(60)
    limits = measure_limits(RIG, series, np.zeros((60, 4), bool), FPS, np.zeros(60, bool))
    assert limits.body[TRAVEL] == pytest.approx(1.0)
    assert limits.body[HEAD] == pytest.approx(0.95 * 59)
    assert limits.body[BRAKE] == pytest.approx(0.0, abs=1e-9)


def decelerations(pelvis, fps):
    out = np.zeros(len(pelvis))
    kernel("ml_check_decelerations")(len(pelvis), pelvis, fps, out)
    return out


def test_a_body_that_brakes_steadily_has_its_deceleration():
    time = np.arange(60) / FPS
    way = 3.0 * time - 0.5 * 2.0 * time**2  # 2 m/s2
    pelvis = np.stack([0.6 * way, 0.0 * way, 0.8 * way], axis=1)
    found = decelerations(pelvis, FPS)
    # Nine frames, each speed over four: from frame 13 on.
    assert not found[:13].any()
    assert found[13:] == pytest.approx(np.full(47, 2.0))


@pytest.mark.parametrize("fps", [8.0, 30.0, 60.0, 120.0])
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 13, 14, 200])
def test_decelerations_are_those_of_the_plain_form(n, fps):
    pelvis = np.random.Generator(np.random.PCG64(n)).normal(size=(n, 3)).cumsum(axis=0)
    found, expected = decelerations(pelvis, fps), plain.decelerations(pelvis, fps)
    assert found.shape == (n,)
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 7, 90])
@pytest.mark.parametrize("planted_part", [0.0, 0.4, 0.9])
def test_limits_are_those_of_the_plain_form(n, planted_part):
    rng = np.random.Generator(np.random.PCG64(n))
    series = Series(*(rng.normal(0.0, 0.1, each.shape) for each in new_series(RIG, n)))
    planted = np.repeat(rng.random((n, 4)) < planted_part, 4, axis=0)[:n]
    planted[:, 2] &= planted_part < 0.5
    glitched = rng.random(n) < 0.3
    found = measure_limits(RIG, series, planted, FPS, glitched)._asdict()
    good = ~glitched
    if n > FPS:
        good[:4] = good[-4:] = False
    good = good if good.any() else np.ones(n, dtype=bool)
    brake = plain.decelerations(series.pelvis, FPS)
    for name, wanted in plain_limits.limits(series, planted, FPS, good, brake).items():
        assert np.allclose(found[name], wanted, rtol=1e-12, atol=1e-12), name


def test_a_clip_without_frames_has_no_limits():
    with pytest.raises(CoreError, match="sizes"):
        measure_limits(RIG, new_series(RIG, 0), np.zeros((0, 4), bool), FPS, np.zeros(0, bool))
