"""FBX with real clips: there and back, and around through BVH and GLB."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml

ROUND_TRIP_M = 1e-4
SHORT = 300
"""Frames of each clip that go around."""


def load(path: Path, **options: object) -> ml.Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ml.load(path, keep_t_pose=True, **options)


def clip_files(mocap: Path) -> list[Path]:
    """CMU as BVH and AMC, Bandai, a Mixamo-like rig (Soldier) and CesiumMan."""
    bandai = sorted((mocap / "bandai_bvh").rglob("*.bvh"))[:2]
    amc = sorted((mocap / "cmu_asfamc").rglob("*.amc"))[:1]
    names = ("cmu_bvh/16_15.bvh", "cmu_bvh/143_01.bvh", "gltf/Soldier.glb", "gltf/CesiumMan.glb")
    return [*(mocap / name for name in names), *bandai, *amc]


def worst_m(a: ml.Motion, b: ml.Motion) -> float:
    order = [b.skeleton.index(name) for name in a.skeleton.names]
    return float(np.abs(b.world_positions()[:, order] - a.world_positions()).max())


def test_around_through_bvh_and_glb_every_joint_is_where_it_was(
    mocap: Path, tmp_path: Path
) -> None:
    """FBX to BVH to GLB to FBX, for every family of clips."""
    gaps = {}
    for path in clip_files(mocap):
        first = tmp_path / f"{path.stem}.fbx"
        ml.save(load(path)[:SHORT], first)
        motion = load(first)
        ml.save(motion, tmp_path / "a.bvh")
        ml.save(load(tmp_path / "a.bvh", unit="cm", up="y"), tmp_path / "b.glb")
        ml.save(load(tmp_path / "b.glb"), tmp_path / "c.fbx")
        back = load(tmp_path / "c.fbx")
        assert back.n_frames == motion.n_frames
        assert back.fps == pytest.approx(motion.fps, rel=1e-6)
        gaps[path.name] = worst_m(motion, back)
    assert max(gaps.values()) < ROUND_TRIP_M, gaps


def test_unit_axes_and_rate_come_back(mocap: Path, tmp_path: Path) -> None:
    motion = load(mocap / "cmu_bvh" / "16_15.bvh")[:60]
    ml.save(motion, tmp_path / "a.fbx", unit="m", up="z")
    back = load(tmp_path / "a.fbx")
    assert (back.source.unit_m, back.source.up, back.fps) == (1.0, "z", motion.fps)
    assert worst_m(motion, back) < 1e-5
    ml.save(back, tmp_path / "b.fbx")
    assert load(tmp_path / "b.fbx").source.up == "z"


def test_travel_on_a_root_bone_is_written(mocap: Path, tmp_path: Path) -> None:
    motion = ml.with_root_bone(load(mocap / "cmu_bvh" / "16_15.bvh")[:60])
    ml.save(motion, tmp_path / "a.fbx")
    back = load(tmp_path / "a.fbx")
    assert back.skeleton.names == motion.skeleton.names
    assert worst_m(motion, back) < 1e-5


EXAMPLES = ("mixamo.fbx", "Samba Dancing.fbx")


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_files_of_three_go_around(name: str, tmp_path: Path) -> None:
    folder = os.environ.get("MOTIONLOOM_FBX_EXAMPLES")
    path = Path(folder or "") / name
    if not folder or not path.is_file():
        pytest.skip(
            f"{name} of three.js's examples/models/fbx is not part of the project. "
            "Set MOTIONLOOM_FBX_EXAMPLES to a folder that holds it"
        )
    motion = load(path)
    ml.save(motion, tmp_path / "a.bvh")
    ml.save(load(tmp_path / "a.bvh", unit="cm", up="y"), tmp_path / "b.glb")
    ml.save(load(tmp_path / "b.glb"), tmp_path / "c.fbx")
    assert worst_m(motion, load(tmp_path / "c.fbx")) < ROUND_TRIP_M
