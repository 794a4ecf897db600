"""Cubic sampling: exact at frames, smooth between them."""

import numpy as np

import motionloom as ml
from motionloom.splicing.smoothing import sample_smoothly

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
    straight = ml.resample(coarse, fps=120)
    smooth = sample_smoothly(coarse, 0.25 * np.arange(straight.n_frames), fps=120)
    assert sharpest(smooth) < 0.6 * sharpest(straight)
