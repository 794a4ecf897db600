"""Skins of real GLB files stand where their joints stand, in every frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.rotation import quat
from motionloom.studio.clips.skin import skin_of

UNDER_THE_SKIN_M = 0.16
"""Joints lie inside the body: the deepest, a hip, has this much of it around it."""
FLOOR_M = 0.05


@pytest.mark.parametrize("name", ["Soldier", "CesiumMan"])
def test_every_joint_lies_in_the_skin_and_the_skin_stands_on_the_ground(
    mocap: Path, name: str
) -> None:
    path = mocap / "gltf" / f"{name}.glb"
    motion = ml.load(path)
    skin = skin_of(motion)
    assert skin is not None
    places, turns = motion.world_pose()
    points = np.concatenate([skin.points, np.ones((len(skin.points), 1))], axis=1)
    down = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (len(skin.binds), 1, 4))
    binds = np.concatenate([skin.binds, down], axis=1)
    lowest = []
    for frame in np.linspace(0, motion.n_frames - 1, 5).astype(int):
        joints = np.concatenate([quat.to_matrix(turns[frame]), places[frame][..., None]], axis=-1)[
            skin.joints
        ]
        bones = (joints @ binds)[skin.bones]  # (V, 4, 3, 4)
        bent = np.einsum("vk,vkij,vj->vi", skin.weights, bones, points)
        for place in places[frame]:
            assert np.linalg.norm(bent - place, axis=1).min() < UNDER_THE_SKIN_M
        lowest.append(bent[:, 1].min())
    assert abs(np.median(lowest)) < FLOOR_M
