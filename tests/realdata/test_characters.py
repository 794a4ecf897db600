"""Real characters keep their skins from file to file."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

import motionloom as ml

SINGLE_M = 3e-6
MAN_M = (1.2, 2.2)


@pytest.fixture(autouse=True)
def quiet() -> None:
    warnings.simplefilter("ignore", ml.MotionLoomWarning)


@pytest.mark.parametrize("name", ["Soldier", "CesiumMan"])
def test_a_skin_stands_upright_and_goes_through_both_formats(
    mocap: Path, tmp_path: Path, name: str
) -> None:
    path = mocap / "gltf" / f"{name}.glb"
    character, clip = ml.load_character(path), ml.load(path)
    points = character.posed(clip, 0)
    assert MAN_M[0] < np.ptp(points[:, 1]) < MAN_M[1]
    ml.save(clip, tmp_path / "one.fbx")
    ml.save(ml.load(tmp_path / "one.fbx", keep_t_pose=True), tmp_path / "two.glb")
    for file in ("one.fbx", "two.glb"):
        back = ml.load_character(tmp_path / file)
        motion = ml.load(tmp_path / file, keep_t_pose=True)
        for frame in (0, clip.n_frames // 2):
            ours, theirs = character.posed(clip, frame), back.posed(motion, frame)
            assert cKDTree(ours).query(theirs)[0].max() < SINGLE_M
            assert cKDTree(theirs).query(ours)[0].max() < SINGLE_M
        images = [
            {t.data for m in each.materials for use, t in m.textures.items() if use == "colour"}
            for each in (character, back)
        ]
        assert images[0] == images[1] != set()


def test_a_captured_walk_goes_on_a_character_with_its_feet_on_the_ground(
    mocap: Path, tmp_path: Path
) -> None:
    character = ml.load_character(mocap / "gltf" / "Soldier.glb")
    walk = ml.ground(ml.load(mocap / "cmu_bvh" / "16_15.bvh"))
    result = ml.retarget(walk, character)
    lowest = [character.posed(result, k)[:, 1].min() for k in range(0, result.n_frames, 20)]
    assert min(lowest) > -0.05 and max(lowest) < 0.05
    ml.save(result, tmp_path / "walk.glb", character=character)
    assert ml.load_character(tmp_path / "walk.glb").n_points == character.n_points
