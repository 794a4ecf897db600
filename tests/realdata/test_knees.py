"""Knees of captured clips: which were captured bent backwards, and their repair."""

import warnings

import numpy as np
import pytest

from motionloom.body.anatomy import find_knees, foot_points, knee_flexion, repair_knees
from motionloom.body.body_map import BodyMap
from motionloom.cleanup.footskate import clean_footskate
from motionloom.intake.load import load
from motionloom.retargeting.retarget import retarget
from motionloom.rotation import quat
from tests.oracles.calm import steps_too_fast

ANKLE_M = 1e-3
BENT_BACK = ["141_03", "141_14", "141_16", "141_20", "141_32"]
HEALTHY = ["cmu_bvh/143_05", "cmu_bvh/143_17", "cmu_bvh/143_32", "cmu_bvh/16_15", "audit/35_17"]
LEG = ("hip", "knee", "ankle")


def quietly(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load(path)


def flexion_of(motion, like=None):
    like = motion if like is None else like
    knees = find_knees(like.skeleton, BodyMap.guess(like.skeleton), motion=like)
    return np.degrees(knee_flexion(knees, *motion.world_pose()))


def relative_turns(motion):
    """Steps of hips, knees and ankles relative to the joint before, radians. (F - 1, 6)."""
    body, world = BodyMap.guess(motion.skeleton), motion.world_quats()
    relative = []
    for side in ("left", "right"):
        above = body.pelvis
        for role in LEG:
            joint = getattr(body, f"{side}_{role}")
            relative.append(quat.multiply(quat.conjugate(world[:, above]), world[:, joint]))
            above = joint
    return quat.turns(np.ascontiguousarray(np.stack(relative, axis=1)))


def fails(result, captured):
    """Steps beyond what any leg joint may do, radians against the limit."""
    turns, source = relative_turns(result), relative_turns(captured)
    own = source.max(axis=0)
    return int(steps_too_fast(turns, own, source, captured.fps).sum())


@pytest.mark.parametrize("name", BENT_BACK)
def test_clips_of_141_bend_backwards_and_are_repaired(mocap, name):
    motion = quietly(mocap / "audit" / f"{name}.bvh")
    least = flexion_of(motion).min()
    assert -20.0 < least < -5.0
    repair = repair_knees(motion)
    assert repair.notes
    assert flexion_of(repair.motion, motion).min() > 0.0
    body = BodyMap.guess(motion.skeleton)
    ankles = [body.left_ankle, body.right_ankle]
    moved = repair.motion.world_positions() - motion.world_positions()
    assert np.linalg.norm(moved, axis=-1)[:, ankles].max() < ANKLE_M


def test_104_06_bends_backwards_a_little_without_a_note(mocap):
    motion = quietly(mocap / "audit" / "104_06.bvh")
    assert -3.0 < flexion_of(motion).min() < -1.0
    repair = repair_knees(motion)
    assert repair.notes == ()
    assert flexion_of(repair.motion, motion).min() > 0.0


@pytest.mark.parametrize("path", HEALTHY)
def test_healthy_clips_come_back_as_they_are(mocap, path):
    motion = quietly(mocap / f"{path}.bvh")
    assert repair_knees(motion).motion is motion


@pytest.mark.parametrize("name", ["141_16", "141_14", "104_06", "113_13", "70_09"])
def test_cleaned_legs_do_not_flip(mocap, name):
    motion = quietly(mocap / "audit" / f"{name}.bvh")
    result = clean_footskate(motion)
    assert flexion_of(result.motion, motion).min() > -1.0
    assert fails(result.motion, motion) == 0
    lowest = [foot_points(m)[..., 1].min() for m in (motion, result.motion)]
    assert lowest[1] > lowest[0] - 0.01
    assert result.report.held_part > 0.85
    assert result.report.slide_after < 1e-3


@pytest.mark.parametrize("name", ["141_16", "104_06", "74_03"])
@pytest.mark.parametrize("target", ["cmu_bvh/16_15.bvh", "gltf/Soldier.glb#Run"])
def test_retargeted_legs_do_not_flip(mocap, name, target):
    motion = quietly(mocap / "audit" / f"{name}.bvh")
    made = retarget(motion, quietly(f"{mocap}/{target}").skeleton)
    assert flexion_of(made).min() > -1.0
    assert fails(made, motion) == 0


def test_load_reports_knees_that_bend_backwards(mocap):
    with pytest.warns(UserWarning, match="the right knee bends backwards"):
        motion = load(mocap / "audit" / "141_16.bvh")
    found = [f for f in motion.source.findings if "bends backwards" in f.problem]
    assert [f.level for f in found] == ["note", "warning"]  # 5 and 11 degrees
    assert "repair_knees=False" in found[0].fix
    healthy = quietly(mocap / "cmu_bvh" / "143_17.bvh")
    assert not any("bends backwards" in f.problem for f in healthy.source.findings)
