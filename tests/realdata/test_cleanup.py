"""Footskate clean-up on captured clips of several skeletons."""

import warnings

import numpy as np
import pytest

from motionloom.body.anatomy import foot_offsets, foot_points
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.footskate import clean_footskate, fastest_contact
from motionloom.features.footplants.detect import detect_footplants
from motionloom.intake.load import load
from motionloom.motion.corrupt import corrupt

DRIFT_M = 1e-3
HELD_PART = 0.8
CHANGE_M = 0.012
KNEE_RATIO = 1.45
"""One clip may be above the 1.35 that the mean of clips is held to in the benchmark."""
ROUNDING = 1e-6

SKATED = ["16_15", "16_17", "16_35", "16_55"]
SKELETONS = [
    "cmu_bvh/69_01.bvh",
    "cmu_bvh/143_17.bvh",
    "cmu_asfamc/02_01.amc",
    "bandai_bvh/dataset-1_walk_normal_001.bvh",
    "deepmimic_txt/humanoid3d_walk.txt",
    "gltf/Soldier.glb",
    "gltf/CesiumMan.glb",
    "ugly/zombieWalk1.bvh",
]


def quietly(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load(path)


def extent_of_held(motion, footplants, source):
    """How far held points stray, on the feet as the source shows them."""
    feet = foot_offsets(source.skeleton, BodyMap.guess(source.skeleton), motion=source)
    points, worst = foot_points(motion, feet=feet), 0.0
    for k, spans in enumerate(footplants.intervals().values()):
        for first, last in spans:
            worst = max(worst, float(np.ptp(points[first : last + 1, k], axis=0).max()))
    return worst


def knee_acceleration(motion):
    body = BodyMap.guess(motion.skeleton)
    knees = motion.world_positions()[:, [body.left_knee, body.right_knee]]
    return np.percentile(np.linalg.norm(np.diff(knees, 2, axis=0), axis=-1), 95) * motion.fps**2


@pytest.mark.parametrize("name", SKATED)
def test_walks_and_runs_that_skate_come_out_standing(mocap, name):
    source = quietly(mocap / "cmu_bvh" / f"{name}.bvh")
    plants = detect_footplants(source)
    result = clean_footskate(corrupt(source, travel=1.15), plants)
    report = result.report
    assert extent_of_held(result.motion, result.footplants, source) < DRIFT_M
    assert report.held_part >= HELD_PART
    own = fastest_contact(foot_points(source), plants.planted, source.fps)[0]
    assert report.contact_speed_after <= own
    assert report.joint_change_mean <= CHANGE_M
    assert report.unreached_frames == 0
    assert knee_acceleration(result.motion) <= KNEE_RATIO * knee_acceleration(source)


@pytest.mark.parametrize("path", SKELETONS)
def test_every_kind_of_skeleton_is_held_without_harm(mocap, path):
    motion = quietly(mocap / path)
    result = clean_footskate(motion)
    assert extent_of_held(result.motion, result.footplants, motion) < DRIFT_M
    assert result.report.unreached_frames == 0
    if result.report.plants:
        before, after = result.report.contact_speed_before, result.report.contact_speed_after
        assert after <= before + ROUNDING
    if motion.joint_translations is None:
        assert result.motion.joint_translations is None
    else:
        assert np.array_equal(result.motion.joint_translations, motion.joint_translations)
    parents = motion.skeleton.parents[1:]
    bones = [
        np.linalg.norm(p[:, 1:] - p[:, parents], axis=-1)
        for p in (motion.world_positions(), result.motion.world_positions())
    ]
    assert np.abs(bones[1] - bones[0]).max() < ROUNDING


def test_a_walk_in_place_is_left_as_it_is(mocap):
    walk = quietly(f"{mocap}/gltf/Soldier.glb#Walk")
    result = clean_footskate(walk)
    assert result.report.joint_change_mean < CHANGE_M
