"""Small good files of every format, to be spoiled: from our own writers, and a few by hand."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass

import numpy as np

from fbx_forms import Craft, as_binary, as_text, crafted
from motionloom.formats.file_clip import FileClip
from motionloom.formats.registry import known_formats
from motionloom.motion.motion import Motion
from motionloom.motion.motion import Skeleton
from motionloom.rotation import quat


@dataclass(frozen=True)
class Seed:
    """A file, and the skeleton file that must be in the same folder, if any."""

    format: str
    name: str
    data: bytes
    companion: bytes = b""
    spoil_companion: bool = False


def small_motion(n_frames: int = 4, *, sliding: bool = False, rest: bool = False) -> Motion:
    rng = np.random.Generator(np.random.PCG64(1))
    names = ("Hips", "Spine", "Head", "LeftUpLeg", "LeftLeg", "LeftFoot", "RightUpLeg", "RightLeg")
    offsets = rng.uniform(-0.5, 0.5, (8, 3)).round(3)
    skeleton = Skeleton(
        names,
        np.array([-1, 0, 1, 0, 3, 4, 0, 6]),
        offsets,
        rest_quats=quat.exp(rng.normal(0.0, 0.5, (8, 3)) * (1.0 if rest else 0.0)),
        end_parents=np.array([2, 5, 7]),
        end_offsets=rng.uniform(-0.2, 0.2, (3, 3)).round(3),
    )
    t = np.linspace(0.0, 1.0, n_frames)[:, None, None]
    turns = quat.exp(np.sin(4.0 * t + np.arange(8)[:, None]) * rng.normal(0.0, 0.6, (8, 3)))
    slide = offsets + 0.05 * np.sin(5.0 * t) if sliding else None
    root = np.array([0.1, 0.9, 0.0]) + t[:, 0] * np.array([0.0, 0.0, 1.0])
    return Motion(skeleton, root, turns, 30.0, slide)


def tiny_motion() -> Motion:
    skeleton = Skeleton(
        ("Hips", "Spine"),
        np.array([-1, 0]),
        np.array([[0.0, 0.9, 0.0], [0.0, 0.2, 0.0]]),
        end_parents=np.array([1]),
        end_offsets=np.array([[0.0, 0.1, 0.0]]),
    )
    turns = quat.exp(np.linspace(0.0, 1.0, 12).reshape(2, 2, 3))
    slide = skeleton.offsets + np.array([[[0.0]], [[0.05]]])
    return Motion(skeleton, np.eye(3)[:2], turns, 30.0, slide)


def own_files() -> list[Seed]:
    """What our writers make of a few motions."""
    motions = {
        "plain": small_motion(),
        "sliding": small_motion(3, sliding=True),
        "rest": small_motion(2, rest=True),
    }
    seeds = []
    for known in known_formats():
        if known.write is None or not known.written:
            continue
        # An FBX has many elements for every joint: few joints make many files a second.
        chosen = {"tiny": tiny_motion()} if known.name == "fbx" else motions
        for name, motion in chosen.items():
            stream = io.BytesIO()
            known.write(FileClip(motion, unit_m=known.unit_m or 1.0, up=known.up), stream)
            seeds.append(Seed(known.name, name, stream.getvalue()))
    return seeds


BVH = b"""HIERARCHY
ROOT Hips
{
\tOFFSET 0.0 9.5e1 -0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT Left Leg
\t{
\t\tOFFSET 3.9 -0.0 0
\t\tCHANNELS 6 Zposition Yposition Xposition Yrotation Xrotation Zrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 -4 0
\t\t}
\t}
\tJOINT Chest # with a comment
\t{
\t\tOFFSET 0 10 0
\t\tCHANNELS 1 Xrotation
\t}
}
MOTION
Frames: 3
Frame Time: .0083333
0 90 0 1.5 -2 3e1 0 0 4 10 20 30 5
0 90.5 1 1.5-2.5 31 0 0.5 4 11 21 31
6
0 91 2 1.5 -2 3e1 0 0 4 12 22 32 7
"""

TWO_ROOTS = b"""HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 3 Xrotation Yrotation Zrotation }
ROOT b { OFFSET 1 0 0 CHANNELS 4 Yposition Yrotation Xrotation Zrotation JOINT b { OFFSET 0 1 0 } }
MOTION\r\nFrames: 2\r\nFrame Time: 0.1\r\n1 2 3 4 5 6 7\r\n2 3 4 5 6 7 8\r\nfoot 1 2\r\n"""

ASF = b""":version 1.10
:name two
:units
  mass 1.0
  length 0.45
  angle deg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name thigh
    direction 0 -1 0
    length 7
    axis 10 0 20 XYZ
    dof rx ry rz
    limits (-160 20) (-70 70) (-60 70)
  end
  begin
    id 2
    name shin
    direction 0.6 -0.8 0
    length 6
    axis 0 0 20 XYZ
    dof rx
    limits (-10 170)
  end
:hierarchy
  begin
    root thigh
    thigh shin
  end
