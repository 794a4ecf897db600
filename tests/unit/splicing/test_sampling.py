"""Cubic sampling: exact at frames, smooth between them."""

import numpy as np
import pytest

import motionloom as ml
from motionloom.splicing.sampling import resample_smoothly, sample_smoothly

FLOAT64 = 1e-12
PUNCH = ml.synthetic.clip("punch", duration_s=2.0).motion
BODY = ml.BodyMap.guess(PUNCH.skeleton)


def sharpest(motion):
    """Largest acceleration of a hand, m/s2."""
    hands = motion.world_positions()[:, [BODY.left_wrist, BODY.right_wrist]]
    return np.linalg.norm(np.diff(hands, n=2, axis=0), axis=-1).max() * motion.fps**2


def test_whole_frames_are_exact():
    at = np.array([0.0, 7.0, 3.0, PUNCH.n_frames - 1.0])
    made = sample_smoothly(PUNCH, at)
    assert np.array_equal(made.root_positions, PUNCH.root_positions[at.astype(int)])
    same = np.abs(np.sum(made.local_quats * PUNCH.local_quats[at.astype(int)], axis=-1))
    assert np.allclose(same, 1.0, atol=FLOAT64)


def test_a_parabola_is_kept_between_frames_and_over_missing_ones():
    path = np.arange(PUNCH.n_frames, dtype=float)[:, None] ** 2 * np.array([1e-3, 0.0, 2e-3])
    thrown = PUNCH.replace(root_positions=path)
    at = np.array([4.25, 10.0, 11.0, 12.5, 30.75])
    knots = np.setdiff1d(np.arange(PUNCH.n_frames), [10, 11, 12])
    made = sample_smoothly(thrown, at, knots=knots)
    assert np.allclose(made.root_positions, at[:, None] ** 2 * [1e-3, 0.0, 2e-3], atol=1e-9)


def test_a_punch_of_30_hz_is_less_abrupt_at_120_hz_than_with_straight_steps():
    coarse = ml.resample(PUNCH, fps=30)
    smooth, straight = resample_smoothly(coarse, fps=120), ml.resample(coarse, fps=120)
    assert smooth.n_frames == straight.n_frames
    assert sharpest(smooth) < 0.6 * sharpest(straight)


@pytest.mark.parametrize(
    ("fps", "step"),
    [(33.0, 60.0 / 33.0), (27.0, 60.0 / 27.0), (30.01, 2.0), (29.99, 2.0), (119.95, 0.5)],
)
def test_rates_that_are_nearly_a_whole_multiple_take_whole_steps(fps, step):
    path = np.arange(PUNCH.n_frames, dtype=float)[:, None] * np.array([1.0, 0.0, -2.0])
    line = PUNCH.replace(root_positions=path)
    assert line.fps == 60.0
    made = resample_smoothly(line, fps=fps)
    n = 1 + int((PUNCH.n_frames - 1) / step + 1e-9)
    assert made.fps == fps
    assert made.root_positions[:, 0] == pytest.approx(step * np.arange(n))
