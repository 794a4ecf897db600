"""The animation of an FBX file: one stack, one layer, a linear key for every frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.formats.fbx.fbx_encode import Item, Long, property_of
from motionloom.formats.fbx.fbx_items import Scene
from motionloom.formats.fbx.fbx_settings import TICKS
from motionloom.motion.motion import Motion

LINEAR_KEY = 0x6104
"""Linear; should a tool make it cubic, its tangents are automatic."""
KEY_DATA = np.array([0.0, 0.0, 0.0, 0.0], dtype="<f4")
KEY_VERSION = 4008
ANGLE_STEPS = 2.0**16
"""Parts of a degree: float32 holds every multiple up to 256 degrees, so files settle at once."""
_PLAIN_WEIGHTS = 3333 | 3333 << 16

_angle_columns = kernel("ml_channel_angles")


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Lengths in the unit of the file."""

    origin: FloatArray
    """What a node above the root takes off its keys. Shape (3,)."""
    slide: float
    """How far a joint must move from its rest place to be keyed."""


def key_ticks(motion: Motion) -> npt.NDArray[np.int64]:
    """The time of every frame. Shape (F,)."""
    ticks = np.rint(np.arange(motion.n_frames) * (TICKS / motion.fps))
    return np.asarray(ticks.astype("<i8"))


def animation_items(
    scene: Scene, motion: Motion, joints: list[int], name: str, reach: Reach
) -> None:
    """Add the keys of the motion."""
    ticks = key_ticks(motion)
    ends = [
        property_of(f"{kind}{end}", "KTime", "Time", "", Long(value))
        for kind in ("Local", "Reference")
        for end, value in (("Start", 0), ("Stop", int(ticks[-1])))
    ]
    stack = scene.add("AnimationStack", name, "", [Item("Properties70", (), ends)])
    weight = property_of("Weight", "Number", "", "A", 100.0)
    layer = scene.add("AnimationLayer", "BaseLayer", "", [Item("Properties70", (), [weight])])
    scene.link(layer, stack)
    _curves(scene, (layer, joints[0]), "T", motion.root_positions - reach.origin, ticks)
    angles = key_angles(motion)
    sliding = set(sliding_joints(motion, reach.slide))
    for j in range(motion.skeleton.n_joints):
        _curves(scene, (layer, joints[j]), "R", angles[:, j], ticks)
        if j in sliding and motion.joint_translations is not None:
            _curves(scene, (layer, joints[j]), "T", motion.joint_translations[:, j], ticks)


def sliding_joints(motion: Motion, slide: float) -> list[int]:
    """Joints below the root that move from their rest place by more than ``slide``."""
    moving = motion.joint_translations
    if moving is None:
        return []
    away = np.abs(moving.astype("<f4") - motion.skeleton.offsets).max(axis=(0, 2))
    return [j for j in range(1, motion.skeleton.n_joints) if away[j] > slide]


def key_angles(motion: Motion) -> FloatArray:
    """Euler angles of all joints without jumps, degrees, columns x, y, z. Shape (F, J, 3)."""
    n_frames, n_joints = motion.local_quats.shape[:2]
    rows = np.zeros((n_frames, 3 * n_joints))
    joints = np.arange(n_joints, dtype=np.int64)
    axes = np.tile(np.array([2, 1, 0], dtype=np.int64), (n_joints, 1))
    # The kernel gives angles in the order z, y, x of the turns; each goes to its own column.
    columns = 3 * joints[:, None] + np.array([2, 1, 0], dtype=np.int64)
    quats = np.ascontiguousarray(motion.local_quats)
    _angle_columns(
        n_frames, n_joints, quats, n_joints,
        joints, axes, columns, np.zeros((n_joints, 3)), 3 * n_joints, rows,
    )  # fmt: skip
    return np.round(rows * ANGLE_STEPS).reshape(n_frames, n_joints, 3) / ANGLE_STEPS


def _curves(
    scene: Scene,
    target: tuple[int, int],
    kind: str,
    values: FloatArray,
    ticks: npt.NDArray[np.int64],
) -> None:
    """Add the three curves of a translation or rotation; ``target`` is the layer and the model."""
    layer, model = target
    path = {"T": "Lcl Translation", "R": "Lcl Rotation"}[kind]
    keys = values.astype("<f4") + np.float32(0.0)
    first = [
        property_of(f"d|{axis}", "Number", "", "A", float(keys[0, column]))
        for column, axis in enumerate("XYZ")
    ]
    node = scene.add("AnimationCurveNode", kind, "", [Item("Properties70", (), first)])
    scene.link(node, layer)
    scene.link(node, model, path)
    data = KEY_DATA.copy()
    data.view("<i4")[2] = _PLAIN_WEIGHTS
    for column, axis in enumerate("XYZ"):
        curve = scene.add(
            "AnimationCurve",
            "",
            "",
            [
                Item("Default", (float(keys[0, column]),)),
                Item("KeyVer", (KEY_VERSION,)),
                Item("KeyTime", (ticks,)),
                Item("KeyValueFloat", (keys[:, column],)),
                Item("KeyAttrFlags", (np.array([LINEAR_KEY], "<i4"),)),
                Item("KeyAttrDataFloat", (data,)),
                Item("KeyAttrRefCount", (np.array([len(ticks)], "<i4"),)),
            ],
        )
        scene.link(curve, node, f"d|{axis}")
