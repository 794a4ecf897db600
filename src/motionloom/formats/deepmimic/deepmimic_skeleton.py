"""The characters that DeepMimic motions use: the published humanoid, or a file's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from motionloom.errors import ArrayError, FormatError
from motionloom.files.limits import Budget, Limits
from motionloom.files.reading import parse_json, read_file
from motionloom.formats.text import LARGEST, quoted, refuse_wide_text
from motionloom.motion.motion import MAX_JOINTS, Skeleton
from motionloom.rotation import euler

_LARGEST_FILE = 1 << 24
_SIZES = {"revolute": 1, "spherical": 4, "fixed": 0}


@dataclass(frozen=True, slots=True, eq=False)
class Character:
    """A skeleton, and how many values of a row each joint takes."""

    skeleton: Skeleton
    sizes: tuple[int, ...]
    """Four for a quaternion, one for a hinge about z, none for a joint that is fixed."""

    @property
    def width(self) -> int:
        """Values per row: the duration and the root's position come first."""
        return 4 + sum(self.sizes)

    @staticmethod
    def from_file(path: Path, max_joints: int, budget: Budget | None = None) -> Character:
        """The character in a DeepMimic character file."""
        budget = budget or Budget(Limits(), 0)
        try:
            data = read_file(path, _LARGEST_FILE)
            budget.add_file(len(data))
            refuse_wide_text(data)
            document = parse_json(data, budget, where=path.name)
            joints = document["Skeleton"]["Joints"]
            return _character(joints, document.get("BodyDefs"), min(max_joints, MAX_JOINTS))
        except (ArrayError, FormatError) as error:
            problem = str(error)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            problem = f"{type(error).__name__} {quoted(str(error))}"
        raise FormatError(
            f"The skeleton {path.name} must be a DeepMimic character file ({problem})."
        )


def skeletons_nearby(path: Path | None, max_joints: int, budget: Budget) -> list[Character]:
    """Characters in the ``*.skeleton.json`` files in the folder of a motion."""
    if path is None:
        return []
    try:
        files = sorted(path.parent.glob("*.skeleton.json"))
    except OSError:
        return []
    return [Character.from_file(file, max_joints, budget) for file in files]


def _character(joints: Any, bodies: Any, max_joints: int) -> Character:
    if not isinstance(joints, list) or not 0 < len(joints) <= max_joints:
        raise FormatError(f"There must be 1 to {max_joints} joints.")
    names, parents, offsets, turns, sizes = [], [], [], [], []
    for index, joint in enumerate(joints):
        kind = str(joint["Type"]).lower()
        if index > 0 and kind not in _SIZES:
            raise FormatError(f"Joint {index} is {quoted(kind)}, which is not known.")
        names.append(str(joint["Name"]))
        parents.append(int(joint["Parent"]))
        offsets.append([float(joint[f"Attach{axis}"]) for axis in "XYZ"])
        turns.append([float(joint.get(f"AttachTheta{axis}", 0.0)) for axis in "XYZ"])
        sizes.append(_SIZES[kind] if index else 4)
    if not (np.abs([*turns, *offsets]) <= LARGEST).all():
        raise FormatError(f"Lengths and angles must be finite and at most {LARGEST:g}.")
    # x first, then y, then z, about fixed axes.
    rest = euler.euler_to_quat(np.array(turns)[:, ::-1], "ZYX")
    tips = _tips(names, parents, bodies)
    skeleton = Skeleton(
        tuple(names),
        np.array(parents),
        np.array(offsets),
        rest,
        np.array([joint for joint, _ in tips], dtype=np.int64),
        np.array([tip for _, tip in tips], dtype=np.float64).reshape(-1, 3),
    )
    return Character(skeleton, tuple(sizes))


def _tips(
    names: list[str], parents: list[int], bodies: Any
) -> list[tuple[int, tuple[float, float, float]]]:
    """End sites from the shapes that leaf joints carry: tips of the feet, crown of the head."""
    tips = []
    for body in bodies if isinstance(bodies, list) else []:
        if body.get("Name") not in names:
            continue
        joint = names.index(body["Name"])
        if joint in parents:
            continue
        x, y, z = (float(body[f"Attach{axis}"]) for axis in "XYZ")
        size_x, size_y = float(body["Param0"]), float(body["Param1"])
        if body["Shape"] == "box":  # a foot: its sole's front edge
            tips.append((joint, (x + 0.5 * size_x, y - 0.5 * size_y, z)))
        elif body["Shape"] == "sphere" and y > 0.0:  # the head
            tips.append((joint, (x, y + 0.5 * size_y, z)))
    return tips


def _humanoid() -> Character:
    """DeepMimic's humanoid3d, by its published proportions."""
    hip, thigh, shank = 0.084887, -0.421546, -0.40987
    shoulder, upper_arm, forearm = (-0.02405, 0.2435, 0.18311), -0.274788, -0.258947
    toe, crown = (0.1335, -0.05, 0.0), (0.0, 0.2775, 0.0)
    joints: list[tuple[str, int, tuple[float, float, float], int]] = [
        ("root", -1, (0.0, 0.0, 0.0), 4),
        ("chest", 0, (0.0, 0.236151, 0.0), 4),
        ("neck", 1, (0.0, 0.223894, 0.0), 4),
    ]
    for side, sign in (("right", 1.0), ("left", -1.0)):
        first = len(joints)
        joints += [
            (f"{side}_hip", 0, (0.0, 0.0, sign * hip), 4),
            (f"{side}_knee", first, (0.0, thigh, 0.0), 1),
            (f"{side}_ankle", first + 1, (0.0, shank, 0.0), 4),
            (f"{side}_shoulder", 1, (shoulder[0], shoulder[1], sign * shoulder[2]), 4),
            (f"{side}_elbow", first + 3, (0.0, upper_arm, 0.0), 1),
            (f"{side}_wrist", first + 4, (0.0, forearm, 0.0), 0),
        ]
    names = tuple(name for name, *_ in joints)
    skeleton = Skeleton(
        names,
        np.array([parent for _, parent, *_ in joints]),
        np.array([offset for *_, offset, _ in joints]),
        end_parents=np.array([names.index(n) for n in ("neck", "right_ankle", "left_ankle")]),
        end_offsets=np.array([crown, toe, toe]),
    )
    return Character(skeleton, tuple(size for *_, size in joints))


HUMANOID = _humanoid()