"""
AMC = b"""#!OML:ASF two.asf
:FULLY-SPECIFIED
:DEGREES
1
root 1 16 -3 0 10 0
thigh 5 -3 2
shin 20
2
root 1.1 16 -2.9 0 11 0
thigh 6 -3 2
shin 22
3
root 1.2 16 -2.8 0 12 1e-3
thigh 7 -3 2
shin 23
"""


MJCF = b"""<mujoco><compiler angle="radian"/><default><joint range="-1 1"/>
<default class="a"><joint axis="1 0 0"/></default></default>
<worldbody><geom size="1"/><body name="base" pos="0 0 0.5" childclass="a"><freejoint name="f"/>
<frame pos="0 0 1" euler="0 0.5 0"><body name="leg" pos="0 0 -0.2" quat="1 0.1 0 0">
<joint name="hip" class="main" pos="0 0.1 0"/><joint name="knee" axis="0 1 0" ref="0.1"/>
<body name="foot" xyaxes="1 0 0 0 0 1"><joint name="ankle" type="ball"/></body></body></frame>
</body></worldbody></mujoco>
"""
ROBOT_CSV = b"""Frame,root_translateX,root_translateY,root_translateZ,root_rotateX,root_rotateY,\
root_rotateZ,hip_dof,knee_dof
0,1,2,50,0,0,90,1,10
1,2,2.5,50,0,5,91,2,12.5
2,3,3,50,1,9,92,3,15
"""
OWN_CSV = b"""time,root_x,root_y,root_z,root_qw,root_qx,root_qy,root_qz,hip,knee,ankle_qw,ankle_qx,\
ankle_qy,ankle_qz
0.0,1,2,0.5,1,0,0,0,0.1,0.2,1,0,0,0
0.1,1,2,0.5,0.6,0.8,0,0,0.1,0.3,0,1,0,0
"""


def deepmimic_file() -> bytes:
    sizes = [4, 4, 4, 4, 1, 4, 4, 1, 4, 1, 4, 4, 1]
    pose = [v for size in sizes for v in ([1.0, 0.0, 0.0, 0.0] if size == 4 else [0.2])]
    rows = [[0.0333 if k < 2 else 0.0, 0.1 * k, 0.9, 0.2, *pose] for k in range(3)]
    return json.dumps({"Loop": "wrap", "Frames": rows}, indent=1).encode()


def amass_file() -> bytes:
    stream = io.BytesIO()
    poses = np.linspace(0.0, 1.0, 3 * 156).reshape(3, 156)
    np.savez(
        stream, trans=np.eye(3), poses=poses, mocap_framerate=np.array(120.0), betas=np.ones(16)
    )
    return stream.getvalue()


def packed_arrays_file() -> bytes:
    motion = small_motion(3)
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        root_positions=motion.root_positions,
        local_quats=motion.local_quats.astype(np.float32),
        parents=motion.skeleton.parents,
        offsets=motion.skeleton.offsets,
        names=np.array(motion.skeleton.names),
        fps=np.array(60),
    )
    return stream.getvalue()


def fbx_files() -> list[Seed]:
    """Rigs with pivots, layers and odd keys, as ASCII and as binary."""
    small = crafted(np.random.default_rng(1), Craft(joints=2, seconds=0.1, null_above=False))
    layered = crafted(np.random.default_rng(2), Craft(joints=1, seconds=0.2, layers=2, stacks=2))
    return [
        Seed("fbx", "text", as_text(small)),
        Seed("fbx", "wide", as_binary(small, 7700, deflated=True)),
        Seed("fbx", "layers", as_text(layered)),
        Seed("fbx", "old", as_binary(layered, 7100)),
    ]


def robot_arrays_file() -> bytes:
    stream = io.BytesIO()
    np.savez(
        stream,
        fps=np.array([50.0]),
        joint_pos=np.tile([0.1, 0.2, 1.0, 0.0, 0.0, 0.0], (3, 1)),
        body_pos_w=np.zeros((3, 3, 3)),
        body_quat_w=np.tile([1.0, 0.0, 0.0, 0.0], (3, 3, 1)),
        joint_names=np.array(["hip", "knee", "ankle"]),
        quat_order=np.array("wxyz"),
    )
    return stream.getvalue()


def all_seeds() -> list[Seed]:
    """Every seed, in a fixed order."""
    return [
        *own_files(),
        *fbx_files(),
        Seed("bvh", "dialects", BVH),
        Seed("bvh", "roots", TWO_ROOTS),
        Seed("amc", "motion", AMC, ASF),
        Seed("amc", "skeleton", AMC, ASF, spoil_companion=True),
        Seed("deepmimic", "motion", deepmimic_file()),
        Seed("amass", "numpy", amass_file()),
        Seed("robot", "seed", ROBOT_CSV, MJCF),
        Seed("robot", "model", ROBOT_CSV, MJCF, spoil_companion=True),
        Seed("robot", "own", OWN_CSV, MJCF),
        Seed("arrays", "robot", robot_arrays_file(), MJCF),
        Seed("arrays", "packed", packed_arrays_file()),
    ]
