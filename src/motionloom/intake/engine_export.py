"""EngineExport: a motion with the bone names, root, rest pose, unit and axes of a game engine."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import of_kind
from motionloom._records import record
from motionloom.body.body_map import BodyMap, facing_of_positions, roles_for, shifted_roles
from motionloom.body.engine_bones import BONE_NAMES, engine_names, with_godot_axes, with_t_pose
from motionloom.body.neutral import neutral_stance
from motionloom.body.root_motion import (
    in_place,
    travel_on_root,
    with_root_bone,
    with_still_root_bones,
)
from motionloom.errors import ArrayError, FormatError
from motionloom.formats.character import Character
from motionloom.formats.meshes import mesh_at_rest
from motionloom.motion.edit import transform
from motionloom.motion.motion import Motion, forward_kinematics
from motionloom.rotation import quat
from motionloom.rotation.quat import PlanarTransform

ENGINES = tuple(BONE_NAMES)
ROOTS = ("bone", "in-place", "hips")
FORMATS = {"unreal": ("fbx", "glb"), "unity": ("fbx", "glb"), "godot": ("glb", "fbx")}
"""Formats that can be written for each engine, the recommended one first."""
AXES = {"unreal": (0.01, "z"), "unity": (1.0, "y"), "godot": (1.0, "y")}
"""Metres per unit and up axis of FBX files; GLB files are always in metres with Y up."""


@dataclass(frozen=True, slots=True)
@record
class EngineExport:
    """How :func:`save` writes a file for a game engine.

    Bones get the engine's names: those of Unreal's mannequin, Unity's humanoid or Godot's
    ``SkeletonProfileHumanoid``. The skeleton rests in a T-pose over the origin, and the clip starts
    there and faces forward. FBX files for Unreal are in centimetres with Z up, for Unity and Godot
    in metres with Y up.

    Attributes
    ----------
    name : str
        ``"unreal"``, ``"unity"`` or ``"godot"``.
    root : str
        ``"bone"``: a root bone on the ground carries travel and turn. ``"in-place"``: the root bone
        stays at the origin, and the pelvis over it. ``"hips"``: no root bone is added.
    body : BodyMap or None
        Which joint is which; guessed where not given.

    Examples
    --------
    >>> EngineExport("unreal", root="in-place")
    EngineExport(name='unreal', root='in-place')
    """

    name: str
    root: str = "bone"
    body: BodyMap | None = dataclasses.field(default=None, repr=False)

    def __post_init__(self) -> None:
        if of_kind(self.name, str, "engine") not in ENGINES:
            raise ArrayError(f"`engine` must be one of {', '.join(ENGINES)}, got {self.name!r}.")
        if of_kind(self.root, str, "root") not in ROOTS:
            raise ArrayError(f"`root` must be one of {', '.join(ROOTS)}, got {self.root!r}.")
        if self.body is not None:
            of_kind(self.body, BodyMap, "body")

    @property
    def unit_m(self) -> float:
        """Metres per unit in FBX files."""
        return AXES[self.name][0]

    @property
    def up(self) -> str:
        """Up axis of FBX files."""
        return AXES[self.name][1]

    @property
    def formats(self) -> tuple[str, ...]:
        """Formats that can be written, the recommended one first."""
        return FORMATS[self.name]

    @property
    def title(self) -> str:
        """The engine's name as texts write it."""
        return self.name.title()


def check_engine_format(export: EngineExport, format: str) -> None:  # noqa: A002 - users' word
    """Raise a FormatError where a format holds no skeleton that engines import."""
    if format not in export.formats:
        suffixes = " or ".join(f".{each}" for each in export.formats)
        raise FormatError(
            f"A file for {export.title} must be {suffixes}, got the format {format!r}.",
            fix=f"Save as .{export.formats[0]}, or leave out engine=.",
        )


def engine_motion(motion: Motion, export: EngineExport) -> Motion:
    """The motion as an engine wants it: names, root, rest pose, place. Metres, Y up.

    Joints keep their order; a root bone may be added in front.
    """
    resting = _resting(motion, export)
    return with_godot_axes(resting) if export.name == "godot" else resting


def engine_character(character: Character, motion: Motion, export: EngineExport) -> Character:
    """A character on the joints that :func:`engine_motion` gives a motion on it.

    Its meshes stand as they do when the pelvis is in the engine's rest pose.
    """
    resting = _resting(motion, export)
    placed = with_godot_axes(resting) if export.name == "godot" else resting
    (_, before), (_, after) = (each[:1].world_pose() for each in (resting, placed))
    added = placed.skeleton.n_joints - character.skeleton.n_joints
    turns = quat.to_matrix(quat.multiply(quat.conjugate(after[0]), before[0]))
    rest = forward_kinematics(
        placed.skeleton, placed.skeleton.offsets[:1], placed.skeleton.rest_quats[None]
    )
    pelvis = added + int(roles_for(motion.skeleton, export.body, motion=motion).pelvis or 0)
    meshes = []
    for mesh in character.meshes:
        binds = np.concatenate([np.tile(np.eye(3, 4), (added, 1, 1)), mesh.binds])
        binds[added:] = turns[added:] @ mesh.binds
        turned = dataclasses.replace(mesh, joints=mesh.joints + added, binds=binds)
        meshes.append(mesh_at_rest(turned, rest[0][0], rest[1][0], joint=pelvis))
    return dataclasses.replace(character, motion=placed, meshes=tuple(meshes))


def _resting(motion: Motion, export: EngineExport) -> Motion:
    """The motion with the engine's names, root and rest pose, on the axes that its bones have."""
    body = roles_for(motion.skeleton, export.body, motion=motion)
    stance = neutral_stance(motion.skeleton, body, motion)
    names = engine_names(motion.skeleton, body, export.name)
    motion = motion.replace(skeleton=dataclasses.replace(motion.skeleton, names=names))
    motion = _at_origin(motion, body)
    if export.root == "in-place":
        motion = in_place(motion, body=body)
    if export.root != "hips":
        if body.pelvis:
            motion = travel_on_root(motion, body=body)
        else:
            motion = with_root_bone(motion, name=BONE_NAMES[export.name].root, body=body)
            body = shifted_roles(body, 1)
    if export.root == "in-place":
        motion = with_still_root_bones(motion, body=body)
    return with_t_pose(motion, body, stance)


def _at_origin(motion: Motion, body: BodyMap) -> Motion:
    """The motion moved so that its first frame stands over the origin and faces +Z."""
    positions = motion[:1].world_positions()
    pelvis = positions[0, int(body.pelvis or 0)]
    start = PlanarTransform(float(facing_of_positions(positions, body)[0]), pelvis[0], pelvis[2])
    return transform(motion, start.inverse())
