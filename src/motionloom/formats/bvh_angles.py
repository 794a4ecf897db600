"""Channel values of a motion: positions, and Euler angles without jumps, in degrees."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.formats.bvh_header import CHANNEL_NAMES, N_POSITIONS, N_TURNS
from motionloom.formats.degrees import angle_of
from motionloom.motion.motion import Motion
from motionloom.rotation import euler, quat

__all__ = ["channel_rows", "planned_channels"]

_ROWS_AT_ONCE = 512
_LOCK = 1e-7
_DEGREES = 180.0 / math.pi
_UNWRITTEN_WEIGHT = 10.0
_SMALL_RAD = 1e-8
_SMALL_LENGTH = 1e-7
"""What an angle or a length without a channel of its own may be before it is given one."""

_POSITIONS = (0, 1, 2)
_DEFAULT_ORDER = "ZXY"


@njit(cache=True, inline="always")
def _nearest(angle: float, to: float) -> float:
    """``angle`` plus the whole turns that bring it nearest ``to``."""
    if abs(to - angle) <= math.pi:
        return angle
    turns: float = np.floor((to - angle) * (1.0 / math.tau) + 0.5)
    return angle + math.tau * turns


@njit(cache=True, inline="always")
def _sign(i: int, j: int, k: int) -> float:
    """Whether three different axes are in cyclic order: 1 or -1."""
    return 1.0 if (i - j) * (j - k) * (k - i) > 0 else -1.0


@njit(cache=True, error_model="numpy", boundscheck=False, inline="always")
def _choose(
    first: float, middle: float, other: float, third: float, columns: IntArray, last: FloatArray
) -> None:
    """Put into ``last`` the one of its two successors that is nearer."""
    weight2 = _UNWRITTEN_WEIGHT if columns[1] < 0 else 1.0
    weight3 = _UNWRITTEN_WEIGHT if columns[2] < 0 else 1.0
    x1, x2, x3 = _nearest(first, last[0]), _nearest(middle, last[1]), _nearest(third, last[2])
    step1, step3 = abs(x1 - last[0]), abs(x3 - last[2])
    here = step1 + weight2 * abs(x2 - last[1]) + weight3 * step3
    # The other solution turns the first and the third angle by half a turn, so it is no nearer
    # than this; mostly that settles it.
    if here > math.tau - step1 - step3:
        y1, y3 = _nearest(first + math.pi, last[0]), _nearest(third + math.pi, last[2])
        y2 = _nearest(other, last[1])
        there = abs(y1 - last[0]) + weight2 * abs(y2 - last[1]) + weight3 * abs(y3 - last[2])
        if there < here:
            x1, x2, x3 = y1, y2, y3
    last[0], last[1], last[2] = x1, x2, x3


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract"})
def _angle_columns(
    quats: FloatArray,
    joints: IntArray,
    axes: IntArray,
    columns: IntArray,
    last: FloatArray,
    out: FloatArray,
) -> None:
    """Euler angles in degrees: of the two solutions, the one nearer to the frame before.

    A negative column is an angle that is not written; the solution that has it near zero is taken.
    """
    n_turning = joints.shape[0]
    above, along = np.zeros((3, n_turning)), np.zeros((3, n_turning))
    angles = np.zeros((3, n_turning))
    for f in range(quats.shape[0]):
        # As in rotation.euler.quat_to_euler, with the choice between both solutions left open.
        for t in range(n_turning):
            joint, k, j, i = joints[t], axes[t, 0], axes[t, 1], axes[t, 2]
            w, vi, vj = quats[f, joint, 0], quats[f, joint, 1 + i], quats[f, joint, 1 + j]
            if i == k:
                vk = _sign(i, j, 3 - i - j) * quats[f, joint, 4 - i - j]
                a, b, c, d = w, vi, vj, vk
            else:
                vk = _sign(i, j, k) * quats[f, joint, 1 + k]
                a, b, c, d = w - vj, vi + vk, vj + w, vk - vi
            above[0, t], along[0, t] = b, a
            above[1, t], along[1, t] = d, c
            above[2, t], along[2, t] = math.sqrt(c * c + d * d), math.sqrt(a * a + b * b)
        for row in range(3):
            for t in range(n_turning):  # a loop of its own, so that it is vectorised
                angles[row, t] = angle_of(above[row, t], along[row, t])
        for t in range(n_turning):
            half_sum, half_difference, middle = angles[0, t], angles[1, t], 2.0 * angles[2, t]
            first, third = half_sum + half_difference, half_sum - half_difference
            # In gimbal lock only a sum is known: the third angle stays where it was.
            if middle < _LOCK:
                first, third = 2.0 * half_sum - last[t, 2], last[t, 2]
            elif middle > math.pi - _LOCK:
                first, third = 2.0 * half_difference + last[t, 2], last[t, 2]
            if axes[t, 0] == axes[t, 2]:
                other = -middle
            else:
                first *= _sign(axes[t, 2], axes[t, 1], axes[t, 0])
                middle -= 0.5 * math.pi
                other = math.pi - middle
            _choose(first, middle, other, third, columns[t], last[t])
            for c in range(3):
                if columns[t, c] >= 0:
                    out[f, columns[t, c]] = last[t, c] * _DEGREES


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
            _angle_columns(
                motion.local_quats[frames],
                turning_joints,
                turning_axes,
                turning_columns,
                last,
                rows,
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
        np.array([joint]),
        np.array([euler.axes_of(order)]),
        columns[None],
        np.zeros((1, 3)),
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
