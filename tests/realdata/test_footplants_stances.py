"""Footplants of captured walks, runs and stairs."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.features.stances import find_stances
from motionloom.motion.body import BodyMap
from motionloom.motion.feet import foot_points
from motionloom.motion.motion import Motion

RATE = 60.0
LEAST_S = 0.03
"""A plant that shares less than this with a stance is that of another."""
STEPS_CM = (6, 24, 44)
STEP_TOLERANCE_CM = 2.0
LEVEL_M = 0.045
"""Most that heel and ball of a standing foot differ in height: rest poses are not quite flat."""


def loaded(path: Path, fps: float | None = None) -> Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        motion = ml.load(path, fps=fps)
    return ml.resample(motion, fps=RATE) if motion.fps > RATE * 1.01 else motion


def subject_16(mocap: Path, *words: str) -> list[Path]:
    with (mocap / "INDEX.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["file"].startswith("cmu_bvh/16_")]
    return [mocap / r["file"] for r in rows if any(word in r["description"] for word in words)]


def missed_and_doubled(motion: Motion) -> np.ndarray:
    """Stances by the foot's extremes, those without a ball plant, those with several."""
    plants = ml.detect_footplants(motion).intervals()
    counts = np.zeros(3, dtype=int)
    for side, stances in find_stances(motion).items():
        for first, last in stances:
            least = LEAST_S * motion.fps
            inside = [
                (a, b)
                for a, b in plants[f"{side}_toe"]
                if min(b, last) - max(a, first) + 1 >= least
            ]
            counts += [1, not inside, len(inside) > 1]
    return counts


@pytest.mark.parametrize(
    ("words", "at_least"), [(("walk",), 120), (("run", "jog"), 80)], ids=["walks", "runs"]
)
def test_of_all_stances_at_most_one_is_missed_and_one_doubled(
    mocap: Path, words: tuple[str, ...], at_least: int
) -> None:
    paths = subject_16(mocap, *words)
    stances, missed, doubled = sum(missed_and_doubled(loaded(path)) for path in paths)
    assert stances >= at_least
    assert missed <= 1
    assert doubled <= 1


def test_stairs_are_found_at_their_heights(mocap: Path) -> None:
    motion = loaded(mocap / "cmu_bvh" / "143_17.bvh", fps=60)
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
    motion = loaded(mocap / "cmu_bvh" / "136_27.bvh")
    walks = ml.detect_footplants(motion).planted[100:340]
    assert walks[:, [1, 3]].mean() > 0.4
    assert not walks[:, [0, 2]].any()


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
    motion = loaded(mocap / name)
    points = foot_points(motion, body=BodyMap.guess(motion.skeleton))
    speeds = np.linalg.norm(np.gradient(points, axis=0), axis=-1)
    for side in (0, 2):
        both = speeds[:, side] + speeds[:, side + 1]
        quiet = both <= np.quantile(both, 0.1)
        over = points[quiet, side, 1] - points[quiet, side + 1, 1]
        assert abs(np.median(over)) < LEVEL_M
