from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.proportions import stature
from motionloom.drawing.flesh import build_figure

SOLE_M = 0.01
PARTS = {
    "thigh", "shin", "foot", "toes", "upper arm", "forearm", "hand",
    "seat", "chest", "neck", "head",
}  # fmt: skip


def test_a_person_has_every_part_on_both_sides(walk) -> None:
    figure = build_figure(walk.motion)
    assert {part.name for part in figure.parts} == PARTS
    for name in ("thigh", "shin", "foot", "toes", "upper arm", "forearm", "hand"):
        assert sorted(part.side for part in figure.parts if part.name == name) == ["left", "right"]


def test_the_figure_is_as_tall_as_the_skeleton_and_stands_on_the_floor(walk) -> None:
    figure = build_figure(walk.motion)
    assert figure.height == stature(walk.motion.skeleton)
    assert figure.floor() == 0.0
    assert np.abs(np.percentile(figure.lowest(), 5)) < SOLE_M
    low, high = figure.bounds()
    assert 0.93 * figure.height < high[1] - max(low[1], 0.0) < 1.15 * figure.height


def test_limbs_hang_on_their_joints(walk) -> None:
    figure = build_figure(walk.motion)
    body = ml.BodyMap.guess(walk.motion.skeleton)
    thigh = next(p for p in figure.parts if p.name == "thigh" and p.side == "left")
    assert thigh.points == (body.left_hip, body.left_knee)
    assert thigh.radii[0] > thigh.radii[1]


def test_the_chin_is_ahead_of_the_skull(walk) -> None:
    figure = build_figure(walk.motion)
    skull, chin = next(part for part in figure.parts if part.name == "head").points
    ahead = (figure.points[:, chin] - figure.points[:, skull])[:, 2].mean()
    assert ahead > 0.02  # the walk faces +Z


def test_bones_without_a_role_are_thin_capsules(rod: ml.Motion) -> None:
    figure = build_figure(rod)
    assert [part.name for part in figure.parts] == ["bone"] * 3
    assert figure.points.shape == (8, 4, 3)


def test_a_single_point_can_be_drawn() -> None:
    dot = ml.Motion(ml.Skeleton(["a"], [-1], [[0, 0, 0]]), [[0, 1, 0]], [[[1, 0, 0, 0]]], fps=30)
    figure = build_figure(dot)
    assert len(figure.parts) == 1
    assert figure.height > 0


@pytest.mark.parametrize(
    "name",
    [
        "cmu_bvh/16_15.bvh",
        "bandai_bvh/dataset-1_kick_normal_001.bvh",
        "gltf/Soldier.glb",
        "gltf/CesiumMan.glb",
        "deepmimic_txt/humanoid3d_walk.txt",
        "ugly/zombieWalk1.bvh",
        "ugly/Boxing_Toes.bvh",
    ],
)
@pytest.mark.filterwarnings("ignore::motionloom.findings.MotionLoomWarning")
def test_real_rigs_have_a_head_above_a_chest_above_feet(mocap: Path, name: str) -> None:
    figure = build_figure(ml.load(mocap / name))
    middle = {
        part.name: float(np.median(figure.points[:, list(part.points), 1])) for part in figure.parts
    }
    assert {"head", "chest", "seat", "foot", "thigh", "hand"} <= set(middle)
    assert middle["head"] > middle["chest"] > middle["seat"] > middle["foot"]
    assert np.isfinite(figure.points).all()
