"""Noise that comes down the leg, taken out of the height of heels."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap
from motionloom.features.footplants.plant_edges import noise_level, without_leg_noise
from motionloom.motion.corrupt import corrupt
from motionloom.motion.motion import Motion

NOISE_M = 0.005
TWO_THIRDS = 0.67
ESTIMATE_REL = 0.3
"""How far the estimate of the noise that is left may be from what is left."""


def cleaned(motion: Motion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Foot points as they are, freer of noise, and the estimate of the rest."""
    body = BodyMap.guess(motion.skeleton)
    points = foot_points(motion, body=body)
    heights = motion.world_positions()[..., 1]
    knees = (heights[:, body.left_knee], heights[:, body.right_knee])
    return points, *without_leg_noise(points, knees, noise_level(points), motion.fps)


@pytest.mark.parametrize("kind", ["walk", "carry", "stand", "turn"])
def test_heels_of_noisy_clips_lose_a_third_of_their_noise_upwards(kind: str) -> None:
    clip = synthetic.clip(kind, duration_s=6.0) if kind != "turn" else synthetic.clip(kind)
    true = foot_points(clip.motion)
    before, after, sway = cleaned(corrupt(clip.motion, point_noise_m=NOISE_M, seed=3))
    white = noise_level(after)[:, 1]
    for heel in (0, 2):
        stands = clip.footplants.planted[:, heel]
        was, left = (np.std((p - true)[stands, heel, 1]) for p in (before, after))
        assert left < TWO_THIRDS * was
        assert np.hypot(white[heel], np.sqrt(sway[heel, 0])) == pytest.approx(
            left, rel=ESTIMATE_REL
        )


def test_balls_and_the_ground_are_left_alone() -> None:
    before, after, sway = cleaned(corrupt(synthetic.clip("walk").motion, point_noise_m=NOISE_M))
    assert np.array_equal(before[:, [1, 3]], after[:, [1, 3]])
    assert np.array_equal(before[..., [0, 2]], after[..., [0, 2]])
    assert not sway[[1, 3]].any()


@pytest.mark.parametrize("kind", ["walk", "run", "kick"])
def test_a_clean_clip_is_left_as_it_is(kind: str) -> None:
    before, after, sway = cleaned(synthetic.clip(kind).motion)
    assert np.array_equal(before, after)
    assert not sway.any()


@pytest.mark.parametrize("n_frames", [1, 4, 20, 31])
def test_short_clips_are_answered(n_frames: int) -> None:
    noisy = corrupt(synthetic.clip("walk").motion, point_noise_m=NOISE_M)
    _, after, sway = cleaned(noisy[:n_frames])
    assert np.isfinite(after).all()
    assert np.isfinite(sway).all()
