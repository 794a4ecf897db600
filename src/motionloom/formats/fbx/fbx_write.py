"""A clip as a binary FBX 7.4: bones, a bind pose, a skin, and a key for every frame.

Unity and Unreal make a skeleton of models of type LimbNode and want a mesh that is bound to it, so
a small mesh of bones hangs on them, unless the caller brings a skin. Keys are linear, one per
frame, angles without jumps.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.bone_mesh import bone_mesh
from motionloom.formats.character import Character, SkinnedMesh
from motionloom.formats.fbx.fbx_encode import Item, file_bytes
from motionloom.formats.fbx.fbx_items import Keys, Scene
from motionloom.formats.fbx.fbx_keys import Reach, animation_items, sliding_joints
from motionloom.formats.fbx.fbx_loose_joints import with_loose_joints
from motionloom.formats.fbx.fbx_sections import closing_items, opening_items
from motionloom.formats.fbx.fbx_skeleton import Pose, bind_pose_items, pose_of, skeleton_items
from motionloom.formats.fbx.fbx_skin import bind_matrices, character_items
from motionloom.formats.figure_motion import SLIDE_M
from motionloom.formats.file_clip import FileClip
from motionloom.formats.mesh_space import inverse_frames
from motionloom.motion.motion import Motion

FAR_M = 32.0
"""From here on a float32 key is off by 2e-6 m or more; ten times farther out it would show."""
FARTHEST_M = 1e9
LONGEST_S = 1e5
USUAL_UNIT_M = 0.01
BONES = "bones"
"""The mesh that shows the skeleton where there is no skin."""


def write(clip: FileClip, stream: BinaryIO) -> None:
    """Write the clip as a binary FBX 7.4, with its character or a mesh that shows its bones."""
    stream.write(file_bytes(file_items(clip)))


def file_items(clip: FileClip) -> list[Item]:
    """Everything in the file of a clip."""
    motion, unit_m = clip.motion, clip.unit_m or USUAL_UNIT_M
    _check(motion, unit_m)
    origin = _origin(motion, unit_m)
    pose = pose_of(motion.skeleton, origin)
    scene = Scene(Keys())
    name = str(clip.clip or clip.detail.get("animation") or motion.name or "motion")
    joints = skeleton_items(scene, motion.skeleton, origin)
    reach = Reach(origin, SLIDE_M / unit_m)
    character = with_loose_joints(
        clip.character or _bones(motion, pose, unit_m), sliding_joints(motion, reach.slide)
    )
    matrices = pose.matrices()
    matrices[: motion.skeleton.n_joints] = bind_matrices(character)
    bind_pose_items(scene, joints, matrices)
    character_items(scene, character, joints)
    animation_items(scene, motion, joints, name, reach)
    return [
        *opening_items(scene, unit_m=unit_m, up=clip.up or "y", motion=motion),
        Item("Objects", (), scene.objects),
        Item("Connections", (), scene.links),
        *closing_items(motion, name),
    ]


def _check(motion: Motion, unit_m: float) -> None:
    skeleton, moving = motion.skeleton, motion.joint_translations
    lengths = (skeleton.offsets, skeleton.end_offsets, motion.root_positions, moving)
    farthest = FARTHEST_M / unit_m
    if any(np.abs(a).max(initial=0.0) > farthest for a in lengths if a is not None):
        raise FormatError(
            f"An FBX holds keys in single precision: everything must lie within {FARTHEST_M:g} m.",
            fix="Check the unit, or move the clip to the origin.",
        )
    if motion.duration_s > LONGEST_S:
        raise FormatError(
            f"An FBX clip may last {LONGEST_S:g} s, this one lasts {motion.duration_s:g} s.",
            fix="Check its frame rate.",
        )


def _origin(motion: Motion, unit_m: float) -> FloatArray:
    """Whole units that a node above the root takes off its keys where they are far out."""
    root = motion.root_positions
    if np.abs(root).max() * unit_m < FAR_M:
        return np.zeros(3)
    return np.asarray(np.round(0.5 * (root.min(axis=0) + root.max(axis=0))))


def _bones(motion: Motion, pose: Pose, unit_m: float) -> Character:
    """A mesh of long octahedra, one for each bone."""
    # The mesh is made in metres, for its shortest bones are a tenth of a millimetre.
    mesh = bone_mesh(motion.skeleton, unit_m * pose.places, pose.turns)
    n_joints = motion.skeleton.n_joints
    bound = SkinnedMesh(
        BONES,
        mesh.points / unit_m,
        mesh.triangles.astype(np.int64),
        mesh.owners[:, None],
        np.ones((len(mesh.owners), 1)),
        inverse_frames(pose.places[:n_joints], pose.turns[:n_joints]),
        np.full(len(mesh.triangles), -1),
    )
    return Character(BONES, motion, (bound,))
