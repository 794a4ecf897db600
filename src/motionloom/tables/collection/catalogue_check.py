"""The document of a catalogue, checked value by value before anything is made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

from motionloom._arrays import positive
from motionloom.body.body_map import ROLES
from motionloom.body.feet import FootOffsets
from motionloom.errors import ArrayError

SLOWEST_FPS, FASTEST_FPS = 1.0, 1000.0
"""Rates that captured motion comes at: others are typing errors, or seconds per frame."""
FARTHEST_M = 1e6
"""No joint is farther from its parent, and no body from where it began, metres."""
MOST_ROWS = 1 << 48
LONGEST_PATH = 4096
PLANTS = ("thresholds", "learned")

Check = Callable[[object], bool]


def checked_rate(value: float, name: str) -> float:
    """A rate that a collection can have."""
    rate = positive(value, name)
    if not SLOWEST_FPS <= rate <= FASTEST_FPS:
        raise ArrayError(
            f"`{name}` must be {SLOWEST_FPS:g} to {FASTEST_FPS:g} frames per second, got {rate:g}."
        )
    return rate


def check_document(document: dict[str, Any]) -> None:
    """Check the type and the range of every value of a catalogue.

    Raises
    ------
    ValueError
        A value is missing, of another type, or out of its range; the text names it.
    """
    folder, fps = document.get("folder"), document.get("fps")
    _require(_is_text(folder) and len(str(folder)) <= LONGEST_PATH, "its folder is no path")
    _require(_is_number(fps, FASTEST_FPS) and float(str(fps)) >= SLOWEST_FPS, "its rate cannot be")
    _require(_is_count(document.get("generation")), "its generation is no number")
    options = document.get("options")
    _require(
        isinstance(options, dict)
        and all(isinstance(value, bool | str) for value in options.values())
        and options.get("plants", PLANTS[0]) in PLANTS,
        "its options are not described",
    )
    _require(_is_list(document.get("clips"), _is_clip), "its clips are not described")
    _require(bool(document["clips"]), "it has no clips")
    _require(_is_list(document.get("files"), _is_file), "its files are not described")
    common = document.get("common")
    if not isinstance(common, dict):
        raise ValueError("what its clips share is not described")
    _check_skeleton(common.get("skeleton"))
    n_joints = len(common["skeleton"]["names"])
    _check_roles(common.get("roles"), n_joints)
    _check_feet(common.get("feet"), n_joints)


def _check_skeleton(skeleton: object) -> None:
    if not isinstance(skeleton, dict):
        raise ValueError("its skeleton is not described")
    _require(_is_list(skeleton.get("names"), _is_text), "the names of its joints are no texts")
    for name in ("parents", "end_parents"):
        _require(_is_list(skeleton.get(name), _is_joint), f"{name!r} of its skeleton are no joints")
    for name, width in (("offsets", 3), ("end_offsets", 3), ("rest_quats", 4)):
        _require(
            _is_list(skeleton.get(name), partial(_is_vector, width=width)),
            f"{name!r} of its skeleton must be rows of {width} numbers up to {FARTHEST_M:g}",
        )


def _check_roles(roles: object, n_joints: int) -> None:
    if not isinstance(roles, dict) or not set(roles) <= set(ROLES):
        raise ValueError("the roles of its joints are not described")
    for role, joints in roles.items():
        several = joints if role == "spine" else [] if joints is None else [joints]
        _require(
            _is_list(several, partial(_is_joint, most=n_joints)) and -1 not in several,
            f"the role {role!r} must be played by one of {n_joints} joints",
        )


def _check_feet(feet: object, n_joints: int) -> None:
    if not isinstance(feet, list) or len(feet) != 2:
        raise ValueError("its feet are not described")
    names = {entry.name for entry in fields(FootOffsets)}
    for foot in feet:
        _require(isinstance(foot, dict) and set(foot) == names, "its feet are not described")
        joints = [foot["ankle"], *([] if foot["toe"] is None else [foot["toe"]])]
        _require(
            all(_is_joint(joint, n_joints) and joint >= 0 for joint in joints),
            f"its feet must hang on two of {n_joints} joints",
        )
        _require(
            all(_is_vector(foot[name], 3) for name in names - {"ankle", "toe"}),
            f"points of its feet must be three numbers up to {FARTHEST_M:g}",
        )


def _is_clip(clip: object) -> bool:
    if not isinstance(clip, list) or not 8 <= len(clip) <= 9:
        return False
    texts = [*clip[:4], clip[6]]
    jumps = clip[8] if len(clip) == 9 else []
    return (
        all(map(_is_text, texts))
        and _is_count(clip[4])
        and _is_count(clip[5])
        and _is_list(clip[7], _is_text)
        and _is_list(jumps, _is_count)
    )


def _is_file(file: object) -> bool:
    if not isinstance(file, list) or len(file) != 4:
        return False
    return all(map(_is_text, (file[0], file[1], file[3]))) and _is_list(file[2], _is_found)


def _is_found(entry: object) -> bool:
    if not isinstance(entry, list) or len(entry) != 5:
        return False
    clip, skeleton, frames, notes, error = entry
    return (
        all(map(_is_text, (clip, skeleton, error)))
        and _is_count(frames)
        and _is_list(notes, _is_text)
    )


def _require(fits: bool, why: str) -> None:
    if not fits:
        raise ValueError(why)


def _is_list(value: object, check: Check) -> bool:
    return isinstance(value, list) and all(map(check, value))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < MOST_ROWS


def _is_joint(value: object, most: int = MOST_ROWS) -> bool:
    return type(value) is int and -1 <= value < most


def _is_number(value: object, most: float = FARTHEST_M) -> bool:
    return (type(value) is int or type(value) is float) and -most <= value <= most


def _is_vector(value: object, width: int) -> bool:
    return isinstance(value, list) and len(value) == width and all(map(_is_number, value))
