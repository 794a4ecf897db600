"""Joints that flip over and back are led from before to after, feet above the floor."""

from __future__ import annotations

import numpy as np

from motionloom import BodyMap, Motion, synthetic
from motionloom.features.flips import unflip
from motionloom.rotation import quat

OVER = quat.from_axis_angle(np.array([0.0, 0.0, 1.0]), np.pi)


def _walk() -> tuple[Motion, BodyMap]:
    walk = synthetic.clip("run").motion
    return walk, BodyMap.guess(walk.skeleton)


def _flipped(motion: Motion, joint: int, first: int, stop: int) -> Motion:
    quats = np.array(motion.local_quats)
    quats[first:stop, joint] = quat.multiply(quats[first:stop, joint], OVER)
    return motion.replace(local_quats=quats)


def _apart(a: Motion, b: Motion, joint: int) -> np.ndarray:
    return np.degrees(quat.angle_between(a.local_quats[:, joint], b.local_quats[:, joint]))


def test_a_clip_without_flips_comes_back_as_it_is() -> None:
    walk, body = _walk()
    assert unflip(walk, body) == (walk, [])


def test_a_foot_that_flips_over_and_back_is_led_on() -> None:
    walk, body = _walk()
    ankle = int(body.left_ankle or 0)
    mended, names = unflip(_flipped(walk, ankle, 30, 38), body)
    assert names
    assert _apart(mended, walk, ankle).max() < 60.0  # not 180: pitched up a little at most
    assert (_apart(mended, walk, ankle)[:20] < 1e-9).all()


def test_a_foot_that_a_take_begins_with_the_wrong_way_round_is_turned() -> None:
    walk, body = _walk()
    ankle = int(body.right_ankle or 0)
    mended, _ = unflip(_flipped(walk, ankle, 0, 10), body)
    assert _apart(mended, walk, ankle)[:10].max() < 60.0


def test_a_knee_that_turns_back_with_its_foot_is_led_on() -> None:
    """Solvers fold a knee up to a limit, bend it back past it, and turn the foot over."""
    walk, body = _walk()
    knee, ankle = int(body.left_knee or 0), int(body.left_ankle or 0)
    first, last = 33, 47
    frames = np.arange(walk.n_frames)
    flexion = 60.0 + 70.0 * np.exp(-(((frames - 40.0) / 8.0) ** 2))
    limit = flexion[first]
    wrong = np.where(flexion > limit, 2.0 * limit - flexion, flexion)
    axis = np.array([1.0, 0.0, 0.0])
    quats = np.array(walk.local_quats)
    quats[:, knee] = quat.from_axis_angle(axis, np.radians(flexion))
    right = walk.replace(local_quats=quats)
    quats = np.array(quats)
    quats[:, knee] = quat.from_axis_angle(axis, np.radians(wrong))
    broken = _flipped(walk.replace(local_quats=quats), ankle, first + 1, last)
    mended, _ = unflip(broken, body)
    assert _apart(mended, right, knee).max() < 0.33 * _apart(broken, right, knee).max()
