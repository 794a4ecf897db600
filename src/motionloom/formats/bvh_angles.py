"""Channel values of a motion: positions, and Euler angles without jumps, in degrees."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.formats.bvh_header import CHANNEL_NAMES, N_POSITIONS, N_TURNS
from motionloom.motion.motion import Motion
from motionloom.rotation import euler, quat

__all__ = ["channel_rows", "planned_channels"]

_ROWS_AT_ONCE = 1024
_LOCK = 1e-7
_UNWRITTEN_WEIGHT = 10.0
_SMALL_RAD = 1e-8
_SMALL_LENGTH = 1e-7
"""What an angle or a length without a channel of its own may be before it is given one."""

_POSITIONS = (0, 1, 2)
_DEFAULT_ORDER = "ZXY"


@njit(cache=True, inline="always")
def _nearest(angle: float, to: float) -> float:
    """``angle`` plus the whole turns that bring it nearest ``to``."""
    turns: float = np.rint((to - angle) / math.tau)
    return angle + math.tau * turns


@njit(cache=True, error_model="numpy", boundscheck=False)
def _angle_columns(
    quats: FloatArray,
    joint: int,
    axes: IntArray,
    columns: IntArray,
    last: FloatArray,
    out: FloatArray,
) -> None:
    """Euler angles of one joint: of the two solutions, the one nearer to the frame before.

    A negative column is an angle that is not written; the solution that has it near zero is taken.
    """
    degrees = 180.0 / math.pi
    k, j, i = axes[0], axes[1], axes[2]
    proper = i == k
    if proper:
        k = 3 - i - j
    sign = 1.0 if (i - j) * (j - k) * (k - i) > 0 else -1.0
    turn = 1.0 if proper else sign
    weight2 = _UNWRITTEN_WEIGHT if columns[1] < 0 else 1.0
    weight3 = _UNWRITTEN_WEIGHT if columns[2] < 0 else 1.0
    a1, a2, a3 = last[0], last[1], last[2]
    for f in range(quats.shape[0]):
        # As in rotation.euler.quat_to_euler, with the choice between both solutions left open.
        w, vi = quats[f, joint, 0], quats[f, joint, 1 + i]
        vj, vk = quats[f, joint, 1 + j], sign * quats[f, joint, 1 + k]
        if proper:
            a, b, c, d = w, vi, vj, vk
        else:
            a, b, c, d = w - vj, vi + vk, vj + w, vk - vi
        middle = 2.0 * math.atan2(math.sqrt(c * c + d * d), math.sqrt(a * a + b * b))
        if middle < _LOCK:
            # In gimbal lock only a sum is known: the third angle stays where it was.
            first, third = 2.0 * math.atan2(b, a) - a3, a3
        elif middle > math.pi - _LOCK:
            first, third = 2.0 * math.atan2(d, c) + a3, a3
        else:
            half_sum, half_difference = math.atan2(b, a), math.atan2(d, c)
            first, third = half_sum + half_difference, half_sum - half_difference
        first *= turn
        if proper:
            other = -middle
        else:
            middle -= 0.5 * math.pi
            other = math.pi - middle
        x1, y1 = _nearest(first, a1), _nearest(first + math.pi, a1)
        x2, y2 = _nearest(middle, a2), _nearest(other, a2)
        x3, y3 = _nearest(third, a3), _nearest(third + math.pi, a3)
        here = abs(x1 - a1) + weight2 * abs(x2 - a2) + weight3 * abs(x3 - a3)
        there = abs(y1 - a1) + weight2 * abs(y2 - a2) + weight3 * abs(y3 - a3)
        if here <= there:
            a1, a2, a3 = x1, x2, x3
        else:
            a1, a2, a3 = y1, y2, y3
        out[f, columns[0]] = a1 * degrees
        if columns[1] >= 0:
            out[f, columns[1]] = a2 * degrees
        if columns[2] >= 0:
            out[f, columns[2]] = a3 * degrees
    last[0], last[1], last[2] = a1, a2, a3


@dataclass(frozen=True, slots=True)
class _Turn:
    """Where the angles of one joint go."""

    joint: int
    axes: IntArray
    columns: IntArray
    """Columns of the angles, -1 for those that are not written. Shape (3,)."""
    last: FloatArray
    """Angles of the frame before, radians; kept from block to block. Shape (3,)."""


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
    return plan


def channel_rows(
    motion: Motion, joints: Sequence[int], plan: Sequence[tuple[int, ...]]
) -> Iterator[FloatArray]:
    """Blocks of rows of channel values, joints in the order given."""
    columns = [(joint, kind) for joint in joints for kind in plan[joint]]
    places = [(i, joint, kind) for i, (joint, kind) in enumerate(columns) if kind < N_POSITIONS]
    turns = []
    at = 0
    for joint in joints:
        own = [at + i for i, kind in enumerate(plan[joint]) if kind >= N_POSITIONS]
        at += len(plan[joint])
        if own:
            order = _full_order(_letters(plan[joint])) or ""
            turns.append(
                _Turn(
                    joint,
                    np.array(euler.axes_of(order), dtype=np.int64),
                    np.array([*own, -1, -1][:3], dtype=np.int64),
                    np.zeros(3),
                )
            )
    for start in range(0, motion.n_frames, _ROWS_AT_ONCE):
        frames = slice(start, min(start + _ROWS_AT_ONCE, motion.n_frames))
        rows = np.zeros((frames.stop - frames.start, len(columns)))
        for column, joint, kind in places:
            rows[:, column] = _placement(motion, joint, frames)[..., kind]
        for turn in turns:
            _angle_columns(
                motion.local_quats[frames], turn.joint, turn.axes, turn.columns, turn.last, rows
            )
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
    columns = np.arange(3)
    columns[len(letters) :] = -1
    _angle_columns(
        motion.local_quats,
        joint,
        np.array(euler.axes_of(order), dtype=np.int64),
        columns,
        np.zeros(3),
        angles,
    )
    told = euler.euler_to_quat(np.radians(angles), order)
    return bool(quat.angle_between(told, motion.local_quats[:, joint]).max() > _SMALL_RAD)


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
