"""Joint-name sets of rigs, each as an indented tree, with the joint that plays each role.

Where no clip of a rig is at hand the set is written from its public documentation;
docs/body-roles.md says which those are.
"""

from __future__ import annotations

import numpy as np

from motionloom.motion.motion import Skeleton

LEG_AND_ARM = ("hip", "knee", "ankle", "toe", "shoulder", "elbow", "wrist")


def tree(text: str, lengths: float = 0.1) -> Skeleton:
    """A skeleton of a tree written with two blanks of indent per level; ``Left`` sides doubled.

    A line that holds ``{L|R}`` stands, with everything below it, for two branches.
    """
    names: list[str] = []
    parents: list[int] = []
    for line in _both_sides(text.strip("\n").splitlines()):
        names.append(line.strip())
        parents.append(_parent(parents, _indent(line) // 2))
    rng = np.random.default_rng(len(names))
    offsets = lengths * (0.5 + rng.random((len(names), 3)))
    return Skeleton(names, parents, offsets)


def _parent(parents: list[int], depth: int) -> int:
    def level(j: int) -> int:
        return 0 if parents[j] < 0 else 1 + level(parents[j])

    return next((j for j in range(len(parents) - 1, -1, -1) if level(j) == depth - 1), -1)


def _both_sides(lines: list[str]) -> list[str]:
    out: list[str] = []
    block: list[str] = []
    for line in [*lines, ""]:
        if block and ("{" not in line or _indent(line) <= _indent(block[0])):
            out += [_on_side(kept, side) for side in (0, 1) for kept in block]
            block = []
        if "{" in line:
            block.append(line)
        elif line:
            out.append(line)
    return out


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _on_side(text: str, side: int) -> str:
    before, rest = text.split("{", 1)
    choices, after = rest.split("}", 1)
    return before + choices.split("|")[side] + after


MIXAMO = """
mixamorig:Hips
  mixamorig:Spine
    mixamorig:Spine1
      mixamorig:Spine2
        mixamorig:Neck
          mixamorig:Head
            mixamorig:HeadTop_End
            mixamorig:{Left|Right}Eye
        mixamorig:{Left|Right}Shoulder
          mixamorig:{Left|Right}Arm
            mixamorig:{Left|Right}ForeArm
              mixamorig:{Left|Right}Hand
                mixamorig:{Left|Right}HandThumb1
                mixamorig:{Left|Right}HandIndex1
                  mixamorig:{Left|Right}HandIndex2
  mixamorig:{Left|Right}UpLeg
    mixamorig:{Left|Right}Leg
      mixamorig:{Left|Right}Foot
        mixamorig:{Left|Right}ToeBase
          mixamorig:{Left|Right}Toe_End
"""
UNREAL = """
root
  pelvis
    spine_01
      spine_02
        spine_03
          clavicle_{l|r}
            upperarm_{l|r}
              upperarm_twist_01_{l|r}
              lowerarm_{l|r}
                lowerarm_twist_01_{l|r}
                hand_{l|r}
                  index_01_{l|r}
                  thumb_01_{l|r}
          neck_01
            head
    thigh_{l|r}
      thigh_twist_01_{l|r}
      calf_{l|r}
        calf_twist_01_{l|r}
        foot_{l|r}
          ball_{l|r}
  ik_foot_root
    ik_foot_{l|r}
  ik_hand_root
    ik_hand_gun
      ik_hand_{l|r}
"""
SMPL = """
pelvis
  {left|right}_hip
    {left|right}_knee
      {left|right}_ankle
        {left|right}_foot
  spine1
    spine2
      spine3
        neck
          head
        {left|right}_collar
          {left|right}_shoulder
            {left|right}_elbow
              {left|right}_wrist
                {left|right}_hand
"""
SMPL_M_AVG = """
m_avg_Pelvis
  m_avg_{L|R}_Hip
    m_avg_{L|R}_Knee
      m_avg_{L|R}_Ankle
        m_avg_{L|R}_Foot
  m_avg_Spine1
    m_avg_Spine2
      m_avg_Spine3
        m_avg_Neck
          m_avg_Head
        m_avg_{L|R}_Collar
          m_avg_{L|R}_Shoulder
            m_avg_{L|R}_Elbow
              m_avg_{L|R}_Wrist
                m_avg_{L|R}_Hand
"""
SMPLX = """
pelvis
  {left|right}_hip
    {left|right}_knee
      {left|right}_ankle
        {left|right}_foot
  spine1
    spine2
      spine3
        neck
          head
            jaw
            {left|right}_eye_smplhf
        {left|right}_collar
          {left|right}_shoulder
            {left|right}_elbow
              {left|right}_wrist
                {left|right}_index1
                  {left|right}_index2
                {left|right}_thumb1
"""
XSENS = """
Pelvis
  L5
    L3
      T12
        T8
          Neck
            Head
          {Left|Right}Shoulder
            {Left|Right}UpperArm
              {Left|Right}ForeArm
                {Left|Right}Hand
  {Left|Right}UpperLeg
    {Left|Right}LowerLeg
      {Left|Right}Foot
        {Left|Right}Toe
"""
XSENS_BVH = """
Hips
  Chest
    Chest2
      Chest3
        Chest4
          Neck
            Head
          {Left|Right}Collar
            {Left|Right}Shoulder
              {Left|Right}Elbow
                {Left|Right}Wrist
  {Left|Right}Hip
    {Left|Right}Knee
      {Left|Right}Ankle
        {Left|Right}Toe
"""
ROKOKO = """
Root
  Hips
    {Left|Right}Thigh
      {Left|Right}Shin
        {Left|Right}Foot
          {Left|Right}Toe
            {Left|Right}ToeTip
    Spine1
      Spine2
        Spine3
          Spine4
            {Left|Right}Shoulder
              {Left|Right}Arm
                {Left|Right}ForeArm
                  {Left|Right}Hand
                    {Left|Right}FingerTip
            Neck
              Head
"""
BIPED = """
Bip01
  Bip01 Pelvis
    Bip01 Spine
      Bip01 {L|R} Thigh
        Bip01 {L|R} Calf
          Bip01 {L|R} Foot
            Bip01 {L|R} Toe0
              Bip01 {L|R} Toe0Nub
      Bip01 Spine1
        Bip01 Neck
          Bip01 Head
            Bip01 HeadNub
          Bip01 {L|R} Clavicle
            Bip01 {L|R} UpperArm
              Bip01 {L|R} Forearm
                Bip01 {L|R} Hand
                  Bip01 {L|R} Finger0
                    Bip01 {L|R} Finger01
"""
LAFAN = """
Hips
  {Left|Right}UpLeg
    {Left|Right}Leg
      {Left|Right}Foot
        {Left|Right}Toe
  Spine
    Spine1
      Spine2
        Neck
          Head
        {Left|Right}Shoulder
          {Left|Right}Arm
            {Left|Right}ForeArm
              {Left|Right}Hand
"""
RIGIFY = """
DEF-spine
  DEF-pelvis.{L|R}
  DEF-thigh.{L|R}
    DEF-thigh.{L|R}.001
      DEF-shin.{L|R}
        DEF-shin.{L|R}.001
          DEF-foot.{L|R}
            DEF-toe.{L|R}
  DEF-spine.001
    DEF-spine.002
      DEF-spine.003
        DEF-spine.004
          DEF-spine.005
            DEF-spine.006
        DEF-breast.{L|R}
        DEF-shoulder.{L|R}
          DEF-upper_arm.{L|R}
            DEF-upper_arm.{L|R}.001
              DEF-forearm.{L|R}
                DEF-forearm.{L|R}.001
                  DEF-hand.{L|R}
                    DEF-palm.01.{L|R}
                      DEF-f_index.01.{L|R}
                    DEF-thumb.01.{L|R}
"""
RIGIFY_CONTROLS = """
root
  MCH-torso.parent
    ORG-spine
      ORG-spine.001
        ORG-spine.002
          ORG-spine.003
            ORG-spine.004
              ORG-spine.006
            ORG-shoulder.{L|R}
              MCH-upper_arm_parent.{L|R}
                upper_arm_fk.{L|R}
                upper_arm_ik.{L|R}
                ORG-upper_arm.{L|R}
                  ORG-forearm.{L|R}
                    ORG-hand.{L|R}
      MCH-thigh_parent.{L|R}
        thigh_ik.{L|R}
        thigh_fk.{L|R}
          shin_fk.{L|R}
            foot_fk.{L|R}
        ORG-thigh.{L|R}
          ORG-shin.{L|R}
            ORG-foot.{L|R}
              ORG-toe.{L|R}
"""
ASF = """
root
  {l|r}hipjoint
    {l|r}femur
      {l|r}tibia
        {l|r}foot
          {l|r}toes
  lowerback
    upperback
      thorax
        lowerneck
          upperneck
            head
        {l|r}clavicle
          {l|r}humerus
            {l|r}radius
              {l|r}wrist
                {l|r}hand
                  {l|r}fingers
                {l|r}thumb
"""
VRM = """
Root
  J_Bip_C_Hips
    J_Bip_C_Spine
      J_Bip_C_Chest
        J_Bip_C_UpperChest
          J_Bip_C_Neck
            J_Bip_C_Head
              J_Sec_Hair1_01
          J_Bip_{L|R}_Shoulder
            J_Bip_{L|R}_UpperArm
              J_Bip_{L|R}_LowerArm
                J_Bip_{L|R}_Hand
                  J_Bip_{L|R}_Index1
    J_Bip_{L|R}_UpperLeg
      J_Bip_{L|R}_LowerLeg
        J_Bip_{L|R}_Foot
          J_Bip_{L|R}_ToeBase
"""
DAZ = """
hip
  pelvis
    {l|r}ThighBend
      {l|r}ThighTwist
        {l|r}Shin
          {l|r}Foot
            {l|r}Metatarsals
              {l|r}Toe
                {l|r}BigToe
  abdomenLower
    abdomenUpper
      chestLower
        chestUpper
          {l|r}Collar
            {l|r}ShldrBend
              {l|r}ShldrTwist
                {l|r}ForearmBend
                  {l|r}ForearmTwist
                    {l|r}Hand
                      {l|r}Carpal1
          neckLower
            neckUpper
              head
"""
KINECT = """
SpineBase
  SpineMid
    SpineShoulder
      Neck
        Head
      Shoulder{Left|Right}
        Elbow{Left|Right}
          Wrist{Left|Right}
            Hand{Left|Right}
              HandTip{Left|Right}
  Hip{Left|Right}
    Knee{Left|Right}
      Ankle{Left|Right}
        Foot{Left|Right}
"""


# Per rig: tree; pelvis, spine, neck, head; pattern of sided names; names of LEG_AND_ARM.
RIGS: dict[str, tuple[str, tuple[str, str, str, str], tuple[str, ...]]] = {
    "mixamo": (
        MIXAMO,
        (
            "mixamorig:Hips",
            "mixamorig:Spine mixamorig:Spine1 mixamorig:Spine2",
            "mixamorig:Neck",
            "mixamorig:Head",
        ),
        tuple(
            f"mixamorig:{{Left|Right}}{part}"
            for part in ("UpLeg", "Leg", "Foot", "ToeBase", "Arm", "ForeArm", "Hand")
        ),
    ),
    "unreal": (
        UNREAL,
        ("pelvis", "spine_01 spine_02 spine_03", "neck_01", "head"),
        tuple(
            f"{part}_{{l|r}}"
            for part in ("thigh", "calf", "foot", "ball", "upperarm", "lowerarm", "hand")
        ),
    ),
    "smpl": (
        SMPL,
        ("pelvis", "spine1 spine2 spine3", "neck", "head"),
        tuple(
            f"{{left|right}}_{part}"
            for part in ("hip", "knee", "ankle", "foot", "shoulder", "elbow", "wrist")
        ),
    ),
    "smpl m_avg": (
        SMPL_M_AVG,
        ("m_avg_Pelvis", "m_avg_Spine1 m_avg_Spine2 m_avg_Spine3", "m_avg_Neck", "m_avg_Head"),
        tuple(
            f"m_avg_{{L|R}}_{part}"
            for part in ("Hip", "Knee", "Ankle", "Foot", "Shoulder", "Elbow", "Wrist")
        ),
    ),
    "smpl-x": (
        SMPLX,
        ("pelvis", "spine1 spine2 spine3", "neck", "head"),
        tuple(
            f"{{left|right}}_{part}"
            for part in ("hip", "knee", "ankle", "foot", "shoulder", "elbow", "wrist")
        ),
    ),
    "xsens": (
        XSENS,
        ("Pelvis", "L5 L3 T12 T8", "Neck", "Head"),
        tuple(
            f"{{Left|Right}}{part}"
            for part in ("UpperLeg", "LowerLeg", "Foot", "Toe", "UpperArm", "ForeArm", "Hand")
        ),
    ),
    "xsens bvh": (
        XSENS_BVH,
        ("Hips", "Chest Chest2 Chest3 Chest4", "Neck", "Head"),
        tuple(
            f"{{Left|Right}}{part}"
            for part in ("Hip", "Knee", "Ankle", "Toe", "Shoulder", "Elbow", "Wrist")
        ),
    ),
    "rokoko": (
        ROKOKO,
        ("Hips", "Spine1 Spine2 Spine3 Spine4", "Neck", "Head"),
        tuple(
            f"{{Left|Right}}{part}"
            for part in ("Thigh", "Shin", "Foot", "Toe", "Arm", "ForeArm", "Hand")
        ),
    ),
    "biped": (
        BIPED,
        ("Bip01 Pelvis", "Bip01 Spine,Bip01 Spine1", "Bip01 Neck", "Bip01 Head"),
        tuple(
            f"Bip01 {{L|R}} {part}"
            for part in ("Thigh", "Calf", "Foot", "Toe0", "UpperArm", "Forearm", "Hand")
        ),
    ),
    "lafan1": (
        LAFAN,
        ("Hips", "Spine Spine1 Spine2", "Neck", "Head"),
        tuple(
            f"{{Left|Right}}{part}"
            for part in ("UpLeg", "Leg", "Foot", "Toe", "Arm", "ForeArm", "Hand")
        ),
    ),
    "rigify": (
        RIGIFY,
        (
            "DEF-spine",
            "DEF-spine.001 DEF-spine.002 DEF-spine.003",
            "DEF-spine.004",
            "DEF-spine.006",
        ),
        tuple(
            f"DEF-{part}.{{L|R}}"
            for part in ("thigh", "shin", "foot", "toe", "upper_arm", "forearm", "hand")
        ),
    ),
    "rigify controls": (
        RIGIFY_CONTROLS,
        (
            "ORG-spine",
            "ORG-spine.001 ORG-spine.002 ORG-spine.003",
            "ORG-spine.004",
            "ORG-spine.006",
        ),
        tuple(
            f"ORG-{part}.{{L|R}}"
            for part in ("thigh", "shin", "foot", "toe", "upper_arm", "forearm", "hand")
        ),
    ),
    "asf": (
        ASF,
        ("root", "lowerback upperback thorax", "lowerneck", "head"),
        tuple(
            f"{{l|r}}{part}"
            for part in ("femur", "tibia", "foot", "toes", "humerus", "radius", "wrist")
        ),
    ),
    "vrm": (
        VRM,
        (
            "J_Bip_C_Hips",
            "J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_UpperChest",
            "J_Bip_C_Neck",
            "J_Bip_C_Head",
        ),
        tuple(
            f"J_Bip_{{L|R}}_{part}"
            for part in ("UpperLeg", "LowerLeg", "Foot", "ToeBase", "UpperArm", "LowerArm", "Hand")
        ),
    ),
    "daz": (
        DAZ,
        ("hip", "abdomenLower abdomenUpper chestLower chestUpper", "neckLower", "head"),
        tuple(
            f"{{l|r}}{part}"
            for part in ("ThighBend", "Shin", "Foot", "Toe", "ShldrBend", "ForearmBend", "Hand")
        ),
    ),
    "kinect": (
        KINECT,
        ("SpineBase", "SpineMid SpineShoulder", "Neck", "Head"),
        tuple(
            f"{part}{{Left|Right}}"
            for part in ("Hip", "Knee", "Ankle", "Foot", "Shoulder", "Elbow", "Wrist")
        ),
    ),
}


def wanted_roles(rig: str) -> dict[str, str | tuple[str, ...]]:
    """Joint name of every role of a rig; the spine is a tuple."""
    _, (pelvis, spine, neck, head), sided = RIGS[rig]
    separator = "," if "," in spine else " "
    roles: dict[str, str | tuple[str, ...]] = {
        "pelvis": pelvis,
        "spine": tuple(spine.split(separator)),
        "neck": neck,
        "head": head,
    }
    for side, i in (("left", 0), ("right", 1)):
        for part, pattern in zip(LEG_AND_ARM, sided, strict=True):
            roles[f"{side}_{part}"] = _on_side(pattern, i)
    return roles
