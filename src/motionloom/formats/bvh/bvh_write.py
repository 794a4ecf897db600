"""Writing BVH: the channels and orders that the clip came with, or the customary ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.formats.bvh.bvh_angles import channel_rows, planned_channels
from motionloom.formats.bvh.bvh_nodes import CHANNEL_NAMES
from motionloom.formats.bvh.digits import rows_as_text
from motionloom.formats.file_clip import FileClip
from motionloom.formats.text import unique_names
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat

_UNSAFE = re.compile(r"[\s{}\x00-\x1f#/]+")
_SAME_RATE = 1e-12
_MOST_TABS = 60
"""Deeper joints are indented no further: a chain of thousands would make megabytes of tabs."""


def write(clip: FileClip, stream: BinaryIO) -> None:
    """Write ``clip`` as BVH, angles and positions with six decimals.

    A clip that was read from BVH is written with the same channels in the same order, plus those
    that it needs by now. BVH has no rest rotations: a skeleton that has some is written with its
    rest pose unrolled into offsets, and every joint stays where it is.
    """
    motion = _without_rest_rotations(clip.motion)
    skeleton = motion.skeleton
    detail = clip.detail if clip.detail.get("names") == skeleton.names else {}
    newline = str(detail.get("newline", "\n"))
    plan = planned_channels(motion, detail.get("channels"))
    joints, header = _hierarchy(skeleton, plan)
    header += ["MOTION", f"Frames: {motion.n_frames}"]
    header += [f"Frame Time: {_frame_time(motion.fps, str(detail.get('frame_time', '')))}", ""]
    stream.write(newline.join(header).encode("utf-8"))
    for rows in channel_rows(motion, joints, plan):
        stream.write(rows_as_text(rows, newline=newline))


def _hierarchy(skeleton: Skeleton, plan: Sequence[tuple[int, ...]]) -> tuple[list[int], list[str]]:
    """Joints in the order of the file, and its lines down to the last brace."""
    safe = [_UNSAFE.sub("_", name.strip()) for name in skeleton.names]
    names, _ = unique_names(safe)
    children: list[list[int]] = [[] for _ in names]
    for joint in range(1, skeleton.n_joints):
        children[skeleton.parents[joint]].append(joint)
    ends: list[list[FloatArray]] = [[] for _ in names]
    for joint, offset in zip(skeleton.end_parents, skeleton.end_offsets, strict=True):
        ends[joint].append(offset)

    joints: list[int] = []
    lines = ["HIERARCHY"]
    todo: list[tuple[int, int]] = [(0, 0)]  # joint and depth; a joint of -1 closes a block
    while todo:
        joint, depth = todo.pop()
        tabs = "\t" * min(depth, _MOST_TABS)
        if joint < 0:
            lines.append(f"{tabs}}}")
            continue
        joints.append(joint)
        kinds = plan[joint]
        channels = " ".join([str(len(kinds)), *(CHANNEL_NAMES[kind] for kind in kinds)])
        lines += [
            f"{tabs}{'JOINT' if depth else 'ROOT'} {names[joint]}",
            f"{tabs}{{",
            f"{tabs}\tOFFSET {_vector(skeleton.offsets[joint])}",
            f"{tabs}\tCHANNELS {channels}",
        ]
        for end in ends[joint]:
            lines += [f"{tabs}\tEnd Site", f"{tabs}\t{{", f"{tabs}\t\tOFFSET {_vector(end)}"]
            lines += [f"{tabs}\t}}"]
        todo.append((-1, depth))
        todo += [(child, depth + 1) for child in reversed(children[joint])]
    return joints, lines


def _vector(vector: FloatArray) -> str:
    return " ".join(f"{value:.9g}" for value in (vector + 0.0).tolist())


def _frame_time(fps: float, stated: str) -> str:
    """The stated text where it still is the rate, else seconds with all their digits."""
    try:
        if abs(float(stated) * fps - 1.0) <= _SAME_RATE:
            return stated
    except ValueError:
        pass
    return repr(1.0 / fps)


def _without_rest_rotations(motion: Motion) -> Motion:
    """The same world positions on a skeleton whose rest rotations are all the identity."""
    skeleton = motion.skeleton
    if np.abs(skeleton.rest_quats[:, 1:]).max() == 0.0:
        return motion
    rest = np.array(skeleton.rest_quats)  # becomes q_world_joint at rest
    for joint in range(1, skeleton.n_joints):
        rest[joint] = quat.multiply(rest[skeleton.parents[joint]], rest[joint])
    above = np.array(rest)
    above[0] = quat.IDENTITY
    above[1:] = rest[skeleton.parents[1:]]
    moving = motion.joint_translations
    return motion.replace(
        skeleton=Skeleton(
            skeleton.names,
            skeleton.parents,
            quat.rotate(above, skeleton.offsets),
            end_parents=skeleton.end_parents,
            end_offsets=quat.rotate(rest[skeleton.end_parents], skeleton.end_offsets),
        ),
        local_quats=quat.multiply(quat.multiply(above, motion.local_quats), quat.conjugate(rest)),
        joint_translations=None if moving is None else quat.rotate(above, moving),
    )
