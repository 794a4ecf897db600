"""Footplants of captured walks, runs and stairs."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import foot_points
from motionloom.motion.motion import Motion
from studies.baselines.stances import find_extremes, find_stances

PROTOCOLS = Path(__file__).resolve().parents[2] / "studies" / "protocols"
PLAN = json.loads((PROTOCOLS / "plants_stances.json").read_text())
RATE = 60.0
EARLIER_RATE = 30.0
LEAST_S = 0.03
"""A plant that shares less than this with a stance that a clip's end may cut is that of another."""
STEPS_CM = (6, 24, 44)
STEP_TOLERANCE_CM = 2.0
LEVEL_M = 0.045
"""Most that heel and ball of a standing foot differ in height: rest poses are not quite flat."""

Stances = Mapping[str, Sequence[tuple[int, int]]]


def loaded(path: Path, fps: float | None = None) -> Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        motion = ml.load(path, fps=fps)
    return ml.resample(motion, fps=RATE) if motion.fps > RATE * 1.01 else motion


def earlier_stances(path: Path, motion: Motion) -> dict[str, list[tuple[int, int]]]:
    """Landings of either foot with the next leaving, in frames of ``motion``.

    At 30 fps by the header's rate, even where that is wrong: so they were counted.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        by_header = ml.load(path)
    coarse = ml.resample(by_header, fps=EARLIER_RATE)
    longer = round(by_header.fps / EARLIER_RATE * motion.n_frames / by_header.n_frames)
    return {
        side: [
            (longer * int(landing), longer * int(leavings[leavings > landing][0]))
            for landing in landings
            if (leavings > landing).any()
        ]
        for side, (landings, leavings) in find_extremes(coarse).items()
    }


def missed_and_doubled(motion: Motion, stances: Stances, least_s: float = 0.0) -> np.ndarray:
    """Stances, those without a ball plant, those with several."""
    plants = ml.detect_footplants(motion).intervals()
    least = max(1.0, least_s * motion.fps)
    counts = np.zeros(3, dtype=int)
    for side, spans in stances.items():
        for first, last in spans:
            shared = [min(b, last) - max(a, first) + 1 for a, b in plants[f"{side}_toe"]]
            inside = sum(frames >= least for frames in shared)
            counts += [1, inside == 0, inside > 1]
    return counts


@pytest.mark.parametrize("gait", ["walk", "run"])
def test_of_the_stances_counted_earlier_one_is_missed_and_one_doubled_at_most(
    mocap: Path, gait: str
) -> None:
    plan = PLAN["earlier"]
    total = np.zeros(3, dtype=int)
    for entry in plan[gait]:
        path = mocap / entry["clip"]
        motion = loaded(path, entry.get("fps"))
        total += missed_and_doubled(motion, earlier_stances(path, motion))
    stances, missed, doubled = total
    assert stances == plan["stances"][gait]
    assert missed <= 1
    assert doubled <= 1


@pytest.mark.parametrize(("gait", "stances"), [("walk", 122), ("run", 87)])
def test_in_all_gaits_of_subject_16_no_stance_is_missed_or_doubled(
    mocap: Path, gait: str, stances: int
) -> None:
    total = np.zeros(3, dtype=int)
    for entry in PLAN[gait]:
        motion = loaded(mocap / entry["clip"])
        total += missed_and_doubled(motion, find_stances(motion), LEAST_S)
    assert list(total) == [stances, 0, 0]


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


def test_toes_that_are_pulled_up_while_the_heel_stands_plant_no_ball(mocap: Path) -> None:
    plants = ml.detect_footplants(loaded(mocap / "cmu_bvh" / "143_32.bvh", fps=60)).planted
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
    motion = loaded(mocap / name)
    points = foot_points(motion, body=BodyMap.guess(motion.skeleton))
    speeds = np.linalg.norm(np.gradient(points, axis=0), axis=-1)
    for side in (0, 2):
        both = speeds[:, side] + speeds[:, side + 1]
        quiet = both <= np.quantile(both, 0.1)
        over = points[quiet, side, 1] - points[quiet, side + 1, 1]
        assert abs(np.median(over)) < LEVEL_M
