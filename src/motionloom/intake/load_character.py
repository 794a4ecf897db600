"""Figures to carry motions onto: the character in a file, with its skin, and SMPL's skeleton."""

from __future__ import annotations

import dataclasses
import warnings
from pathlib import Path

import numpy as np

from motionloom._arrays import positive
from motionloom.errors import ArrayError, FormatError, MotionLoomError
from motionloom.files.limits import Limits, limits_for
from motionloom.findings import Finding
from motionloom.formats.amass import STATURE, body_of_stature
from motionloom.formats.character import Character, SkinnedMesh
from motionloom.formats.file_clip import FileClip, FileSkin, ReadOptions
from motionloom.formats.meshes import mesh_at_rest, turned_mesh
from motionloom.formats.registry import format_for_reading, known_formats
from motionloom.intake.axes import skeleton_to_world, turn_from_world, turn_to_world
from motionloom.intake.clip_names import Target, find_target, opened, read_errors
from motionloom.intake.load import load
from motionloom.motion.motion import Motion, Skeleton, forward_kinematics

SAME_M = 1e-6
"""Joints that agree to this are those of the character."""
GLB_IMAGES = (".png", ".jpg")


def load_character(path: str | Path) -> Character:
    """The figure in a GLB, glTF or FBX file: skeleton, meshes, materials and textures.

    Images are taken as they are, also from files next to it. Meshes without a skin that hang on a
    joint are kept; morph targets, and meshes of other figures, are left out, which ``findings``
    report.

    Parameters
    ----------
    path
        The file; ``"file.glb#Run"`` picks the figure that the clip Run moves.

    Returns
    -------
    Character
        In metres, Y up. Pass it to :func:`retarget` to map a motion onto it, and to
        :func:`save` to write the motion with its skin.

    Raises
    ------
    FormatError
        The file cannot be read, or holds no mesh that hangs on a skeleton.

    Examples
    --------
    >>> import tempfile
    >>> from motionloom import save, synthetic
    >>> walk = synthetic.clip("walk").motion
    >>> binds = np.tile(np.eye(3, 4), (walk.skeleton.n_joints, 1, 1))
    >>> leaf = SkinnedMesh("leaf", np.eye(3), [[0, 1, 2]], [[0]] * 3, [[1.0]] * 3, binds, [-1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(walk, Path(folder) / "leaf.glb", character=Character("leaf", walk, (leaf,)))
    ...     load_character(Path(folder) / "leaf.glb").meshes[0].name
    'leaf'
    """
    if not isinstance(path, str | Path):
        raise FormatError(f"A character is named by a path, got {type(path).__name__}.")
    target = find_target(path, None)
    skin = _read_skin(target, limits_for(None))
    if not skin.meshes:
        raise FormatError(
            "The file holds no mesh that hangs on a skeleton.",
            path=target.label,
            fix="Export the character with its skin.",
        )
    with warnings.catch_warnings():  # faults of the clip do not matter to the character
        warnings.simplefilter("ignore")
        motion = load(path, keep_t_pose=True)
    try:
        return _character(skin, motion, Path(target.label).stem)
    except FormatError as error:
        raise error.at(target.label) from None
    except ArrayError as error:
        raise FormatError(str(error), path=target.label) from error


def _read_skin(target: Target, limits: Limits) -> FileSkin:
    """Read the meshes of a file by the reader of its format."""
    options = ReadOptions(path=target.path, clip=target.clip, limits=limits)
    with opened(target, limits) as (head, stream), read_errors(target.label):
        format_ = format_for_reading(head, target.path)
        if format_.read_skin is None:
            skinned = [each for each in known_formats() if each.read_skin is not None]
            suffixes = ", ".join(suffix for each in skinned for suffix in each.suffixes)
            raise FormatError(
                f"A character needs a file with a skin, and {format_.title} holds none.",
                fix=f"Name a file of the kinds {suffixes}.",
            )
        with np.errstate(all="ignore"):  # what is not finite is refused
            return format_.read_skin(stream, options)


