"""Feet of a blend: where they go, which plants are kept, and how far they miss them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from motionloom.transitions.collecting.frames import FloatArray32
from motionloom.transitions.compiled import inner
from motionloom.transitions.scoring.columns import INCH
from motionloom.transitions.scoring.window_terms import (
    FEET,
    HEADING,
    LIFT,
    STANDS,
    STEP,
    TRAVEL,
    TURN_M,
    IntArray32,
    TermArrays,
)

if TYPE_CHECKING:
    from motionloom.transitions.scoring.kernel import Judge, Scratch

__all__ = ["judge_plants", "judge_steps"]

FAST = {"contract", "reassoc", "nsz", "arcp", "nnan"}
"""Sums may be reordered, so that they become vector instructions. Terms are finite."""
IN_ORDER = FAST - {"reassoc"}
"""Sums in the order they are written in. With any other the process that compiles a kernel and
those that load it rounded differently, and tables came out of them with other bytes."""

# Rows of ``scratch.path``: turn and place of the body, balls of both feet, and their speeds.
COS, SIN, X, Z, BALLS, SPEED = 0, 1, 2, 3, 4, 24


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def judge_steps(
    arrays: TermArrays, judge: Judge, scratch: Scratch, ids: IntArray32, n: int, out: FloatArray32
) -> None:
    """The columns that feet have without their plants, from the blended rows in ``scratch``."""
    pad, length = judge.pad, judge.length
    path, f = scratch.path, scratch.rows
    _walk(f, path)
    out[7] = _root_spread(f, pad, length, judge.fps)
    low_slid, doubt = np.float32(0.0), np.float32(0.0)
    apart, low_steps = 0, 0
    for s in range(2):
        _foot_path(f, path, s)
        fx, fz = path[BALLS + 2 * s, pad:], path[BALLS + 2 * s + 1, pad:]
        speed = path[SPEED + s]
        for t in range(length - 1):
            dx, dz = fx[t + 1] - fx[t], fz[t + 1] - fz[t]
            speed[t + 1] = np.sqrt(dx * dx + dz * dz)
        stands = f[STANDS + s, pad : pad + length]
        lift = f[LIFT + s, pad : pad + length]
        for t in range(length):
            doubt += stands[t] * (np.float32(1.0) - stands[t])
        low = np.float32(0.0)
        for t in range(1, length):
            share = np.float32(1.0) if lift[t] < judge.low else np.float32(0.0)
            low_slid += share * speed[t]
            low += share
        low_steps += int(low)
        apart += _differ(arrays, ids, n, pad, length, s)
    out[4] = low_slid * judge.fps / np.float32(max(low_steps, 1))
    out[5] = apart
    out[6] = np.float32(4.0) * doubt


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def judge_plants(
    arrays: TermArrays, judge: Judge, scratch: Scratch, ids: IntArray32, n: int, out: FloatArray32
) -> None:
    """The columns of plants, after :func:`judge_steps`; which are kept is left in ``scratch``."""
    total, worst, slid = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    planted, steps = 0, 0
    for s in range(2):
        speed = scratch.path[SPEED + s]
        count = _candidates(arrays, judge.pad, scratch, ids, n, s)
        _choose(scratch, s, count)
        for k in range(count):
            if scratch.spans[k, 2] == 1:
                a, b = scratch.spans[k, 0], scratch.spans[k, 1]
                error = scratch.plants[k, 0]
                total += error * np.float32(b - a + 1)
                planted += b - a + 1
                worst = max(worst, error)
                for t in range(np.uint64(a + 1), np.uint64(b + 1)):
                    slid += speed[t]
                steps += b - a
    out[0] = total / np.float32(max(planted, 1) * INCH)
    out[1] = worst / np.float32(INCH)
    out[2] = planted
    out[3] = slid * judge.fps / np.float32(max(steps, 1))


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def _walk(f: FloatArray32, path: FloatArray32) -> None:
    """Turn and place of the body in every padded frame, from its blended steps."""
    cos, sin, px, pz = path[COS], path[SIN], path[X], path[Z]
    turn, dx, dz = f[HEADING], f[STEP], f[STEP + 1]
    c, s, x, z = np.float32(1.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    cos[0], sin[0], px[0], pz[0] = c, s, x, z
    for t in range(1, f.shape[1]):
        x += c * dx[t] + s * dz[t]
        z += c * dz[t] - s * dx[t]
        px[t], pz[t] = x, z
        # A body turns by less than 0.3 rad in a frame: the next terms are below single precision.
        d = turn[t]
        d2 = d * d
        cd = np.float32(1.0) - d2 * (
            np.float32(1 / 2) - d2 * (np.float32(1 / 24) - d2 * np.float32(1 / 720))
        )
        sd = d * (np.float32(1.0) - d2 * (np.float32(1 / 6) - d2 * np.float32(1 / 120)))
        c, s = c * cd - s * sd, s * cd + c * sd
        cos[t], sin[t] = c, s


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def _root_spread(f: FloatArray32, pad: int, length: int, fps: np.float32) -> np.float32:
    """How much the windows' roots differ in velocity, m/s."""
    turn, energy = f[HEADING, pad : pad + length], f[TRAVEL, pad : pad + length]
    dx, dz = f[STEP, pad : pad + length], f[STEP + 1, pad : pad + length]
    had, kept = np.float32(0.0), np.float32(0.0)
    for t in range(length):
        arc = np.float32(TURN_M) * turn[t]
        had += energy[t]
        kept += arc * arc + dx[t] * dx[t] + dz[t] * dz[t]
    left = max(np.float32(0.0), (had - kept * fps * fps) / np.float32(length))
    spread: np.float32 = np.sqrt(left)
    return spread


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def _foot_path(f: FloatArray32, path: FloatArray32, s: int) -> None:
    """Ball of one foot over the ground in every padded frame."""
    cos, sin, px, pz = path[COS], path[SIN], path[X], path[Z]
    x, z = f[FEET + 2 * s], f[FEET + 2 * s + 1]
    fx, fz = path[BALLS + 2 * s], path[BALLS + 2 * s + 1]
    for t in range(f.shape[1]):
        fx[t] = px[t] + cos[t] * x[t] + sin[t] * z[t]
    for t in range(f.shape[1]):
        fz[t] = pz[t] - sin[t] * x[t] + cos[t] * z[t]


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def _differ(arrays: TermArrays, ids: IntArray32, n: int, pad: int, length: int, s: int) -> int:
    """Frames in which the ball stands in some of the windows and not in others."""
    apart = np.float32(0.0)
    a = arrays.rows[ids[0], STANDS + s, pad : pad + length]
    b = arrays.rows[ids[1 % n], STANDS + s, pad : pad + length]
    c = arrays.rows[ids[2 % n], STANDS + s, pad : pad + length]
    d = arrays.rows[ids[n - 1], STANDS + s, pad : pad + length]
    for t in range(length):
        # Each is 0 or 1, so this is 0 where all agree.
        apart += min(np.float32(1.0), abs(b[t] - a[t]) + abs(c[t] - a[t]) + abs(d[t] - a[t]))
    return int(apart)


