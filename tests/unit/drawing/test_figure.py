from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import motionloom as ml
from motionloom.body.anatomy import stature
from motionloom.drawing.figure import DIRECTIONS, ball_hull, build_figure

SOLE_M = 0.01
FLOAT64 = 1e-9
discs = st.lists(
    st.tuples(st.floats(-5, 5), st.floats(-5, 5), st.floats(0.01, 2)), min_size=1, max_size=5
)
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


def test_one_disc_is_outlined_by_its_circle() -> None:
    corners = ball_hull(np.array([[1.0, 2.0]]), np.array([0.5]))
    assert np.allclose(np.linalg.norm(corners - [1.0, 2.0], axis=1), 0.5, atol=FLOAT64)


def test_two_discs_of_different_size_make_a_taper() -> None:
    corners = ball_hull(np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([1.0, 0.25]))
    wide = np.ptp(corners[corners[:, 0] < 1.0][:, 1])
    narrow = np.ptp(corners[corners[:, 0] > 3.0][:, 1])
    assert wide > 3.0 * narrow


@given(discs)
def test_the_outline_is_convex_and_reaches_as_far_as_the_discs_do(
    balls: list[tuple[float, float, float]],
) -> None:
    centres, radii = np.array(balls)[:, :2], np.array(balls)[:, 2]
    corners = ball_hull(centres, radii)
    sides = np.roll(corners, -1, axis=0) - corners
    turns = sides[:, 0] * np.roll(sides[:, 1], -1) - sides[:, 1] * np.roll(sides[:, 0], -1)
    assert turns.min() > -FLOAT64
    angles = 2.0 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    reach = (centres @ rays.T + radii[:, None]).max(axis=0)
    assert np.allclose((corners @ rays.T).max(axis=0), reach, atol=FLOAT64)
