"""Presets: clips as other programs need them, and whether a test opens them there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Preset:
    """A format with its options, and how to import it."""

    title: str
    format: str
    options: dict[str, Any]
    verified: bool
    """Whether a test opens such a file in the program and compares every joint."""
    about: str


METRIC = {"unit": "m", "up": "y"}

PRESETS: dict[str, Preset] = {
    "blender": Preset(
        "Blender", "glb", METRIC, True,
        "glTF in metres. File, Import, glTF 2.0; the armature plays at its true speed.",
    ),
    "blender-bvh": Preset(
        "Blender, as BVH", "bvh", METRIC, True,
        "BVH in metres, Y up. File, Import, Motion Capture; scale 1, forward -Z, up Y.",
    ),
    "unreal": Preset(
        "Unreal", "glb", METRIC, False,
        "glTF in metres, which Interchange turns into centimetres. Not opened in Unreal.",
    ),
    "unity": Preset(
        "Unity", "glb", METRIC, False,
        "glTF in metres; needs the package glTFast. Not opened in Unity.",
    ),
    "godot": Preset(
        "Godot", "glb", METRIC, False,
        "glTF in metres; put it into the project's folder. Not opened in Godot.",
    ),
}  # fmt: skip
