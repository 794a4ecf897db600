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
        "Unreal", "fbx", {"engine": "unreal"}, False,
        "FBX with a root bone, the mannequin's names and Unreal's axes. Not opened in Unreal.",
    ),
    "unity": Preset(
        "Unity", "fbx", {"engine": "unity"}, False,
        "FBX with a root bone and the names of Unity's humanoid. Not opened in Unity.",
    ),
    "godot": Preset(
        "Godot", "glb", {"engine": "godot"}, True,
        "glTF with a root bone, on Godot's humanoid profile; put it into the project's folder.",
    ),
}  # fmt: skip
