"""What `.npz` files hold for training: velocities are derivatives, contacts are footplants."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.motion.motion import angular_velocities
from motionloom.rotation import quat


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[ml.Motion, Path]:
    motion = ml.synthetic.clip("walk").motion
    path = tmp_path_factory.mktemp("npz") / "walk.npz"
    ml.save(motion, path)
    return motion, path


def test_velocities_are_the_derivatives_of_positions(saved) -> None:
    motion, path = saved
    with np.load(path) as file:
        places, speeds, fps = file["world_positions"], file["linear_velocities"], file["fps"]
    assert np.allclose(speeds[1:-1], (places[2:] - places[:-2]) * fps / 2.0, atol=1e-12)
    assert np.allclose(speeds[0], (places[1] - places[0]) * fps, atol=1e-12)
    assert np.allclose(places, motion.world_positions())


def test_angular_velocities_turn_one_frame_into_the_next_but_one(saved) -> None:
    _, path = saved
    with np.load(path) as file:
        turns, spins, fps = file["world_quats"], file["angular_velocities"], file["fps"]
    ahead = quat.multiply(quat.exp(spins[1:-1] * 2.0 / fps), turns[:-2])
    assert quat.angle_between(ahead, turns[2:]).max() < 1e-6


def test_angular_velocity_of_a_known_spin() -> None:
    t = np.arange(50) / 100.0
    spin = np.array([0.3, -2.0, 1.0])
    turns = quat.multiply(quat.exp(t[:, None] * spin), quat.exp(np.array([0.5, 0.1, 0.9])))
    assert np.allclose(angular_velocities(turns, 100.0), spin, atol=1e-9)


def test_contacts_and_names_are_declared(saved) -> None:
    motion, path = saved
    with np.load(path) as file:
        assert np.array_equal(file["contacts"], ml.detect_footplants(motion).planted)
        assert file["contact_names"].tolist()[0] == "left_heel"
        assert str(file["quat_order"]) == "wxyz"
        assert (float(file["unit_m"]), str(file["up"])) == (1.0, "y")
        assert file["names"].tolist() == list(motion.skeleton.names)


def test_velocities_are_in_the_unit_and_axes_of_the_file(saved, tmp_path) -> None:
    motion, path = saved
    ml.save(motion, tmp_path / "z.npz", unit="cm", up="z")
    with np.load(path) as ours, np.load(tmp_path / "z.npz") as file:
        x, y, z = np.moveaxis(ours["linear_velocities"], -1, 0)
        assert np.allclose(file["linear_velocities"], 100.0 * np.stack([x, -z, y], axis=-1))
    assert np.allclose(ml.load(tmp_path / "z.npz").world_positions(), motion.world_positions())


def test_a_rig_without_feet_has_no_contacts(tmp_path) -> None:
    rig = ml.Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    ml.save(
        ml.Motion(rig, np.zeros((3, 3)), np.tile([1.0, 0, 0, 0], (3, 2, 1)), 30.0),
        tmp_path / "a.npz",
    )
    with np.load(tmp_path / "a.npz") as file:
        assert "contacts" not in file
