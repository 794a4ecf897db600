"""Damaged clips have faults of the size asked for."""

from __future__ import annotations

import numpy as np
import pytest

from motionloom import synthetic
from motionloom.motion.corrupt import corrupt
from motionloom.motion.motion import Motion, Skeleton

FLOAT64 = 1e-12


@pytest.fixture(scope="module")
def walk() -> Motion:
    return synthetic.clip("walk").motion


def test_nothing_asked_changes_nothing(walk: Motion) -> None:
    same = corrupt(walk)
    assert np.abs(same.root_positions - walk.root_positions).max() < FLOAT64
    assert np.array_equal(same.local_quats, walk.local_quats)


def test_scaled_travel_scales_the_way_and_not_the_height(walk: Motion) -> None:
    far = corrupt(walk, travel=1.15)
    way = far.root_positions - far.root_positions[0]
    assert way[:, [0, 2]] == pytest.approx(
        1.15 * (walk.root_positions - walk.root_positions[0])[:, [0, 2]]
    )
    assert np.array_equal(far.root_positions[:, 1], walk.root_positions[:, 1])


def test_the_floor_rises_with_the_way(walk: Motion) -> None:
    steps = np.linalg.norm(np.diff(walk.root_positions[:, [0, 2]], axis=0), axis=-1)
    risen = corrupt(walk, floor_slope=0.01).root_positions[-1, 1] - walk.root_positions[-1, 1]
    assert risen == pytest.approx(0.01 * steps.sum())


def test_jitter_moves_root_and_joints_by_its_size(walk: Motion) -> None:
    moved = corrupt(walk, noise_m=0.005).world_positions() - walk.world_positions()
    root = np.sqrt(np.mean(np.sum(moved[:, 0] ** 2, axis=-1)))
    about_root = np.sqrt(np.mean(np.sum((moved - moved[:, :1]) ** 2, axis=-1)))
    assert root == pytest.approx(0.005, rel=0.1)
    assert about_root == pytest.approx(0.005, rel=0.1)


def test_point_noise_moves_single_joints_by_its_size(walk: Motion) -> None:
    moved = corrupt(walk, point_noise_m=0.005).world_positions() - walk.world_positions()
    spread = moved.std(axis=0)  # (J, 3)
    assert np.median(spread) == pytest.approx(0.005, rel=0.05)
    feet = [walk.skeleton.index(name) for name in ("LeftFoot", "LeftToeBase", "RightToeBase")]
    assert spread[feet] == pytest.approx(np.full((3, 3), 0.005), rel=0.25)


def test_the_seed_decides_the_noise(walk: Motion) -> None:
    one, same, other = (corrupt(walk, noise_m=0.005, seed=s) for s in (1, 1, 2))
    assert np.array_equal(one.local_quats, same.local_quats)
    assert not np.array_equal(one.local_quats, other.local_quats)


def test_noise_of_a_single_joint_is_that_of_its_root() -> None:
    lone = Motion(
        Skeleton(("only",), np.array([-1]), np.zeros((1, 3))),
        np.zeros((400, 3)),
        np.tile([1.0, 0.0, 0.0, 0.0], (400, 1, 1)),
        30.0,
    )
    noisy = corrupt(lone, noise_m=0.02, seed=1)
    moved = np.sqrt(np.mean(np.sum(noisy.root_positions**2, axis=1)))
    assert moved == pytest.approx(0.02, rel=0.1)
    assert noisy.local_quats.tolist() == lone.local_quats.tolist()


def test_point_noise_moves_neighbours_differently(walk: Motion) -> None:
    moved = corrupt(walk, point_noise_m=0.005).world_positions() - walk.world_positions()
    root = moved[:, 0]
    for name in ("LeftFoot", "LeftToeBase", "RightToeBase"):
        joint = moved[:, walk.skeleton.index(name)]
        assert abs(np.corrcoef(root.ravel(), joint.ravel())[0, 1]) < 0.5