def _character(skin: FileSkin, motion: Motion, name: str) -> Character:
    """The character in metres and Y up, its meshes as they stand when its joints rest."""
    skeleton, source = motion.skeleton, motion.source
    places, turns = forward_kinematics(
        skeleton, skeleton.offsets[None, 0], skeleton.rest_quats[None]
    )
    turn = turn_to_world(source.up)
    meshes: list[SkinnedMesh] = []
    for mesh in skin.meshes:
        if len(mesh.binds) != skeleton.n_joints:
            raise FormatError("The skin and the clip must have the same joints.")
        placed = turned_mesh(mesh, turn, turn, source.unit_m)
        meshes.append(mesh_at_rest(placed, places[0], turns[0]))
    findings = list(skin.findings)
    textures = {t.name: t for m in skin.materials for t in m.textures.values()}
    others = [name for name, t in textures.items() if t.suffix not in GLB_IMAGES]
    if others:
        text = f"Images that are no PNG or JPEG are left out of a GLB ({len(others)})."
        findings.append(Finding("note", f"{others[0][:40]!r}", text))
    return Character(name, motion, tuple(meshes), skin.materials, tuple(findings))


def character_of(motion: Motion) -> Character | None:
    """The character in the file that a motion came from; None where it has no skin to keep.

    The file must still be there, and the motion on the joints that it had in it.
    """
    source = motion.source
    skinned = {each.name for each in known_formats() if each.read_skin is not None}
    if source.format not in skinned or source.path in ("", "-"):
        return None
    name = f"{source.path}#{source.clip}" if source.clip else source.path
    try:
        if not Path(source.path).is_file():
            return None
        character = load_character(name)
    except (MotionLoomError, OSError, ValueError):
        return None
    placed = character_on(character, motion)
    if placed is None or not _same_bones(motion.skeleton, character.skeleton):
        return None
    return placed


def character_on(character: Character, motion: Motion) -> Character | None:
    """The character on the joints of a motion; None where those are others.

    A root bone may have been added in front, or removed where no point hangs on it.
    """
    ours, theirs = character.skeleton, motion.skeleton
    if theirs.same_joints(ours):
        return character
    if _has_root_added(theirs, ours):
        added = 1
    elif _has_root_added(ours, theirs) and not any(
        (mesh.weights[mesh.joints == 0] > 0.0).any() for mesh in character.meshes
    ):
        added = -1
    else:
        return None
    meshes = []
    for mesh in character.meshes:
        root = np.eye(3, 4)[None] if added > 0 else mesh.binds[:0]
        binds = np.concatenate([root, mesh.binds[max(-added, 0) :]])
        joints = np.maximum(mesh.joints + added, 0)
        meshes.append(dataclasses.replace(mesh, joints=joints, binds=binds))
    return dataclasses.replace(character, motion=motion[:1], meshes=tuple(meshes))


def _has_root_added(one: Skeleton, other: Skeleton) -> bool:
    """Whether a skeleton is another one under one joint more."""
    return one.names[1:] == other.names and np.array_equal(one.parents[1:], other.parents + 1)


def _same_bones(one: Skeleton, other: Skeleton) -> bool:
    """Whether the bones that two skeletons share, those below their roots, are equal."""
    n = min(one.n_joints, other.n_joints) - 1
    same = np.allclose(one.offsets[-n:], other.offsets[-n:], rtol=0.0, atol=SAME_M)
    alike = np.abs(np.sum(one.rest_quats[-n:] * other.rest_quats[-n:], axis=-1))
    return n < 1 or bool(same and np.allclose(alike, 1.0, atol=1e-9))


def character_in_file(character: Character, clip: FileClip) -> Character:
    """The character in the unit and axes that the file of a clip will have."""
    turn, unit_m = turn_from_world(clip.up or "y"), clip.unit_m or 1.0
    meshes = tuple(turned_mesh(mesh, turn, turn, 1.0 / unit_m) for mesh in character.meshes)
    return dataclasses.replace(character, meshes=meshes)


def smpl_skeleton(stature: float = STATURE) -> Skeleton:
    """The 22 body joints of SMPL, with bones from published anthropometry.

    A clip on this skeleton can be saved for AMASS and SMPL tools:
    ``ml.save(clip, "clip.npz", format="amass")``. Lengths are not those of the licensed model;
    files hold rotations and the pelvis only, so they do not matter there.

    Parameters
    ----------
    stature
        Height of the person, metres.

    Returns
    -------
    Skeleton
        Y up, arms to the sides, facing +Z.

    Examples
    --------
    >>> smpl_skeleton().names[:3]
    ('pelvis', 'left_hip', 'right_hip')
    """
    return skeleton_to_world(body_of_stature(positive(stature, "stature")), up="z", unit_m=1.0)
