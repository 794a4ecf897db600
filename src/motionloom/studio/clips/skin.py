"""Skin: the meshes of a clip's character as the stage draws them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.formats.character import Character, SkinnedMesh
from motionloom.formats.meshes import four_shares, smooth_normals
from motionloom.intake.load_character import character_of
from motionloom.motion.motion import Motion

MOST_POINTS = 150_000
"""Of all meshes together: more is no figure for a preview."""
MOST_BONES = 256
"""The stage counts bones in a byte."""
SAME_BIND = 1e-5
"""Binds of two meshes that agree to this are drawn as one bone, metres."""


@dataclass(frozen=True, slots=True, eq=False)
class Skin:
    """Triangles, each point carried by up to four bones that follow the joints of a motion."""

    points: FloatArray
    """As they stand when the joints rest, metres. Shape (V, 3)."""
    normals: FloatArray
    """Shape (V, 3)."""
    triangles: IntArray
    """Shape (T, 3)."""
    bones: IntArray
    """Bones that carry each point. Shape (V, 4)."""
    weights: FloatArray
    """Their shares, which sum to 1. Shape (V, 4)."""
    joints: IntArray
    """Joint of the motion that each bone follows: two meshes may be bound to one in two poses.
    Shape (B,)."""
    binds: FloatArray
    """From the mesh into the frame of each bone, metres. Shape (B, 3, 4)."""

    @property
    def n_bytes(self) -> int:
        """Memory that it takes."""
        return sum(each.nbytes for each in (self.points, self.normals, self.triangles)) + sum(
            each.nbytes for each in (self.bones, self.weights, self.binds)
        )


def skin_of(motion: Motion) -> Skin | None:
    """The skin in the file that a motion came from; None where it has none that can be drawn."""
    character = character_of(motion)
    return None if character is None else drawn_skin(character)


def drawn_skin(character: Character) -> Skin | None:
    """All meshes of a character as one; None where they are too many points or bones."""
    if character.n_points > MOST_POINTS:
        return None
    bones = _Bones([], [])
    parts = [_part(mesh, bones) for mesh in character.meshes]
    if len(bones.joints) > MOST_BONES:
        return None
    starts = np.cumsum([0, *(len(mesh.points) for mesh in character.meshes)])
    pairs = zip(character.meshes, starts, strict=False)
    return Skin(
        np.concatenate([mesh.points for mesh in character.meshes]),
        np.concatenate([_normals(mesh) for mesh in character.meshes]),
        np.concatenate([mesh.triangles + start for mesh, start in pairs]),
        np.concatenate([carriers for carriers, _ in parts]),
        np.concatenate([weights for _, weights in parts]),
        np.array(bones.joints),
        np.array(bones.binds),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Bones:
    """Bones of the meshes so far."""

    joints: list[int]
    binds: list[FloatArray]

    def number(self, joint: int, bind: FloatArray) -> int:
        """The bone of a joint with a bind; a new one where there is none yet."""
        for k, (own, other) in enumerate(zip(self.joints, self.binds, strict=True)):
            if own == joint and np.allclose(other, bind, rtol=0.0, atol=SAME_BIND):
                return k
        self.joints.append(joint)
        self.binds.append(bind)
        return len(self.joints) - 1


def _part(mesh: SkinnedMesh, bones: _Bones) -> tuple[IntArray, FloatArray]:
    """Bones and shares of the points of a mesh. (V, 4) each."""
    joints, weights = four_shares(mesh.joints, mesh.weights)
    used, rows = np.unique(np.where(weights > 0.0, joints, joints[:, :1]), return_inverse=True)
    numbers = np.array([bones.number(int(joint), mesh.binds[joint]) for joint in used])
    return numbers[rows.reshape(joints.shape)], weights


def _normals(mesh: SkinnedMesh) -> FloatArray:
    return smooth_normals(mesh.points, mesh.triangles) if mesh.normals is None else mesh.normals
