"""Floors under real clips, and what grounding makes of them."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import ball_height
from motionloom.body.body_map import BodyMap
from motionloom.findings import MotionLoomWarning
from motionloom.intake.floor import fit_floor, track_legs

WALKS = ("16_15", "16_16", "16_21", "16_31", "16_47", "16_58", "69_01", "69_04")
LEVEL_M = 0.002
LEVEL_DEG = 0.25


def load(path: Path, **options: float) -> ml.Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MotionLoomWarning)
        return ml.load(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("take", WALKS)
def test_the_floor_of_a_walk_is_near_level_and_close_under_the_balls(
    mocap: Path, take: str
) -> None:
    floor = load(mocap / f"cmu_bvh/{take}.bvh").source.floor
    assert floor is not None
    # A hand's measure of these takes: 2 to 6 cm, feet up to 1.3 cm apart, 0.1 to 0.45 degrees.
    assert 0.015 < floor.height < 0.065
    assert abs(floor.left_height - floor.right_height) < 0.015
    assert np.degrees(np.hypot(floor.slope_x, floor.slope_z)) < 0.6
    assert floor.residual < 0.006


def test_stairs_are_on_the_floor_they_start_from(mocap: Path) -> None:
    motion = load(mocap / "cmu_bvh/143_17.bvh", fps=60)
    floor = motion.source.floor
    assert floor is not None
    assert 0.03 < floor.height < 0.075
    assert np.degrees(np.hypot(floor.slope_x, floor.slope_z)) < 0.5
    (note,) = (f for f in motion.source.findings if f.where == "floor")
    assert "stand on something else" in note.problem


def test_a_clip_is_never_moved_by_loading(mocap: Path) -> None:
    motion = load(mocap / "cmu_bvh/16_15.bvh")
    lines = (mocap / "cmu_bvh/16_15.bvh").read_text().split("Frame Time:")[1].splitlines()
    root_in_file = np.array(lines[2].split()[:3], dtype=float)  # the frame after the T-pose
    np.testing.assert_allclose(motion.root_positions[0], root_in_file * 0.0254 / 0.45, atol=1e-12)


@pytest.mark.parametrize(
    "file",
    [
        "cmu_bvh/16_15.bvh",
        "cmu_bvh/16_35.bvh",
        "cmu_bvh/143_17.bvh",
        "cmu_bvh/136_28.bvh",
        "bandai_bvh/dataset-1_walk_normal_001.bvh",
        "deepmimic_txt/humanoid3d_walk.txt",
        "gltf/CesiumMan.glb",
        "ugly/pybvh_test1.bvh",
        "ugly/test_mocapbank.bvh",
    ],
)
def test_grounded_the_floor_is_level_at_the_soles_and_stays_so(mocap: Path, file: str) -> None:
    grounded = ml.ground(load(mocap / file))
    assert ml.ground(grounded) is grounded
    body = BodyMap.guess(grounded.skeleton)
    tracks = track_legs(grounded, body)
    assert tracks is not None
    found = fit_floor(tracks)
    assert found is not None
    # A fresh fit finds a trace of the tilt that the prior held back, so: at the middle of the path.
    floor, middle = found[0], tracks.balls.mean(axis=(0, 1))
    height = floor.height + floor.slope_x * middle[0] + floor.slope_z * middle[2]
    assert height == pytest.approx(ball_height(grounded.skeleton, body), abs=LEVEL_M)
    assert np.degrees(np.hypot(floor.slope_x, floor.slope_z)) < LEVEL_DEG
