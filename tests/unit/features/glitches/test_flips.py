"""Joints that flip over and back are led from before to after, feet above the floor."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom import BodyMap, Motion, resample, synthetic
from motionloom.features.glitches.glitch_frames import (
    CLEARANCE_M,
    _fill,
    _over_floor,
    _span,
    unflip,
)
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


def _twisted_at_the_end(motion: Motion, joint: int, child: int, frames: int) -> Motion:
    """The motion with a bone turned by half a turn about itself; its child keeps the world."""
    quats = np.array(motion.local_quats)
    bone = motion.skeleton.offsets[child]
    turn = np.concatenate([[0.0], bone / np.linalg.norm(bone)])
    quats[-frames:, joint] = quat.multiply(quats[-frames:, joint], turn)
    quats[-frames:, child] = quat.multiply(quat.conjugate(turn), quats[-frames:, child])
    return motion.replace(local_quats=quat.make_continuous(quats))


def test_a_thigh_that_twists_and_stays_twisted_is_left_as_captured() -> None:
    """Nothing tells which side is right, and no joint is at another place."""
    walk, body = _walk()
    hip, knee = int(body.left_hip or 0), int(body.left_knee or 0)
    twisted = _twisted_at_the_end(walk, hip, knee, 8)
    assert np.allclose(twisted.world_positions(), walk.world_positions(), atol=1e-9)
    assert unflip(twisted, body) == (twisted, [])


def test_at_low_rates_only_feet_are_led_on() -> None:
    walk, body = _walk()
    slow = resample(walk, fps=30.0)
    elbow, ankle = int(body.left_elbow or 0), int(body.left_ankle or 0)
    thrown = _flipped(slow, elbow, 15, 18)
    assert unflip(thrown, body) == (thrown, [])
    assert unflip(_flipped(slow, ankle, 15, 18), body)[1]


def _turning(*degrees: float) -> tuple[np.ndarray, np.ndarray]:
    """Rotations about an axis and the speeds between them at 60 frames a second."""
    quats = quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(np.array(degrees)))
    return quats, 60.0 * quat.angle_between(quats[:-1], quats[1:])


def test_a_flip_reaches_as_far_as_the_joint_turns_fast() -> None:
    # Steps of 20 degrees, 1200 a second, are part of the flip; of 10, 600 a second, are not.
    way = [0.0] * 40 + [10.0, 30.0, 150.0, 150.0, 150.0, 30.0, 10.0] + [0.0] * 40
    quats, speeds = _turning(*way)
    assert _span(quats, speeds, 41, 45, 60.0) == (40, 46)
    assert _span(quats[::-1], speeds[::-1], 41, 45, 60.0) == (40, 46)


def test_a_flip_that_a_take_begins_or_ends_in_has_one_good_side() -> None:
    quats, speeds = _turning(*([180.0] * 10 + [0.0] * 60))
    assert _span(quats, speeds, 9, 10, 60.0) == (-1, 10)
    assert _span(quats[::-1], speeds[::-1], 59, 60, 60.0) == (59, 70)
    # 0.42 s after its start a take does not begin in a flip: half a turn over 15 frames, 720
    # degrees a second, is slow enough.
    quats, speeds = _turning(*([180.0] * 25 + [0.0] * 60))
    assert _span(quats, speeds, 24, 25, 60.0) == (17, 32)


def test_a_flip_is_widened_until_the_rest_of_the_way_is_slow_enough() -> None:
    # After the flip the joint is 40 degrees away, and comes back by five in each frame.
    back = np.maximum(40.0 - 5.0 * np.arange(40), 0.0)
    quats, speeds = _turning(*([0.0] * 40), 150.0, 150.0, *back)
    # 40 degrees in 3 frames are 800 a second: as fast as may be.
    assert _span(quats, speeds, 39, 42, 60.0) == (39, 42)
    quats, speeds = _turning(*([0.0] * 40), 150.0, 150.0, *(back + 1.0))
    assert _span(quats, speeds, 39, 42, 60.0) == (38, 43)  # 36 degrees in five


def test_a_joint_without_a_good_side_coasts_to_rest() -> None:
    quats, _ = _turning(*range(0, 20, 2))
    out = np.array(quats)
    _fill(out, quats, 4, 10)  # from 8 degrees on, with two a frame
    steps = np.degrees(quat.angle_between(out[4:-1], out[5:]))
    assert steps == pytest.approx(12.0 * (1.0 - np.exp(-1 / 6)) * np.exp(-np.arange(5) / 6))
    assert np.array_equal(out[:5], quats[:5])
    _fill(out := np.array(quats[::-1]), quats[::-1], -1, 5)
    steps = np.degrees(quat.angle_between(out[:5], out[1:6]))[::-1]
    assert steps == pytest.approx(12.0 * (1.0 - np.exp(-1 / 6)) * np.exp(-np.arange(5) / 6))
    assert np.array_equal(out[5:], quats[::-1][5:])


def test_a_foot_that_would_pass_through_the_floor_is_pitched_up_and_another_left_alone() -> None:
    stand = synthetic.clip("stand").motion
    body = BodyMap.guess(stand.skeleton)
    ankle, toe = int(body.left_ankle or 0), int(body.left_toe or 0)
    high = stand.replace(root_positions=stand.root_positions + [0.0, 0.1, 0.0] * _lifts(stand))
    assert _over_floor(high, ankle, toe, [(30, 50)]) is high
    positions, world = high.world_pose()
    axis = np.cross(positions[40, toe] - positions[40, ankle], [0.0, -1.0, 0.0])
    down = quat.from_axis_angle(axis / np.linalg.norm(axis), 1.2)
    local = quat.multiply(quat.conjugate(world[:, ankle]), quat.multiply(down, world[:, ankle]))
    quats = np.array(high.local_quats)
    quats[36:45, ankle] = quat.multiply(quats[:, ankle], local)[36:45]
    low = high.replace(local_quats=quats)
    lifted = _over_floor(low, ankle, toe, [(30, 50)])
    before, after = (m.world_positions()[:, toe, 1] for m in (low, lifted))
    level = np.quantile(before, 0.05) + CLEARANCE_M
    assert before[36:45].max() < level
    assert after[36:45].min() > level - 1e-9
    assert np.abs(after[:20] - before[:20]).max() < 1e-12


def _lifts(motion: Motion) -> np.ndarray:
    """1 between frames 20 and 60, 0 in other frames."""
    return ((np.arange(motion.n_frames) >= 20) & (np.arange(motion.n_frames) <= 60))[:, None]


def test_a_flip_at_the_end_of_a_take_after_which_the_way_is_too_fast_has_one_good_side() -> None:
    # 59 degrees in three frames are 1180 a second, and no frame is left to widen it by.
    quats, speeds = _turning(*([0.0] * 60), 150.0, 150.0, 59.0)
    assert _span(quats, speeds, 59, 62, 60.0) == (59, 63)
