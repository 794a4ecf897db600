"""Bursts are spread over the frames around them; quick motion that lasts stays as captured."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom import BodyMap, Motion, synthetic
from motionloom.features.glitches.repair import _duration, find_bursts, spread_bursts, steps_between
from motionloom.rotation import quat

FPS = 120.0


def _turning(angles_deg: np.ndarray) -> np.ndarray:
    return quat.from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(angles_deg))


def _walk() -> tuple[Motion, BodyMap]:
    walk = synthetic.clip("walk").motion
    return walk, BodyMap.guess(walk.skeleton)


def _stepped(motion: Motion, joint: int, frame: int, degrees: float) -> Motion:
    """The motion with a joint turned by some degrees from a frame on."""
    quats = np.array(motion.local_quats)
    turn = _turning(np.array(degrees))
    quats[frame:, joint] = quat.multiply(quats[frame:, joint], turn)
    return motion.replace(local_quats=quats)


def _fastest(motion: Motion, joint: int, frames: slice) -> float:
    world = motion.world_quats()[frames, joint]
    return float(np.degrees(quat.angle_between(world[:-1], world[1:])).max()) * motion.fps


def test_a_sudden_step_is_found_and_a_kick_is_not() -> None:
    frames = np.arange(120.0)
    slow = 20.0 * np.sin(frames / 40.0)
    sudden = _turning(slow + 15.0 * (frames > 60.0))
    kick = _turning(slow + 60.0 / (1.0 + np.exp(-(frames - 60.0) / 3.0)))
    found = np.flatnonzero(find_bursts(steps_between(sudden, FPS), FPS))
    assert 60 in found
    assert found.min() >= 58 and found.max() <= 62
    assert not find_bursts(steps_between(kick, FPS), FPS).any()


def test_a_clip_without_bursts_comes_back_as_it_is() -> None:
    walk, body = _walk()
    spread = spread_bursts(walk, body)
    assert spread.motion is walk
    assert spread.parts == ()


@pytest.mark.parametrize("role", ["left_ankle", "right_wrist"])
def test_the_step_of_a_foot_or_hand_is_spread_and_nothing_else_changes(role: str) -> None:
    walk, body = _walk()
    joint = int(getattr(body, role))
    broken = _stepped(walk, joint, 40, 25.0)
    spread = spread_bursts(broken, body)
    near = slice(30, 50)
    assert _fastest(broken, joint, near) > 20.0 * walk.fps
    assert _fastest(spread.motion, joint, near) < max(
        330.0, 1.1 * _fastest(walk, joint, slice(None))
    )
    others = [j for j in range(walk.skeleton.n_joints) if j != joint]
    assert np.allclose(
        quat.angle_between(spread.motion.local_quats[:, others], broken.local_quats[:, others]), 0.0
    )
    far = np.abs(np.arange(walk.n_frames) - 40) > 0.3 * walk.fps
    assert np.allclose(spread.motion.local_quats[far], broken.local_quats[far])


def test_a_step_of_the_trunk_smooths_the_whole_pose_and_the_root() -> None:
    walk, body = _walk()
    broken = _stepped(walk, int(body.pelvis or 0), 40, 15.0)
    root = np.array(broken.root_positions)
    root[40:] += 0.02
    broken = broken.replace(root_positions=root)
    spread = spread_bursts(broken, body)
    assert any("the body" in part for part in spread.parts)
    assert _fastest(spread.motion, 0, slice(30, 50)) < 0.5 * _fastest(broken, 0, slice(30, 50))
    steps, was = (
        np.linalg.norm(np.diff(motion.root_positions, axis=0), axis=-1)[30:50].max()
        for motion in (spread.motion, broken)
    )
    assert steps < was - 0.01


def _chest_turned(degrees: np.ndarray) -> tuple[Motion, BodyMap]:
    """A walk whose chest turns by so many degrees in each frame."""
    walk, body = _walk()
    quats, chest = np.array(walk.local_quats), body.spine[-1]
    quats[:, chest] = quat.multiply(quats[:, chest], _turning(degrees))
    return walk.replace(local_quats=quats), body


def _ramp(walk: Motion, steps: int) -> np.ndarray:
    """From 0 before frame 100 to 1 after so many steps, evenly."""
    return np.clip((np.arange(walk.n_frames) - 100.0) / steps, 0.0, 1.0)


def test_a_trunk_that_is_elsewhere_after_three_frames_is_spread() -> None:
    walk, _ = _walk()
    assert walk.fps == 60.0
    broken, body = _chest_turned(54.0 * _ramp(walk, 3))
    spread = spread_bursts(broken, body)
    near = slice(90, 115)
    assert any("the body" in part for part in spread.parts)
    fastest = _fastest(broken, body.spine[-1], near)
    assert fastest > 1000.0
    assert _fastest(spread.motion, body.spine[-1], near) < 0.5 * fastest


def test_a_trunk_that_turns_quickly_for_longer_stays_as_captured() -> None:
    walk, _ = _walk()
    eased = 0.5 - 0.5 * np.cos(np.pi * _ramp(walk, 6))
    broken, body = _chest_turned(60.0 * eased)
    assert _fastest(broken, body.spine[-1], slice(90, 115)) > 800.0
    assert spread_bursts(broken, body).parts == ()


@pytest.mark.parametrize(
    ("speeds", "at", "expected"),
    [
        ([1.0, 1.0, 4.0, 3.0, 1.0], 2, 2),  # half of 4 is not reached before or after
        ([4.0, 4.0, 1.0, 4.0], 0, 2),  # the last step is no neighbour of the first
        ([4.0, 1.0, 4.0], 2, 1),
        ([3.0, 5.0, 9.0, 1.0], 0, 3),  # each leads to a faster one
        ([2.0, 2.0, 2.0], 1, 3),
    ],
)
def test_a_burst_lasts_while_steps_are_faster_than_half_the_fastest(speeds, at, expected):
    assert _duration(np.array(speeds), at) == expected
