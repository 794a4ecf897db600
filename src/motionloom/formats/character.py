"""Character: a skeleton with the meshes that hang on it, their materials and textures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from motionloom._arrays import FloatArray, IntArray, frozen, frozen_lengths, of_kind, one_of, whole
from motionloom._records import FrozenMapping, record
from motionloom.errors import ArrayError
from motionloom.findings import Finding
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat

TEXTURE_USES = ("colour", "normal", "metal_and_roughness", "occlusion", "glow")
"""Uses of textures."""


@dataclass(frozen=True, slots=True, eq=False)
@record
class Texture:
    """An image on a surface, as the bytes of its file.

    Attributes
    ----------
    name : str
        Name of the image.
    data : bytes
        The image file: PNG, JPEG or another.
    uv : int
        Which of the texture coordinates of a mesh place it.
    wraps : tuple
        What lies outside of it, across and up: ``"repeat"``, ``"clamp"`` or ``"mirror"``.
    smooth : bool
        Whether values between its pixels are interpolated.
    """

    name: str
    data: bytes = field(repr=False)
    uv: int = 0
    wraps: tuple[str, str] = ("repeat", "repeat")
    smooth: bool = True

    @property
    def suffix(self) -> str:
        """Suffix that a file of the image has, by its first bytes; empty where they are unknown."""
        heads = {".png": b"\x89PNG\r\n\x1a\n", ".jpg": b"\xff\xd8\xff", ".bmp": b"BM"}
        heads |= {".webp": b"RIFF", ".dds": b"DDS ", ".gif": b"GIF8", ".tif": b"II*\0"}
        return next((end for end, head in heads.items() if self.data.startswith(head)), "")


@dataclass(frozen=True, slots=True, eq=False)
@record
class Material:
    """How a surface looks.

    Attributes
    ----------
    name : str
        Name of the material.
    colour : tuple
        Red, green, blue (linear) and opacity; multiplies the texture of the same name.
    metal, roughness : float
        From 0 to 1.
    glow : tuple
        Emitted light: red, green and blue.
    opacity : str
        ``"opaque"``; ``"mask"``: holes where the opacity is below ``cutoff``; or ``"blend"``.
    cutoff : float
        See ``opacity``.
    two_sided : bool
        Whether it is seen from behind.
    textures : Mapping
        By what they are for: ``"colour"``, ``"normal"``, ``"metal_and_roughness"``, ``"occlusion"``
        or ``"glow"``.
    """

    name: str
    colour: tuple[float, float, float, float] = (0.8, 0.8, 0.8, 1.0)
    metal: float = 0.0
    roughness: float = 0.8
    glow: tuple[float, float, float] = (0.0, 0.0, 0.0)
    opacity: str = "opaque"
    cutoff: float = 0.5
    two_sided: bool = False
    textures: Mapping[str, Texture] = field(default_factory=FrozenMapping)

    def __post_init__(self) -> None:
        for use in self.textures:
            one_of(use, TEXTURE_USES, "textures")
        if not isinstance(self.textures, FrozenMapping):
            object.__setattr__(self, "textures", FrozenMapping(self.textures))


@dataclass(frozen=True, slots=True, eq=False)
@record
class SkinnedMesh:
    """Triangles whose points are carried by joints.

    Attributes
    ----------
    name : str
        Name of the mesh.
    points : array
        As the mesh stands when the joints rest, metres. Shape (V, 3).
    triangles : array of int
        Points of each triangle, counter-clockwise seen from outside. Shape (T, 3).
    joints : array of int
        Joints that carry each point. Shape (V, K).
    weights : array
        Their shares, which sum to 1. Shape (V, K).
    binds : array
        From the points into the frame of each joint of the skeleton. Shape (J, 3, 4).
    surfaces : array of int
        Material of each triangle in the character's list, -1 for none. Shape (T,).
    normals : array or None
        Shape (V, 3).
    tangents : array or None
        Direction of U, and the side of V. Shape (V, 4).
    uvs : tuple of array
        Texture coordinates, (0, 0) at the upper left of the image. Each of shape (V, 2).
    colours : array or None
        Shape (V, 4).
    """

    name: str
    points: FloatArray
    triangles: IntArray
    joints: IntArray
    weights: FloatArray
    binds: FloatArray
    surfaces: IntArray
    normals: FloatArray | None = None
    tangents: FloatArray | None = None
    uvs: tuple[FloatArray, ...] = ()
    colours: FloatArray | None = None

    def __post_init__(self) -> None:
        points = frozen_lengths(self.points, "points", (None, 3))
        n = len(points)
        triangles = frozen(self.triangles, "triangles", (None, 3), np.int64)
        _below(triangles, n, "triangles")
        joints = frozen(self.joints, "joints", (n, None), np.int64)
        binds = frozen(self.binds, "binds", (None, 3, 4))
        _below(joints, len(binds), "joints")
        surfaces = frozen(self.surfaces, "surfaces", (len(triangles),), np.int64)
        arrays = {
            "points": points,
            "triangles": triangles,
            "joints": joints,
            "weights": frozen(self.weights, "weights", joints.shape),
            "binds": binds,
            "surfaces": surfaces,
            "uvs": tuple(frozen(uv, "uvs", (n, 2)) for uv in self.uvs),
        }
        for name, width in (("normals", 3), ("tangents", 4), ("colours", 4)):
            value = getattr(self, name)
            arrays[name] = None if value is None else frozen(value, name, (n, width))
        for name, value in arrays.items():
            object.__setattr__(self, name, value)

    def posed(self, places: FloatArray, turns: FloatArray) -> FloatArray:
        """The points (V, 3) for joints at these places (J, 3) and turns (J, 4) in the world.

        Returns
        -------
        (V, 3) array
            Metres.
        """
        frames = np.concatenate([quat.to_matrix(turns), places[..., None]], axis=-1)
        down = np.broadcast_to([0.0, 0.0, 0.0, 1.0], (len(self.binds), 1, 4))
        bones = frames @ np.concatenate([self.binds, down], axis=1)
        out = np.zeros_like(self.points)
        for k in range(self.joints.shape[1]):
            bone = bones[self.joints[:, k]]
            moved = np.einsum("vij,vj->vi", bone[..., :3], self.points) + bone[..., 3]
            out += self.weights[:, k, None] * moved
        return out


@dataclass(frozen=True, slots=True, eq=False)
@record
class Character:
    """A skeleton with the meshes that hang on it, their materials and textures.

    :func:`motionloom.load_character` reads one; :func:`motionloom.retarget` maps motions onto it;
    :func:`motionloom.save` writes them with its skin.

    Attributes
    ----------
    name : str
        Name of the character.
    motion : Motion
        The first clip of its file, or its rest pose.
    meshes : tuple of SkinnedMesh
        Meshes that move with the skeleton.
    materials : tuple of Material
        Looks of the surfaces.
    findings : tuple of Finding
        What of the file was left out or changed.
    """

    name: str
    motion: Motion = field(repr=False)
    meshes: tuple[SkinnedMesh, ...]
    materials: tuple[Material, ...] = ()
    findings: tuple[Finding, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        of_kind(self.motion, Motion, "motion")
        for mesh in self.meshes:
            of_kind(mesh, SkinnedMesh, "meshes")
            if len(mesh.binds) != self.skeleton.n_joints:
                raise ArrayError(
                    f"`meshes` must have a bind for each of the {self.skeleton.n_joints} joints, "
                    f"got {len(mesh.binds)} in {mesh.name!r}."
                )
            if mesh.surfaces.size:
                whole(int(mesh.surfaces.max()), "surfaces", most=len(self.materials) - 1)

    @property
    def skeleton(self) -> Skeleton:
        """The joints that carry the meshes."""
        return self.motion.skeleton

    @property
    def n_points(self) -> int:
        """Points of all meshes."""
        return sum(len(mesh.points) for mesh in self.meshes)

    def posed(self, motion: Motion, frame: int) -> FloatArray:
        """Where the points of all meshes are in a frame of a motion on its skeleton. (V, 3).

        Returns
        -------
        (V, 3) array
            Metres, all meshes one after the other.
        """
        of_kind(motion, Motion, "motion")
        at = whole(frame, "frame", least=0, most=motion.n_frames - 1)
        if not motion.skeleton.same_joints(self.skeleton):
            raise ArrayError(
                "`motion` must be on the joints of the character. "
                "Carry it over first: ml.retarget(motion, character)."
            )
        places, turns = motion[at : at + 1].world_pose()
        return np.concatenate([mesh.posed(places[0], turns[0]) for mesh in self.meshes])


def _below(values: IntArray, n: int, name: str) -> None:
    if values.size and not 0 <= values.min() <= values.max() < n:
        raise ArrayError(f"`{name}` must be from 0 to {n - 1}, got {values.min()}, {values.max()}.")
