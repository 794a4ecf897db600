"""Retargeting between real skeletons: CMU, Bandai, DeepMimic, Mixamo, and others."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import foot_points
from motionloom.body.body_map import facing
from motionloom.features.glitches.repair import repair_capture
from motionloom.findings import MotionLoomWarning
from motionloom.rotation import quat

ARMS_DEG = 1e-3
LEGS_DEG = 2.5
"""Mean turn of leg bones from the source's, degrees; measured 0.0 to 1.8."""
TURN_DEG = 5.0
"""Largest turn of the body from the source's heading, degrees; measured 0 to 3.5."""
SPEED_RATIO = 1.3
"""Planted feet may be this much faster than the source's, for larger bodies; measured to 1.2."""
POP_RATIO = 1.5
SAME_PERSON_M = 0.001
FLAT_DEG = 10.0
"""Mean tilt of a foot on heel and ball; measured 6, and 25 where the roll is overlooked."""
FLAT_M = 0.02
"""Heel over ball of a foot that stands flat; measured 4 to 7 mm, and 55 to 68 mm where a tiptoe is
taken for flat."""

CLIPS = {
    "cmu": "cmu_bvh/16_15.bvh",
    "cmu run": "cmu_bvh/16_35.bvh",
    "cmu 143": "cmu_bvh/143_32.bvh",
    "asf": "cmu_asfamc/16_15.amc",
    "bandai": "bandai_bvh/dataset-1_walk_normal_001.bvh",
    "bandai kick": "bandai_bvh/dataset-1_kick_normal_001.bvh",
    "deepmimic": "deepmimic_txt/humanoid3d_walk.txt",
    "mixamo": "gltf/Soldier.glb",
    "boxing": "ugly/Boxing_Toes.bvh",
    "sfu": "ugly/sfu_0005_Walking001.bvh",
}
PAIRS = [
    ("cmu", "bandai"),
    ("cmu", "deepmimic"),
    ("cmu", "mixamo"),
    ("cmu", "boxing"),
    ("cmu run", "mixamo"),
    ("cmu 143", "cmu"),
    ("bandai", "cmu"),
    ("bandai", "mixamo"),
    ("bandai kick", "boxing"),
    ("deepmimic", "cmu"),
    ("sfu", "cmu"),
    ("boxing", "cmu 143"),
]


@cache
def _clip(path: Path) -> ml.Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MotionLoomWarning)
        motion = ml.load(path)
    return motion[5 : min(motion.n_frames, 365)]


@cache
def _pair(mocap: Path, source: str, target: str) -> tuple[ml.Motion, ml.Footplants, ml.Motion]:
    motion = repair_capture(_clip(mocap / CLIPS[source])).motion
    plants = ml.detect_footplants(motion)
    onto = _clip(mocap / CLIPS[target])
    return motion, plants, ml.retarget(motion, onto, footplants=plants)


def _errors(a: ml.Motion, b: ml.Motion, parts: tuple[str, str, str]) -> np.ndarray:
    """Angles between the two bones of each limb, degrees."""
    out = []
    directions = []
    for motion in (a, b):
        body, at = ml.BodyMap.guess(motion.skeleton), motion.world_positions()
        bones = []
        for side in ("left", "right"):
            joints = [getattr(body, f"{side}_{part}") for part in parts]
            bones += [at[:, joints[1]] - at[:, joints[0]], at[:, joints[2]] - at[:, joints[1]]]
        bone = np.stack(bones)
        directions.append(bone / np.linalg.norm(bone, axis=-1, keepdims=True))
    cos = np.sum(directions[0] * directions[1], axis=-1)
    out.append(np.degrees(np.arccos(np.clip(cos, -1.0, 1.0))))
    return np.concatenate(out)


