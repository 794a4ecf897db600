"""Footplants of captured walks, runs and stairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import BodyMap
from tests.support.clips import at_most_60_hz

STEPS_CM = (6, 24, 44)
STEP_TOLERANCE_CM = 2.0
LEVEL_M = 0.045
"""Most that heel and ball of a standing foot differ in height: rest poses are not quite flat."""


def test_stairs_are_found_at_their_heights(mocap: Path) -> None:
    motion = at_most_60_hz(mocap / "cmu_bvh" / "143_17.bvh", fps=60)
    points = foot_points(motion)
    plants = ml.detect_footplants(motion).intervals()
    heights = [
        100.0 * float(np.median(points[first : last + 1, k, 1]))
        for k, kind in ((1, "left_toe"), (3, "right_toe"))
        for first, last in plants[kind]
    ]
    for step in STEPS_CM:
        assert sum(abs(height - step) < STEP_TOLERANCE_CM for height in heights) >= 2
    strays = [h for h in heights if min(abs(h - step) for step in STEPS_CM) > STEP_TOLERANCE_CM]
    assert len(strays) <= 1


def test_walking_on_toes_plants_no_heel(mocap: Path) -> None:
    motion = at_most_60_hz(mocap / "cmu_bvh" / "136_27.bvh")
    walks = ml.detect_footplants(motion).planted[100:340]
    assert walks[:, [1, 3]].mean() > 0.4
    assert not walks[:, [0, 2]].any()


def test_toes_that_are_pulled_up_while_the_heel_stands_plant_no_ball(mocap: Path) -> None:
    plants = ml.detect_footplants(at_most_60_hz(mocap / "cmu_bvh" / "143_32.bvh", fps=60)).planted
    assert plants[430:460, 2].all()
    assert not plants[455:490, 3].any()


@pytest.mark.parametrize(
    "name",
    [
        "cmu_bvh/16_15.bvh",
        "cmu_bvh/56_08.bvh",
        "cmu_bvh/69_01.bvh",
        "cmu_bvh/77_02.bvh",
        "bandai_bvh/dataset-1_walk_normal_001.bvh",
        "bandai_bvh/dataset-2_walk_normal_001.bvh",
        "deepmimic_txt/humanoid3d_walk.txt",
        "ugly/sfu_0005_Walking001.bvh",
        "ugly/test_mocapbank.bvh",
        "ugly/Boxing_Toes.bvh",
    ],
)
def test_heel_and_ball_of_a_quiet_foot_are_about_level(mocap: Path, name: str) -> None:
    motion = at_most_60_hz(mocap / name)
    points = foot_points(motion, body=BodyMap.guess(motion.skeleton))
    speeds = np.linalg.norm(np.gradient(points, axis=0), axis=-1)
    for side in (0, 2):
        both = speeds[:, side] + speeds[:, side + 1]
        quiet = both <= np.quantile(both, 0.1)
        over = points[quiet, side, 1] - points[quiet, side + 1, 1]
        assert abs(np.median(over)) < LEVEL_M
