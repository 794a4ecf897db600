"""Channel values of a motion: positions, and Euler angles without jumps, in degrees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.formats.bvh.bvh_header import N_POSITIONS, N_TURNS
from motionloom.formats.bvh.bvh_nodes import CHANNEL_NAMES
from motionloom.motion.motion import Motion
from motionloom.rotation import euler, quat

_angle_columns = kernel("ml_channel_angles")

_ROWS_AT_ONCE = 512
_SMALL_RAD = 1e-8
_SMALL_LENGTH = 1e-7
"""What an angle or a length without a channel may be before it is given one."""

_POSITIONS = (0, 1, 2)
_DEFAULT_ORDER = "ZXY"


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
    """Whether the joint turns in a way that these rotation channels cannot tell."""
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