def _planted_speed(motion: ml.Motion, plants: ml.Footplants) -> float:
    speeds = np.linalg.norm(np.diff(foot_points(motion), axis=0), axis=-1) * motion.fps
    return float(speeds[plants.planted[1:] & plants.planted[:-1]].mean())


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_limbs_point_where_they_pointed(mocap: Path, source: str, target: str) -> None:
    motion, _, made = _pair(mocap, source, target)
    assert _errors(motion, made, ("shoulder", "elbow", "wrist")).max() < ARMS_DEG
    assert _errors(motion, made, ("hip", "knee", "ankle")).mean() < LEGS_DEG


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_planted_feet_stay_as_still_as_they_were(mocap: Path, source: str, target: str) -> None:
    motion, plants, made = _pair(mocap, source, target)
    assert _planted_speed(made, plants) < SPEED_RATIO * _planted_speed(motion, plants)


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_body_faces_the_same_way(mocap: Path, source: str, target: str) -> None:
    motion, _, made = _pair(mocap, source, target)
    apart = facing(made) - facing(motion)
    assert np.degrees(np.abs(np.arctan2(np.sin(apart), np.cos(apart)))).max() < TURN_DEG


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_no_leg_joint_turns_much_faster(mocap: Path, source: str, target: str) -> None:
    motion, _, made = _pair(mocap, source, target)
    fastest = []
    for clip in (motion, made):
        body = ml.BodyMap.guess(clip.skeleton)
        legs = [getattr(body, f"{s}_{p}") for s in ("left", "right") for p in ("hip", "knee")]
        turns = clip.local_quats[:, legs]
        fastest.append(float(quat.angle_between(turns[1:], turns[:-1]).max()))
    assert fastest[1] < POP_RATIO * fastest[0]


def test_feet_that_rest_rolled_come_out_flat(mocap: Path) -> None:
    # CMU's feet rest rolled by 20 degrees, in line with spread legs; the soldier's rest flat.
    _, plants, made = _pair(mocap, "cmu", "mixamo")
    skeleton = made.skeleton
    rest = ml.forward_kinematics(skeleton, np.zeros((1, 3)), skeleton.rest_quats[None])[1][0]
    body = ml.BodyMap.guess(skeleton)
    for ankle, heel, toe in ((body.left_ankle, 0, 1), (body.right_ankle, 2, 3)):
        flat = plants.planted[:, heel] & plants.planted[:, toe]
        up = quat.rotate(quat.conjugate(rest[ankle]), np.array([0.0, 1.0, 0.0]))
        risen = quat.rotate(made.world_quats()[flat, ankle], up)[:, 1]
        assert np.degrees(np.arccos(np.clip(risen, -1.0, 1.0))).mean() < FLAT_DEG


def test_one_person_in_two_formats_stays_where_it_is(mocap: Path) -> None:
    motion, _, made = _pair(mocap, "asf", "cmu")
    body, other = ml.BodyMap.guess(motion.skeleton), ml.BodyMap.guess(made.skeleton)
    for part in ("hip", "knee", "ankle", "toe"):
        was = motion.world_positions()[:, getattr(body, f"left_{part}")]
        now = made.world_positions()[:, getattr(other, f"left_{part}")]
        assert np.linalg.norm(now - was, axis=-1).max() < SAME_PERSON_M


@pytest.mark.parametrize("target", ["cmu", "mixamo", "deepmimic"])
def test_a_foot_is_flat_where_a_dancer_comes_down_from_tiptoe(mocap: Path, target: str) -> None:
    # jesse_dance is danced on tiptoe; the rest pose of its file does not show a flat foot.
    dance = _whole(mocap / "audit/jesse_dance.bvh")
    made = ml.retarget(dance, _clip(mocap / CLIPS[target]))
    feet = foot_points(made)[960:1000, :2]  # stands on the left foot
    rise = feet[..., 1] - feet[:, 1:, 1]
    assert np.abs(rise).max() < FLAT_M
    failed = [finding.problem for finding in made.source.findings if "sole" in finding.problem]
    assert not failed


@cache
def _whole(path: Path) -> ml.Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MotionLoomWarning)
        return ml.load(path)


def test_both_feet_of_a_rig_that_walks_in_place_stand_alike(mocap: Path) -> None:
    # CesiumMan's only clip walks in place: contacts of sliding feet show no flat foot.
    motion = _clip(mocap / CLIPS["cmu"])
    made = ml.retarget(motion, _whole(mocap / "gltf/CesiumMan.glb"))
    plants = ml.detect_footplants(motion).planted
    body, at = ml.BodyMap.guess(made.skeleton), made.world_positions()
    falls = []
    for k, side in enumerate(("left", "right")):
        flat = plants[:, 2 * k] & plants[:, 2 * k + 1]
        foot = at[:, getattr(body, f"{side}_toe")] - at[:, getattr(body, f"{side}_ankle")]
        falls.append(np.degrees(np.arcsin(-foot[flat, 1] / np.linalg.norm(foot[flat], axis=-1))))
    assert abs(np.median(falls[0]) - np.median(falls[1])) < FLAT_DEG
