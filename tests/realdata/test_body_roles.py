"""Body roles on every skeleton of the folder of real clips."""

from __future__ import annotations

import dataclasses
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.body.anatomy import stature
from motionloom.body.body_map import ROLES, BodyMap
from motionloom.body.mirror import mirror, pair_sides
from motionloom.body.root_motion import in_place, with_root_bone, without_root_bone
from motionloom.findings import MotionLoomWarning

PERSON_M = (1.4, 2.1)
FLOAT64 = 1e-9

CMU = "Hips|LowerBack Spine Spine1|Neck|Head|{}UpLeg {}Leg {}Foot {}ToeBase {}Arm {}ForeArm {}Hand"
MAYA = "Hips|{spine}|Neck|Head|{}UpLeg {}Leg {}Foot {}ToeBase {}Arm {}ForeArm {}Hand"
JOINTED = "{}Hip {}Knee {}Ankle {toe} {}Shoulder {}Elbow {}Wrist"
FOUR = "Spine Spine1 Spine2 Spine3"
MIXAMO = "mixamorig:"

# pelvis | spine | neck | head | hip knee ankle toe shoulder elbow wrist, with the sides' marks.
SKELETONS: dict[str, tuple[str, str, str]] = {
    "cmu_bvh/16_15.bvh": (CMU, "Left", "Right"),
    "cmu_bvh/143_01.bvh": (CMU, "Left", "Right"),
    "cmu_asfamc/16_15.amc": (
        "root|lowerback upperback thorax|lowerneck|head|"
        "{}femur {}tibia {}foot {}toes {}humerus {}radius {}wrist",
        "l",
        "r",
    ),
    "bandai_bvh/dataset-1_walk_normal_001.bvh": (
        "Hips|Spine Chest|Neck|Head|UpperLeg_{} LowerLeg_{} Foot_{} Toes_{} "
        "UpperArm_{} LowerArm_{} Hand_{}",
        "L",
        "R",
    ),
    "deepmimic_txt/humanoid3d_walk.txt": (
        "root|chest|neck|-|{}_hip {}_knee {}_ankle - {}_shoulder {}_elbow {}_wrist",
        "left",
        "right",
    ),
    "gltf/Soldier.glb": (
        f"{MIXAMO}Hips|{MIXAMO}Spine {MIXAMO}Spine1 {MIXAMO}Spine2|{MIXAMO}Neck|{MIXAMO}Head|"
        + " ".join(
            MIXAMO + "{}" + part
            for part in ("UpLeg", "Leg", "Foot", "ToeBase", "Arm", "ForeArm", "Hand")
        ),
        "Left",
        "Right",
    ),
    "ugly/three_pirouette.bvh": (
        "hip|abdomen chest|neck|head|{}Thigh {}Shin {}Foot - {}Shldr {}ForeArm {}Hand",
        "l",
        "r",
    ),
    "ugly/wave_hello.bvh": (MAYA.replace("{spine}", FOUR), "Left", "Right"),
    "ugly/test_mocapbank.bvh": (
        "Hips|Chest Chest2|Neck|Head|" + JOINTED.replace("{toe}", "-"),
        "Left",
        "Right",
    ),
    "ugly/zombieWalk1.bvh": (
        "Root|Spine1 Spine2 Spine3|Neck|Head|"
        "UpLeg_{} LoLeg_{} Foot_{} Toe_{} UpArm_{} LoArm_{} Hand_{}",
        "L",
        "R",
    ),
    "ugly/sfu_0005_Walking001.bvh": (MAYA.replace("{spine}", "Spine Spine1"), "Left", "Right"),
    "ugly/Boxing_Toes.bvh": (
        "Hips|Ab Chest|Neck|Head|" + JOINTED.replace("{toe}", "{}Toes"),
        "Left",
        "Right",
    ),
    "ugly/Geno_stance.bvh": (MAYA.replace("{spine}", FOUR), "Left", "Right"),
    "ugly/pybvh_test1.bvh": (MAYA.replace("{spine}", FOUR), "Left", "Right"),
}
PARTS = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist")


@cache
def _clip(path: Path) -> ml.Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MotionLoomWarning)
        motion = ml.load(path)
    return motion[: min(motion.n_frames, 60)]


