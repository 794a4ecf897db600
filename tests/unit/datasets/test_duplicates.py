"""Duplicates: the same motion under any name, place, heading, rate and timing; no other."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.datasets.duplicates import (
    BAND,
    POSES,
    find_duplicates,
    make_fingerprint,
    matched_distances,
    pack_fingerprint,
    unpack_fingerprint,
)
from motionloom.motion.edit import sample


def re_timed(motion: ml.Motion) -> ml.Motion:
    """The same motion turned, moved, at three quarters of the rate, slower and then faster."""
    part = np.linspace(0.0, 1.0, max(16, round(0.75 * motion.n_frames)))
    part = part + 0.08 * np.sin(2.0 * np.pi * part)
    warped = sample(motion, part * (motion.n_frames - 1), fps=0.75 * motion.fps)
    return ml.move(warped, heading=1.9, x=3.0, z=-2.0)


def print_of(motion: ml.Motion) -> np.ndarray:
    body = ml.BodyMap.guess(motion.skeleton, motion=motion)
    poses = make_fingerprint(motion.world_positions(), motion.skeleton, body)
    return unpack_fingerprint(pack_fingerprint(poses))


@pytest.mark.parametrize("kind", ["walk", "run", "wave", "kick", "turn"])
def test_moved_resampled_and_re_timed_clips_are_the_same(kind: str) -> None:
    clip = ml.synthetic.clip(kind).motion
    others = [
        ml.move(clip, heading=2.0, x=5.0),
        ml.resample(clip, fps=30),
        clip.replace(fps=25.0),
        re_timed(clip),
    ]
    prints = [print_of(each) for each in (clip, *others)]
    assert find_duplicates(prints, [""] * 5) == [0] * 5


def test_different_clips_are_not() -> None:
    clips = [ml.synthetic.clip(kind) for kind in ml.synthetic.kinds()]
    heads = find_duplicates([print_of(each.motion) for each in clips], [""] * len(clips))
    assert heads == list(range(len(clips)))


def test_copies_of_files_are_duplicates_without_a_body() -> None:
    assert find_duplicates([None] * 4, ["x", "", "y", "x"]) == [0, 1, 2, 0]


def test_bodies_that_stand_still_are_not_compared() -> None:
    still = np.zeros((POSES, 5, 3)) + np.arange(5)[:, None]
    assert find_duplicates([still.ravel(), still.ravel()], ["a", "b"]) == [0, 1]


def plain_distance(a: np.ndarray, b: np.ndarray) -> float:
    """Dynamic time warping as it is written down."""
    n = len(a)
    least = np.full((n + 1, n + 1), np.inf)
    least[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(max(1, i - BAND), min(n, i + BAND) + 1):
            cost = np.sum((a[i - 1] - b[j - 1]) ** 2)
            least[i, j] = min(
                least[i - 1, j - 1] + 2.0 * cost, least[i - 1, j] + cost, least[i, j - 1] + cost
            )
    return float(np.sqrt(0.5 * least[n, n] / np.sqrt(np.sum(a * a) * np.sum(b * b))))


def test_matched_distances_are_those_of_the_plain_form() -> None:
    rng = np.random.Generator(np.random.PCG64(5))
    a = np.cumsum(rng.standard_normal((3, 40, 4)), axis=1)
    b = a + 0.2 * rng.standard_normal(a.shape)
    b[1] = np.roll(a[1], 3, axis=0)
    expected = [plain_distance(x, y) for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(matched_distances(a, b), expected, rtol=1e-12)
    np.testing.assert_allclose(matched_distances(a, b), matched_distances(b, a), rtol=1e-12)
    assert matched_distances(a, a).max() == 0.0
