"""Binds that keep joints loose which slide: Blender fastens a joint to the end of its parent.

Blender draws a bone from its joint along the joint's Y axis. A joint that rests where the bone of
its parent ends is connected to it, and Blender ignores the translation keys of connected joints. So
a sliding joint on that axis is bound a hair off it. Rest offsets and keys stay as they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.formats.character import Character
from motionloom.formats.fbx.fbx_skin import bind_matrices, carried_weight

NEAR, NEAR_SHARE = 2e-4, 5e-6
"""A joint this close to the axis may be connected: in units of the file, and as a share of the
farthest place. Blender 5 connects below 1e-4 units, Blender 3 below a share of 1e-6."""
APART = 2.0
"""How far off the axis a joint is bound, times the distance at which it may be connected."""


def with_loose_joints(character: Character, sliding: Iterable[int]) -> Character:
    """The character, bound so that Blender connects none of the sliding joints to its parent.

    Of a joint and the root above it the one that carries less of the meshes is moved; other joints
    are moved themselves.

    Parameters
    ----------
    character
        In the unit and axes of the file.
    sliding
        Joints with translation keys, without the root.
    """
    carried = carried_weight(character)
    for joint in sliding:
        parent = int(character.skeleton.parents[joint])
        shift = _shift_off_axis(bind_matrices(character), parent, joint)
        if shift is not None:
            moves_root = parent == 0 and carried[parent] < carried[joint]
            character = _moved(character, *((parent, -shift) if moves_root else (joint, shift)))
    return character


def _shift_off_axis(matrices: FloatArray, parent: int, joint: int) -> FloatArray | None:
    """What moves a joint off the axis of its parent; None where it is off or below it."""
    frames = matrices.reshape(-1, 4, 4)
    places = frames[:, 3, :3]
    axis, side = (frames[parent, row, :3] for row in (1, 2))
    length = np.linalg.norm(axis)
    if not length > 0.0:
        return None
    axis = axis / length
    offset = places[joint] - places[parent]
    along = float(offset @ axis)
    off = offset - along * axis
    near = max(NEAR, NEAR_SHARE * float(np.abs(places).max()))
    if along <= 0.0 or np.linalg.norm(off) > near:
        return None
    across = side - (side @ axis) * axis
    size = np.linalg.norm(across)
    return APART * near / size * across - off if size > 0.0 else None


def _moved(character: Character, joint: int, shift: FloatArray) -> Character:
    """The character with one joint bound at another place; its points stay."""
    meshes = []
    for mesh in character.meshes:
        binds = np.array(mesh.binds)
        binds[joint, :, 3] -= binds[joint, :, :3] @ shift
        meshes.append(dataclasses.replace(mesh, binds=binds))
    return dataclasses.replace(character, meshes=tuple(meshes))