def _wanted(rig: str) -> dict[str, object]:
    pattern, left, right = SKELETONS[rig]
    pelvis, spine, neck, head, limbs = pattern.split("|")
    roles: dict[str, object] = {"pelvis": pelvis, "spine": tuple(spine.split()), "neck": neck}
    roles["head"] = None if head == "-" else head
    for side, mark in (("left", left), ("right", right)):
        for part, name in zip(PARTS, limbs.split(), strict=True):
            roles[f"{side}_{part}"] = None if name == "-" else name.replace("{}", mark)
    return roles


def _named(skeleton: ml.Skeleton, body: BodyMap) -> dict[str, object]:
    out: dict[str, object] = {}
    for role in ROLES:
        value = getattr(body, role)
        if role == "spine":
            out[role] = tuple(skeleton.names[j] for j in value)
        else:
            out[role] = None if value is None else skeleton.names[value]
    return out


@pytest.mark.parametrize("rig", SKELETONS)
def test_every_role_of_a_real_skeleton_is_found(mocap: Path, rig: str) -> None:
    skeleton = _clip(mocap / rig).skeleton
    assert _named(skeleton, BodyMap.guess(skeleton)) == _wanted(rig)


def test_a_rig_with_odd_numbers_in_its_names_is_found_too(mocap: Path) -> None:
    skeleton = _clip(mocap / "gltf" / "CesiumMan.glb").skeleton
    body = BodyMap.guess(skeleton)
    assert body.missing() == ()
    assert skeleton.names[body.left_ankle or 0] == "leg_joint_L_3"
    assert skeleton.names[body.right_wrist or 0] == "Skeleton_arm_joint_R__3_"
    assert pair_sides(skeleton)[body.left_elbow or 0] == body.right_elbow


@pytest.mark.parametrize("rig", [rig for rig in SKELETONS if "deepmimic" not in rig])
def test_with_its_names_taken_away_a_moving_skeleton_is_still_understood(
    mocap: Path, rig: str
) -> None:
    clip = _clip(mocap / rig)
    nameless = dataclasses.replace(
        clip.skeleton, names=tuple(f"bone{j}" for j in range(clip.skeleton.n_joints))
    )
    guessed = BodyMap.guess(nameless, motion=clip.replace(skeleton=nameless))
    assert guessed == BodyMap.guess(clip.skeleton)


@pytest.mark.parametrize("rig", SKELETONS)
def test_people_are_as_tall_as_people(mocap: Path, rig: str) -> None:
    low, high = PERSON_M
    assert low < stature(_clip(mocap / rig).skeleton) < high


@pytest.mark.parametrize("rig", SKELETONS)
def test_mirroring_twice_gives_a_real_clip_back(mocap: Path, rig: str) -> None:
    clip = _clip(mocap / rig)
    back = mirror(mirror(clip))
    assert np.allclose(back.local_quats, clip.local_quats, atol=FLOAT64)
    assert np.allclose(back.world_positions(), clip.world_positions(), atol=FLOAT64)


@pytest.mark.parametrize("rig", SKELETONS)
def test_a_mirrored_real_clip_is_its_image(mocap: Path, rig: str) -> None:
    clip = _clip(mocap / rig)
    partner = pair_sides(clip.skeleton)
    image = clip.world_positions()[:, partner] * [-1.0, 1.0, 1.0]
    gap = np.linalg.norm(mirror(clip).world_positions() - image, axis=-1)
    # Soldier's right thumb has a joint that the left one lacks.
    alone = [j for j, name in enumerate(clip.skeleton.names) if name.endswith("RightHandThumb3")]
    gap = np.delete(gap, [j for j in alone if partner[j] == j], axis=1)
    # People, and so their skeletons, are not symmetric: CMU 16's arms differ by 2 cm.
    assert gap.mean() < 0.015
    assert gap.max() < 0.08


@pytest.mark.parametrize("rig", SKELETONS)
def test_a_root_bone_can_be_put_under_a_real_clip_and_taken_out(mocap: Path, rig: str) -> None:
    clip = _clip(mocap / rig)
    rooted = with_root_bone(clip, name="travel")
    assert np.allclose(rooted.world_positions()[:, 1:], clip.world_positions(), atol=FLOAT64)
    back = without_root_bone(rooted)
    assert np.allclose(back.world_positions(), clip.world_positions(), atol=FLOAT64)
    pelvis = BodyMap.guess(clip.skeleton).pelvis
    held = in_place(clip).world_positions()[:, pelvis]
    assert np.allclose(held[:, [0, 2]], held[0, [0, 2]], atol=FLOAT64)
