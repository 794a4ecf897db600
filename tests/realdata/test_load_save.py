"""Real clips go out as they came in, and two formats of one take agree."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.findings import MotionLoomWarning

KEPT_M = 1e-5
PAIRED_M = 1e-5
SAME_TAKE = {
    "root": "Hips",
    "lfemur": "LeftUpLeg",
    "ltibia": "LeftLeg",
    "lfoot": "LeftFoot",
    "ltoes": "LeftToeBase",
    "rfemur": "RightUpLeg",
    "rtibia": "RightLeg",
    "rfoot": "RightFoot",
    "rtoes": "RightToeBase",
}
UGLY = (
    "three_pirouette",
    "wave_hello",
    "test_mocapbank",
    "zombieWalk1",
    "sfu_0005_Walking001",
    "Boxing_Toes",
    "sinusoidal",
    "Geno_stance",
    "rotation_first_root",
    "pybvh_test1",
)
OTHERS = (
    "cmu_bvh/16_15.bvh",
    "cmu_bvh/16_01.bvh",
    "cmu_bvh/143_17.bvh",
    "cmu_bvh/69_50.bvh",
    "cmu_bvh/77_14.bvh",
    "cmu_bvh/83_27.bvh",
    "cmu_bvh/136_28.bvh",
    "cmu_bvh/82_06.bvh",
    "bandai_bvh/dataset-1_walk_happy_001.bvh",
    "bandai_bvh/dataset-1_kick_normal_001.bvh",
    "bandai_bvh/dataset-2_run_normal_001.bvh",
)
PAIRS = ("05", "08", "11", "13", "15", "17", "19", "35", "37", "39", "41", "43")


def load(path: Path | str, **options: object) -> ml.Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MotionLoomWarning)
        return ml.load(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("file", [*(f"ugly/{name}.bvh" for name in UGLY), *OTHERS])
def test_bvh_goes_out_as_it_came_in(mocap: Path, tmp_path: Path, file: str) -> None:
    first = load(mocap / file)
    copy = tmp_path / "copy.bvh"
    ml.save(first, copy)
    again = load(copy)
    assert again.source.skipped_frames == 0  # a T-pose was left out already
    assert again.source.unit_m == pytest.approx(first.source.unit_m)
    assert again.source.up == first.source.up
    assert again.fps == pytest.approx(first.fps, rel=1e-9)
    assert again.skeleton.names == first.skeleton.names
    assert again.source.detail["channels"] == first.source.detail["channels"]
    assert_same_joints(again, first)


@pytest.mark.parametrize("file", ["Soldier.glb#Run", "Soldier.glb#Walk", "CesiumMan.glb"])
def test_glb_goes_out_as_it_came_in(mocap: Path, tmp_path: Path, file: str) -> None:
    first = load(f"{mocap}/gltf/{file}")
    copy = tmp_path / "copy.glb"
    ml.save(first, copy)
    again = load(copy)
    assert again.fps == pytest.approx(first.fps, rel=1e-9)
    assert_same_joints(again, first)


@pytest.mark.parametrize(
    "file",
    [
        "cmu_bvh/16_15.bvh",
        "bandai_bvh/dataset-1_walk_normal_001.bvh",
        "ugly/pybvh_test1.bvh",
        "deepmimic_txt/humanoid3d_walk.txt",
        "cmu_asfamc/16_15.amc",
        "gltf/Soldier.glb#Walk",
    ],
)
@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".npz", ".mlm"])
def test_any_clip_goes_into_any_format(mocap: Path, tmp_path: Path, file: str, suffix: str) -> None:
    first = load(f"{mocap}/{file}")
    copy = tmp_path / f"copy{suffix}"
    ml.save(first, copy)
    again = load(copy)
    assert again.fps == pytest.approx(first.fps, rel=1e-6)
    assert_same_joints(again, first)


@pytest.mark.parametrize("take", PAIRS)
def test_amc_and_bvh_of_one_take_agree_on_hips_and_legs(mocap: Path, take: str) -> None:
    amc = load(mocap / f"cmu_asfamc/16_{take}.amc")
    bvh = load(mocap / f"cmu_bvh/16_{take}.bvh")
    assert amc.n_frames == bvh.n_frames
    assert amc.fps == pytest.approx(bvh.fps, rel=1e-4)
    ours, theirs = amc.world_positions(), bvh.world_positions()
    for bone, joint in SAME_TAKE.items():
        np.testing.assert_allclose(
            ours[:, amc.skeleton.index(bone)],
            theirs[:, bvh.skeleton.index(joint)],
            atol=PAIRED_M,
            err_msg=bone,
        )


def assert_same_joints(again: ml.Motion, first: ml.Motion) -> None:
    by_name = [again.skeleton.names.index(name) for name in first.skeleton.names]
    gap = np.abs(again.world_positions()[:, by_name] - first.world_positions()).max()
    assert gap < KEPT_M
