"""Write BVH: with the channels and orders that the clip came with, or the customary ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.formats.bvh.bvh_header import CHANNEL_NAMES, N_POSITIONS, N_TURNS
from motionloom.formats.decimal_text import rows_as_text
from motionloom.formats.file_clip import FileClip
from motionloom.formats.text import unique_names
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import euler, quat

_UNSAFE = re.compile(r"[\s{}\x00-\x1f#/]+")
_SAME_RATE = 1e-12
_MOST_TABS = 60
"""Deeper joints are indented no further: a chain of thousands would make megabytes of tabs."""
_angle_columns = kernel("ml_channel_angles")
_ROWS_AT_ONCE = 512
_SMALL_RAD = 1e-8
_SMALL_LENGTH = 1e-7
"""Largest angle or length that may stay without a channel."""
_POSITIONS = (0, 1, 2)
_DEFAULT_ORDER = "ZXY"


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


def planned_channels(
    motion: Motion, stated: Sequence[Sequence[str]] | None
) -> list[tuple[int, ...]]:
    """Kinds of channels for every joint: those stated, and more where the motion needs them."""
    kinds = {name: kind for kind, name in enumerate(CHANNEL_NAMES)}
    plan = []
    for joint in range(motion.skeleton.n_joints):
        wanted = () if stated is None else tuple(kinds[name] for name in stated[joint])
        positions = tuple(kind for kind in wanted if kind < N_POSITIONS)
        turns = tuple(kind for kind in wanted if N_POSITIONS <= kind < N_TURNS)
        if stated is None:
            positions, turns = _POSITIONS if joint == 0 else (), _kinds_of(_DEFAULT_ORDER)
        if _moves_beyond(motion, joint, positions):
            positions = _POSITIONS
        if _turns_beyond(motion, joint, turns):
            turns = _kinds_of(_full_order(_letters(turns)) or _DEFAULT_ORDER)
        first_turn = bool(wanted) and wanted[0] >= N_POSITIONS
        plan.append((*turns, *positions) if first_turn else (*positions, *turns))
        if sorted(wanted) == sorted(plan[-1]):
            plan[-1] = wanted
        elif len(plan[-1]) > len(CHANNEL_NAMES):  # a file that states one axis several times
            plan[-1] = (*_POSITIONS, *_kinds_of(_DEFAULT_ORDER))
    if not any(plan):  # of several figures in a file one may stand still, but a row needs a value
        plan[0] = (*_POSITIONS, *_kinds_of(_DEFAULT_ORDER))
    return plan


def channel_rows(
    motion: Motion, joints: Sequence[int], plan: Sequence[tuple[int, ...]]
) -> Iterator[FloatArray]:
    """Blocks of rows of channel values, joints in the order given."""
    columns = [(joint, kind) for joint in joints for kind in plan[joint]]
    places = [(i, joint, kind) for i, (joint, kind) in enumerate(columns) if kind < N_POSITIONS]
    turning, axes, angle_columns = [], [], []
    at = 0
    for joint in joints:
        own = [at + i for i, kind in enumerate(plan[joint]) if kind >= N_POSITIONS]
        at += len(plan[joint])
        if own:
            turning.append(joint)
            axes.append(euler.axes_of(_full_order(_letters(plan[joint])) or ""))
            angle_columns.append([*own, -1, -1][:3])
    turning_joints = np.array(turning, dtype=np.int64)
    turning_axes = np.array(axes, dtype=np.int64)
    turning_columns = np.array(angle_columns, dtype=np.int64)
    last = np.zeros((len(turning), 3))
    for start in range(0, motion.n_frames, _ROWS_AT_ONCE):
        frames = slice(start, min(start + _ROWS_AT_ONCE, motion.n_frames))
        rows = np.zeros((frames.stop - frames.start, len(columns)))
        for column, joint, kind in places:
            rows[:, column] = _placement(motion, joint, frames)[..., kind]
        if turning:
            quats = np.ascontiguousarray(motion.local_quats[frames])
            _angle_columns(
                len(quats), quats.shape[1], quats, len(turning),
                turning_joints, turning_axes, turning_columns, last, len(columns), rows,
            )  # fmt: skip
        yield rows


def _placement(motion: Motion, joint: int, frames: slice) -> FloatArray:
    """Where a joint stands: in the world for the root, else in its parent."""
    if joint == 0:
        return motion.root_positions[frames]
    moving = motion.joint_translations
    place: FloatArray = motion.skeleton.offsets[joint] if moving is None else moving[frames, joint]
    return place


def _moves_beyond(motion: Motion, joint: int, positions: tuple[int, ...]) -> bool:
    """Whether the joint leaves its offset along an axis that has no channel."""
    without = [axis for axis in _POSITIONS if axis not in positions]
    if not without or (joint > 0 and motion.joint_translations is None):
        return False
    away = _placement(motion, joint, slice(None)) - motion.skeleton.offsets[joint]
    return bool(np.abs(away[..., without]).max() > _SMALL_LENGTH)


def _turns_beyond(motion: Motion, joint: int, turns: tuple[int, ...]) -> bool:
    """Whether the joint turns about an axis for which it has no rotation channel."""
    letters = _letters(turns)
    order = _full_order(letters)
    if order is None:
        still = not letters and np.abs(motion.local_quats[:, joint, 1:]).max() <= _SMALL_RAD
        return not still
    if len(letters) == 3:
        return False
    angles = np.zeros((motion.n_frames, 3))
    columns = np.arange(3, dtype=np.int64)
    columns[len(letters) :] = -1
    quats = np.ascontiguousarray(motion.local_quats)
    axes = np.array(euler.axes_of(order), dtype=np.int64)
    _angle_columns(
        len(quats), quats.shape[1], quats, 1,
        np.array([joint], dtype=np.int64), axes, columns, np.zeros(3), 3, angles,
    )  # fmt: skip
    exact = euler.euler_to_quat(np.radians(angles), order)
    return bool(quat.angle_between(exact, motion.local_quats[:, joint]).max() > _SMALL_RAD)


def _letters(kinds: Sequence[int]) -> str:
    return "".join("XYZ"[kind - N_POSITIONS] for kind in kinds if N_POSITIONS <= kind < N_TURNS)


def _kinds_of(order: str) -> tuple[int, ...]:
    return tuple(N_POSITIONS + axis for axis in euler.axes_of(order))


def _full_order(letters: str) -> str | None:
    """An order of three letters that begins with ``letters``, or None where there is none."""
    if not letters:
        return None
    for rest in ("", "X", "Y", "Z", "XY", "YX", "XZ", "ZX", "YZ", "ZY"):
        order = letters + rest
        distinct = len(set(order)) == 3 or (len(letters) == 3 and letters[0] == letters[2])
        if len(order) == 3 and distinct and order[0] != order[1] != order[2]:
            return order
    return None
