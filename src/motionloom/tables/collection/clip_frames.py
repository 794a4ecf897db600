"""ClipFrames: one clip seen from its body, as collections keep it; and the check of such rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray
from motionloom._elementary import cos, sin
from motionloom.body.body_map import BodyMap, roles_for
from motionloom.body.facing import facing_of_positions
from motionloom.body.feet import FootOffsets, foot_points
from motionloom.body.root_motion import heading_on_root
from motionloom.errors import SkeletonMismatchError
from motionloom.features.footplants.detect import detect_footplants
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.tables.collection.catalogue_check import FARTHEST_M

FloatArray32 = npt.NDArray[np.float32]


STEADY = 5
"""Headings are medians over this many frames: hips wobble, a body's heading does not."""


class ClipFrames(NamedTuple):
    """One clip seen from the body: what a collection keeps of it."""

    heading: FloatArray
    """Where the body faces, radians, unwrapped. (F,)"""
    ground: FloatArray
    """The root joint's (x, z) in the clip's own world, metres. (F, 2)"""
    quats: FloatArray32
    """Local rotations; the first joint's without the heading, which it carries also in rigs that
    hang the pelvis under a root bone. (F, J, 4)"""
    body: FloatArray32
    """Joint positions with the root over the origin and heading 0; heights are kept. (F, J, 3)"""
    points: FloatArray32
    """Left heel, left ball, right heel, right ball, seen likewise. (F, 4, 3)"""
    planted: BoolArray
    """Which of those points stand. (F, 4)"""


def clip_frames(
    motion: Motion,
    *,
    body: BodyMap | None = None,
    footplants: Footplants | None = None,
    feet: tuple[FootOffsets, FootOffsets] | None = None,
) -> ClipFrames:
    """One motion seen from its body, as collections keep it.

    Parameters
    ----------
    motion
        With rigid bones: a collection has one skeleton for all.
    body
        Roles of its joints; guessed by default.
    footplants
        Detected by default.
    feet
        From :func:`foot_offsets`, the same for all clips of a collection.
    """
    if motion.joint_translations is not None:
        raise SkeletonMismatchError(
            f"Clips of a collection must have rigid bones, but joints of {motion!r} slide. "
            "Retarget it first: Collection.ingest does."
        )
    body = roles_for(motion.skeleton, body)
    plants = detect_footplants(motion, body=body) if footplants is None else footplants
    positions, world = motion.world_pose()
    heading = _steady(facing_of_positions(positions, body))
    if body.pelvis:
        motion = heading_on_root(motion, heading, body=body)
        positions, world = motion.world_pose()
    ground = motion.root_positions[:, [0, 2]]
    feet_world = foot_points(motion, body=body, pose=(positions, world), feet=feet)
    back = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), -heading)
    quats = np.array(motion.local_quats)
    quats[:, 0] = quat.multiply(back, quats[:, 0])
    return ClipFrames(
        heading,
        np.ascontiguousarray(ground),
        quat.make_continuous(quats).astype(np.float32),
        seen_from(positions, heading, ground).astype(np.float32),
        seen_from(feet_world, heading, ground).astype(np.float32),
        np.array(plants.planted),
    )


def seen_from(points: FloatArray, heading: FloatArray, ground: FloatArray) -> FloatArray:
    """World points (F, P, 3) with ``ground`` moved to the origin and ``heading`` turned to 0."""
    x = points[..., 0] - ground[:, None, 0]
    z = points[..., 2] - ground[:, None, 1]
    c, s = cos(heading)[:, None], sin(heading)[:, None]
    return np.stack([c * x - s * z, points[..., 1], s * x + c * z], axis=-1)


def _steady(heading: FloatArray) -> FloatArray:
    """Running median of a heading, at its ends over fewer frames."""
    half = min(STEADY // 2, (len(heading) - 1) // 2)
    if half == 0:
        return heading
    padded = np.pad(heading, half, mode="edge")
    return np.asarray(
        np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1), axis=-1)
    )


BLOCK = 1 << 16
"""Values that are checked at a time: so many stay in the cache of a processor."""
SHORTEST, LONGEST = 0.5, 2.0
"""Length of a stored rotation, which is rounded to single precision: nearly 1."""


def fault_of_rows(name: str, rows: npt.NDArray[Any]) -> str:
    """What no motion can have among the rows of a column; empty where there is nothing.

    Parameters
    ----------
    name
        Of the column.
    rows
        All of its values.
    """
    if name == "planted":
        is_flag = not rows.size or int(rows.view(np.uint8).max()) <= 1
        return "" if is_flag else "flags that are neither true nor false"
    if name == "quats":
        return "" if _are_rotations(rows.reshape(-1, 4)) else "rotations that have no unit length"
    if _are_bounded(rows.reshape(-1)):
        return ""
    return f"values that are no numbers, or beyond {FARTHEST_M:g}"


def _are_bounded(values: npt.NDArray[Any]) -> bool:
    # Comparisons with what is no number are false.
    return all(
        values[k : k + BLOCK].min() >= -FARTHEST_M and values[k : k + BLOCK].max() <= FARTHEST_M
        for k in range(0, len(values), BLOCK)
    )


def _are_rotations(quats: npt.NDArray[Any]) -> bool:
    for first in range(0, len(quats), BLOCK):
        part = quats[first : first + BLOCK]
        squares = np.einsum("ij,ij->i", part, part)
        if not (squares.min() >= SHORTEST**2 and squares.max() <= LONGEST**2):
            return False
    return True
