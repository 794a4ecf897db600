"""Small characters to be spoiled: two joints, a few triangles, a material and an image."""

from __future__ import annotations

import io
from functools import cache

import numpy as np

import motionloom as ml
from fbx_mutate import Random, changed_scene, items_of
from motionloom.formats.fbx.fbx_scene import Item
from mutate import change_glb, set_word
from seeds import tiny_motion

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


def small_character() -> ml.Character:
    """Two joints that carry five points."""
    motion = tiny_motion()
    points = np.array([[0, 0, 0], [0.1, 0, 0], [0, 1, 0], [0.1, 1, 0], [0.05, 1.2, 0.0]], float)
    mesh = ml.SkinnedMesh(
        "skin",
        points,
        np.array([[0, 1, 2], [1, 3, 2], [2, 3, 4]]),
        np.array([[0, 1]] * 5),
        np.column_stack([np.linspace(1.0, 0.0, 5), np.linspace(0.0, 1.0, 5)]),
        np.tile(np.eye(3, 4), (2, 1, 1)),
        np.array([0, 0, -1]),
        normals=np.tile([0.0, 0.0, 1.0], (5, 1)),
        uvs=(points[:, :2],),
    )
    image = ml.Texture("image", PIXEL)
    material = ml.Material("cloth", textures={"colour": image, "normal": image})
    return ml.Character("small", motion, (mesh,), (material,))


@cache
def saved(name: str) -> bytes:
    """The character as a file of a format."""
    character, stream = small_character(), io.BytesIO()
    ml.save(character.motion, stream, format=name, character=character)
    return stream.getvalue()


@cache
def character_scenes() -> tuple[list[Item], ...]:
    return (items_of(saved("fbx")),)


def changed_character(rng: Random, name: str) -> bytes:
    """The character with a few changes."""
    if name == "fbx":
        return changed_scene(rng, "text" if rng.random() < 0.3 else "binary", character_scenes())
    data = saved("glb")
    for _ in range(1 + int(rng.integers(3))):
        data = change_glb(rng, data)
    return set_word(rng, data) if rng.random() < 0.1 else data
