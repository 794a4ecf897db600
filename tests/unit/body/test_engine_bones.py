"""Every rig gets the bone names of an engine, each once."""

from __future__ import annotations

import pytest

from motionloom.body.body_map import BodyMap
from motionloom.body.engine_bones import BONE_NAMES, engine_names
from motionloom.motion.motion import Skeleton

from .named_rigs import RIGS, UNREAL, tree

LIMBS = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")


def named(text: str, engine: str) -> dict[str, str]:
    """New names by the old ones."""
    skeleton = tree(text)
    names = engine_names(skeleton, BodyMap.guess(skeleton), engine)
    return dict(zip(skeleton.names, names, strict=True))


@pytest.mark.parametrize("engine", BONE_NAMES)
@pytest.mark.parametrize("rig", RIGS)
def test_limbs_of_every_rig_get_the_names_of_the_engine(rig: str, engine: str) -> None:
    skeleton = tree(RIGS[rig][0])
    body, bones = BodyMap.guess(skeleton), BONE_NAMES[engine]
    names = engine_names(skeleton, body, engine)
    assert len({name.lower() for name in names}) == len(names)
    for side, written in zip(("left", "right"), bones.sides, strict=True):
        for role in LIMBS:
            joint = getattr(body, f"{side}_{role}")
            assert joint is None or names[joint] == bones.limbs[role].format(side=written)


def test_the_mannequin_keeps_every_name() -> None:
    assert all(old == new for old, new in named(UNREAL, "unreal").items())


def test_fingers_are_numbered_from_the_hand_outwards() -> None:
    hand = """
Hips
  {Left|Right}UpLeg
    {Left|Right}Leg
      {Left|Right}Foot
  Spine
    {Left|Right}Arm
      {Left|Right}ForeArm
        {Left|Right}Hand
          {Left|Right}HandThumb1
            {Left|Right}HandThumb2
              {Left|Right}HandThumb3
                {Left|Right}HandThumb4
          {Left|Right}InHandIndex
            {Left|Right}HandIndex1
              {Left|Right}HandIndex2
          {Left|Right}HandPinky1
"""
    godot, unity, unreal = (named(hand, engine) for engine in ("godot", "unity", "unreal"))
    assert godot["LeftHandThumb1"] == "LeftThumbMetacarpal"
    assert unity["RightHandThumb1"] == "RightThumbProximal"
    assert unreal["RightHandThumb3"] == "thumb_03_r"
    assert unreal["RightHandThumb4"] == "RightHandThumb4"  # the tip of the thumb
    assert unreal["LeftInHandIndex"] == "LeftInHandIndex"
    assert unity["LeftHandIndex2"] == "LeftIndexIntermediate"
    assert godot["LeftHandPinky1"] == "LeftLittleProximal"
    assert unreal["LeftHandPinky1"] == "pinky_01_l"


@pytest.mark.parametrize(
    ("n_spine", "wanted"),
    [
        (1, ["Spine"]),
        (2, ["Spine", "Chest"]),
        (3, ["Spine", "Chest", "UpperChest"]),
        (5, ["Spine", "Chest", "s2", "s3", "UpperChest"]),
    ],
)
def test_the_top_of_a_long_spine_is_the_upper_chest(n_spine: int, wanted: list[str]) -> None:
    names = ["hips", *(f"s{k}" for k in range(n_spine)), "neck"]
    skeleton = Skeleton(names, range(-1, n_spine + 1), [[0.0, 0.1, 0.0]] * (n_spine + 2))
    body = BodyMap(pelvis=0, spine=tuple(range(1, n_spine + 1)), neck=n_spine + 1)
    assert engine_names(skeleton, body, "unity") == ("Hips", *wanted, "Neck")


def test_other_joints_lose_their_name_space_and_stay_unique_in_any_case() -> None:
    skeleton = Skeleton(
        ["rig:hips", "rig:Root", "rig:PELVIS", "a*b", "other:a*b"],
        [-1, 0, 0, 0, 0],
        [[0, 0, 0]] * 5,
    )
    names = engine_names(skeleton, BodyMap(pelvis=0), "unreal")
    assert names == ("pelvis", "Root_2", "PELVIS_2", "a_b", "a_b_2")