@inner(error_model="numpy", boundscheck=False, fastmath=IN_ORDER)
def _candidates(
    arrays: TermArrays, pad: int, scratch: Scratch, ids: IntArray32, n: int, s: int
) -> int:
    """Every window's plants of one foot: where the blend puts them, and how far its ball misses."""
    path = scratch.path
    cos, sin, px, pz = path[COS, pad:], path[SIN, pad:], path[X, pad:], path[Z, pad:]
    fx, fz = path[BALLS + 2 * s, pad:], path[BALLS + 2 * s + 1, pad:]
    count = 0
    for i in range(n):
        window = ids[i]
        ax = arrays.anchors[window, 2 * s, pad:]
        az = arrays.anchors[window, 2 * s + 1, pad:]
        for k in range(arrays.counts[window, s]):
            first = arrays.spans[window, s, k, 0]
            last = arrays.spans[window, s, k, 1]
            # Unsigned, so that numba need not look whether they count from the end.
            begin, end = np.uint64(first), np.uint64(last + 1)
            x, z, error = np.float32(0.0), np.float32(0.0), np.float32(0.0)
            # From where the plant starts, not from the origin: little is lost in short sums.
            from_x = px[begin] + cos[begin] * ax[begin] + sin[begin] * az[begin]
            from_z = pz[begin] - sin[begin] * ax[begin] + cos[begin] * az[begin]
            for t in range(begin, end):
                x += px[t] + cos[t] * ax[t] + sin[t] * az[t] - from_x
                z += pz[t] - sin[t] * ax[t] + cos[t] * az[t] - from_z
            share = np.float32(1.0) / np.float32(last - first + 1)
            x = from_x + x * share
            z = from_z + z * share
            for t in range(begin, end):
                dx, dz = fx[t] - x, fz[t] - z
                error += np.sqrt(dx * dx + dz * dz)
            middle = (first + last) // 2
            dx, dz = arrays.ahead[window, s, k, 0], arrays.ahead[window, s, k, 1]
            plant = scratch.plants[count]
            plant[0], plant[1], plant[2] = error * share, x, z
            plant[3] = cos[middle] * dx + sin[middle] * dz
            plant[4] = cos[middle] * dz - sin[middle] * dx
            scratch.spans[count, 0] = first
            scratch.spans[count, 1] = last
            scratch.spans[count, 2] = 0
            count += 1
    return count


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def _choose(scratch: Scratch, s: int, count: int) -> None:
    """Take candidates by rising error where their frames are free; ties by start, then window."""
    plants, spans, label = scratch.plants, scratch.spans, scratch.label[s]
    for t in range(len(label)):
        label[t] = -1
    accepted = 0
    for _ in range(count):
        best = -1
        for k in range(count):
            if spans[k, 2] == 0 and (
                best < 0
                or plants[k, 0] < plants[best, 0]
                or (plants[k, 0] == plants[best, 0] and spans[k, 0] < spans[best, 0])
            ):
                best = k
        first, last = spans[best, 0], spans[best, 1]
        free = True
        for k in range(count):
            if spans[k, 2] == 1 and spans[k, 0] <= last and spans[k, 1] >= first:
                free = False
        spans[best, 2] = 1 if free else 2
        if free:
            for t in range(np.uint64(first), np.uint64(last + 1)):
                label[t] = accepted
            for c in range(4):
                scratch.chosen[s, accepted, c] = plants[best, 1 + c]
            accepted += 1
