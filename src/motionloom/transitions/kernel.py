"""The kernel: what a blend of windows is worth, from sums of their terms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom.features.balance import FLIGHT_LOAD, GRAVITY
from motionloom.features.support import ROLL_S
from motionloom.transitions.columns import COLUMNS, INCH
from motionloom.transitions.frames import FloatArray32
from motionloom.transitions.hull import distance_outside, hull_into, soles_into
from motionloom.transitions.terms import (
    COM,
    FEET,
    HEADING,
    LIFT,
    MOST_WAYS,
    PACE,
    POWER,
    SEGMENTS,
    STANDS,
    STEP,
    TRAVEL,
    TURN_M,
    IntArray32,
    TermArrays,
    Terms,
)

__all__ = ["Judge", "Scratch", "judge_of", "score_recipes", "scratch_of"]

N_COLUMNS = len(COLUMNS)
FAST = {"contract", "reassoc", "nsz", "arcp"}
"""Sums may be reordered, so that they become vector instructions; nan and inf keep their sense."""


class Judge(NamedTuple):
    """What judging needs besides terms."""

    taps: FloatArray32
    weights: FloatArray32
    sole: FloatArray32
    masses: FloatArray32
    length: int
    pad: int
    fps: float
    roll: int
    """Frames that a foot carries before and after its plant, where support is counted."""
    low: float
    """Height under which a ball is low, metres."""


class Scratch(NamedTuple):
    """Room to work in, made once for many blends."""

    blend: FloatArray32
    """(rows, P)"""
    path: FloatArray32
    """Series over the padded frames. (24, P)"""
    plants: FloatArray32
    """Candidates of one foot: error, place, direction. (4 M, 5)"""
    spans: IntArray32
    """First and last frame of them, and whether they are done with. (4 M, 3)"""
    chosen: FloatArray32
    """Accepted plants: foot, plant, (place, direction). (2, 4 M, 4)"""
    label: npt.NDArray[np.int16]
    """Accepted plant of each foot in every frame, -1 for none. (2, T)"""
    corners: FloatArray32
    """Corners of soles, and their hull. (2, 10, 2)"""


def judge_of(terms: Terms) -> Judge:
    """What the kernel needs to know besides the windows' own terms."""
    return Judge(
        terms.taps,
        terms.weights,
        terms.sole,
        terms.masses,
        terms.length,
        terms.pad,
        terms.fps,
        round(ROLL_S * terms.fps),
        terms.low,
    )


def scratch_of(terms: Terms) -> Scratch:
    """Room for judging one blend at a time."""
    padded = terms.arrays.rows.shape[2]
    most = MOST_WAYS * terms.arrays.spans.shape[2]
    return Scratch(
        np.zeros(terms.arrays.rows.shape[1:], dtype=np.float32),
        np.zeros((24, padded), dtype=np.float32),
        np.zeros((most, 5), dtype=np.float32),
        np.zeros((most, 3), dtype=np.int32),
        np.zeros((2, most, 4), dtype=np.float32),
        np.zeros((2, terms.length), dtype=np.int16),
        np.zeros((2, 10, 2), dtype=np.float32),
    )


def score_recipes(terms: Terms, ids: npt.ArrayLike) -> FloatArray32:
    """What is measured of blends of windows. Shape (n, C), columns as in :data:`COLUMNS`.

    Parameters
    ----------
    terms
        Of all windows that occur.
    ids : (n, N)
        Windows of each blend as places in ``terms``: source first, target last, then -1 where a
        blend has fewer than N ways. N is at most 4.
    """
    recipes = np.ascontiguousarray(ids, dtype=np.int32)
    out = np.zeros((len(recipes), N_COLUMNS), dtype=np.float32)
    score_into(terms.arrays, judge_of(terms), scratch_of(terms), recipes, out)
    return out


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def score_into(
    arrays: TermArrays, judge: Judge, scratch: Scratch, recipes: IntArray32, out: FloatArray32
) -> None:
    """Measure every recipe of a batch into a row of ``out``."""
    for k in range(len(recipes)):
        ids = recipes[k]
        n = 0
        while n < len(ids) and ids[n] >= 0:
            n += 1
        blend_rows(arrays.rows, ids, n, judge.weights, 0, scratch.blend.shape[0], scratch.blend)
        judge_feet(arrays, judge, scratch, ids, n, out[k])
        judge_body(arrays, judge, scratch, ids, n, out[k])


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def blend_rows(
    rows: FloatArray32,
    ids: IntArray32,
    n: int,
    weights: FloatArray32,
    begin: int,
    end: int,
    out: FloatArray32,
) -> None:
    """Weighted sum of rows ``begin`` to ``end - 1`` of ``n`` windows."""
    padded = rows.shape[2]
    if n == 1:
        for q in range(begin, end):
            for t in range(padded):
                out[q, t] = rows[ids[0], q, t]
        return
    a, b = rows[ids[0]], rows[ids[n - 1]]
    u, v = weights[n - 1, 0], weights[n - 1, n - 1]
    for q in range(begin, end):
        for t in range(padded):
            out[q, t] = u[t] * a[q, t] + v[t] * b[q, t]
    for i in range(1, n - 1):
        c, w = rows[ids[i]], weights[n - 1, i]
        for q in range(begin, end):
            for t in range(padded):
                out[q, t] += w[t] * c[q, t]


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def judge_feet(
    arrays: TermArrays, judge: Judge, scratch: Scratch, ids: IntArray32, n: int, out: FloatArray32
) -> None:
    """The first columns, from the rows before :data:`SEGMENTS` of the blend in ``scratch``."""
    f, path = scratch.blend, scratch.path
    padded, pad, length = f.shape[1], judge.pad, judge.length
    cos, sin, px, pz = path[0], path[1], path[2], path[3]
    cos[0], sin[0], px[0], pz[0] = 1.0, 0.0, 0.0, 0.0
    for t in range(1, padded):
        x, z, d = f[STEP, t], f[STEP + 1, t], f[HEADING, t]
        px[t] = px[t - 1] + cos[t - 1] * x + sin[t - 1] * z
        pz[t] = pz[t - 1] - sin[t - 1] * x + cos[t - 1] * z
        # A body turns by less than 0.3 rad in a frame: the next terms are below single precision.
        d2 = d * d
        c = np.float32(1.0) - d2 * (
            np.float32(0.5) - d2 * (np.float32(1.0 / 24.0) - d2 * np.float32(1.0 / 720.0))
        )
        s = d * (np.float32(1.0) - d2 * (np.float32(1.0 / 6.0) - d2 * np.float32(1.0 / 120.0)))
        cos[t] = cos[t - 1] * c - sin[t - 1] * s
        sin[t] = sin[t - 1] * c + cos[t - 1] * s
    moving = np.float32(0.0)
    for t in range(pad, pad + length):
        moving += f[TRAVEL, t] - (
            (np.float32(TURN_M) * f[HEADING, t]) ** 2 + f[STEP, t] ** 2 + f[STEP + 1, t] ** 2
        ) * np.float32(judge.fps * judge.fps)
    out[7] = np.sqrt(max(np.float32(0.0), moving / np.float32(length)))
    total, worst, slid = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    planted, steps, apart, low_steps = 0, 0, 0, 0
    doubt, low_slid = np.float32(0.0), np.float32(0.0)
    for s in range(2):
        fx, fz, speed = path[4 + 2 * s], path[5 + 2 * s], path[8 + s]
        bx, bz = f[FEET + 2 * s], f[FEET + 2 * s + 1]
        for t in range(padded):
            fx[t] = px[t] + cos[t] * bx[t] + sin[t] * bz[t]
            fz[t] = pz[t] - sin[t] * bx[t] + cos[t] * bz[t]
        for t in range(1, padded):
            dx, dz = fx[t] - fx[t - 1], fz[t] - fz[t - 1]
            speed[t] = np.sqrt(dx * dx + dz * dz)
        for t in range(pad, pad + length):
            p = f[STANDS + s, t]
            doubt += p * (np.float32(1.0) - p)
        for t in range(pad + 1, pad + length):
            if f[LIFT + s, t] < judge.low:
                low_slid += speed[t]
                low_steps += 1
        first = arrays.rows[ids[0], STANDS + s]
        for t in range(pad, pad + length):
            differ = False
            for i in range(1, n):
                differ = differ or arrays.rows[ids[i], STANDS + s, t] != first[t]
            apart += differ
        count = _candidates(arrays, pad, scratch, ids, n, s)
        _choose(scratch, s, count)
        for k in range(count):
            if scratch.spans[k, 2] == 1:
                a, b = scratch.spans[k, 0], scratch.spans[k, 1]
                error = scratch.plants[k, 0]
                total += error * (b - a + 1)
                planted += b - a + 1
                worst = max(worst, error)
                for t in range(pad + a + 1, pad + b + 1):
                    slid += speed[t]
                steps += b - a
    out[0] = total / np.float32(max(planted, 1) * INCH)
    out[1] = worst / np.float32(INCH)
    out[2] = planted
    out[3] = slid * np.float32(judge.fps / max(steps, 1))
    out[4] = low_slid * np.float32(judge.fps / max(low_steps, 1))
    out[5] = apart
    out[6] = np.float32(4.0) * doubt


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def _candidates(
    arrays: TermArrays, pad: int, scratch: Scratch, ids: IntArray32, n: int, s: int
) -> int:
    """Every window's plants of one foot: where the blend puts them, and how far its ball misses."""
    path = scratch.path
    cos, sin, px, pz = path[0], path[1], path[2], path[3]
    fx, fz, wx, wz = path[4 + 2 * s], path[5 + 2 * s], path[10], path[11]
    count = 0
    for i in range(n):
        window = ids[i]
        ax, az = arrays.anchors[window, 2 * s], arrays.anchors[window, 2 * s + 1]
        for k in range(arrays.counts[window, s]):
            first = arrays.spans[window, s, k, 0]
            last = arrays.spans[window, s, k, 1]
            x, z, error = np.float32(0.0), np.float32(0.0), np.float32(0.0)
            for t in range(pad + first, pad + last + 1):
                wx[t] = px[t] + cos[t] * ax[t] + sin[t] * az[t]
                wz[t] = pz[t] - sin[t] * ax[t] + cos[t] * az[t]
                x += wx[t]
                z += wz[t]
            share = np.float32(1.0) / np.float32(last - first + 1)
            x *= share
            z *= share
            for t in range(pad + first, pad + last + 1):
                dx, dz = fx[t] - x, fz[t] - z
                error += np.sqrt(dx * dx + dz * dz)
            middle = pad + (first + last) // 2
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


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
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
        # Those taken do not overlap, so one that meets another holds one of its ends or lies in it.
        free = True
        for t in range(first, last + 1):
            if label[t] >= 0:
                free = False
                break
        spans[best, 2] = 1 if free else 2
        if free:
            for t in range(first, last + 1):
                label[t] = accepted
            for c in range(4):
                scratch.chosen[s, accepted, c] = plants[best, 1 + c]
            accepted += 1


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def judge_body(
    arrays: TermArrays, judge: Judge, scratch: Scratch, ids: IntArray32, n: int, out: FloatArray32
) -> None:
    """The columns that need the whole blend, after :func:`judge_feet`."""
    pad, length = judge.pad, judge.length
    begin = pad - arrays.reach[ids[0], 0]
    end = pad + length + arrays.reach[ids[n - 1], 1]
    _posture(judge, scratch, out)
    _momentum(judge, scratch)
    half = (judge.taps.shape[1] - 1) // 2
    first, last = max(pad, begin + 1 + half), min(pad + length, end - 1 - half)
    _smooth(judge, scratch, first, last)
    _balance(judge, scratch, first, last, out)
    out[18] = np.float32(0.0)
    if out[2] == 0:
        out[18] = _fall(judge, scratch, first, last)


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def _posture(judge: Judge, scratch: Scratch, out: FloatArray32) -> None:
    """How much postures differ, what speed is lost, and the highest acceleration."""
    f, path, pad, length = scratch.blend, scratch.path, judge.pad, judge.length
    n_segments = len(judge.masses)
    power, pace, acc, peak = path[12], path[13], path[14], path[15]
    for t in range(pad, pad + length):
        power[t], pace[t], peak[t] = 0.0, 0.0, 0.0
    for g in range(n_segments):
        for t in range(pad, pad + length):
            acc[t] = 0.0
        for c in range(3):
            b = f[SEGMENTS + c * n_segments + g]
            for t in range(pad, pad + length):
                step = b[t] - b[t - 1]
                bend = b[t + 1] - b[t] - step
                power[t] += b[t] * b[t]
                pace[t] += step * step
                acc[t] += bend * bend
        share = np.float32(1.0) / judge.masses[g]
        for t in range(pad, pad + length):
            a = share * acc[t]
            peak[t] = a if a > peak[t] else peak[t]
    spread, kept, had, most = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for t in range(pad, pad + length):
        spread += f[POWER, t] - power[t]
    # The first frame's step and the last one's bend leave the blend, where clips may have no more.
    for t in range(pad + 1, pad + length):
        kept += pace[t]
        had += f[PACE, t]
    for t in range(pad + 1, pad + length - 1):
        most = max(most, peak[t])
    out[14] = np.sqrt(max(np.float32(0.0), spread / np.float32(length)))
    out[15] = kept / max(had, np.float32(1e-12))
    out[16] = np.sqrt(most) * np.float32(judge.fps * judge.fps)


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def _momentum(judge: Judge, scratch: Scratch) -> None:
    """Centre of mass and angular momentum about it (z and x components) in the blend's world.

    Momentum between two frames needs four sums over segments as seen from the body, turned
    afterwards; in a frame it is the mean of both sides.
    """
    f, path = scratch.blend, scratch.path
    padded, n_segments = f.shape[1], len(judge.masses)
    cos, sin, px, pz = path[0], path[1], path[2], path[3]
    cx, cz, hz, hx = path[10], path[11], path[12], path[13]
    xy, zy, yx, yz = path[14], path[15], path[16], path[17]
    for t in range(padded):
        cx[t] = px[t] + cos[t] * f[COM, t] + sin[t] * f[COM + 2, t]
        cz[t] = pz[t] - sin[t] * f[COM, t] + cos[t] * f[COM + 2, t]
        xy[t], zy[t], yx[t], yz[t] = 0.0, 0.0, 0.0, 0.0
    for g in range(n_segments):
        x, y, z = f[SEGMENTS + g], f[SEGMENTS + n_segments + g], f[SEGMENTS + 2 * n_segments + g]
        for t in range(padded - 1):
            xy[t] += x[t] * y[t + 1]
            zy[t] += z[t] * y[t + 1]
            yx[t] += y[t] * x[t + 1]
            yz[t] += y[t] * z[t + 1]
    rate = np.float32(judge.fps)
    for t in range(padded - 1):
        hz[t] = rate * (cos[t] * xy[t] + sin[t] * zy[t] - cos[t + 1] * yx[t] - sin[t + 1] * yz[t])
        hx[t] = rate * (cos[t] * zy[t] - sin[t] * xy[t] + sin[t + 1] * yx[t] - cos[t + 1] * yz[t])
    for t in range(padded - 2, 0, -1):
        hz[t] = np.float32(0.5) * (hz[t] + hz[t - 1])
        hx[t] = np.float32(0.5) * (hx[t] + hx[t - 1])


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def _smooth(judge: Judge, scratch: Scratch, first: int, last: int) -> None:
    """Local cubics: position and acceleration of the centre of mass, change of momentum."""
    path, taps = scratch.path, judge.taps
    cx, cz, hz, hx, cy = path[10], path[11], path[12], path[13], scratch.blend[COM + 1]
    half = (taps.shape[1] - 1) // 2
    n = last - first
    for row in range(16, 24):
        for i in range(n):
            path[row, i] = 0.0
    x0, y0, z0, x2, y2, z2 = path[16], path[17], path[18], path[19], path[20], path[21]
    dz, dx = path[22], path[23]
    for k in range(2 * half + 1):
        value, slope, bend = taps[0, k], taps[1, k], taps[2, k]
        at = first - half + k
        for i in range(n):
            x0[i] += value * cx[at + i]
            x2[i] += bend * cx[at + i]
            z0[i] += value * cz[at + i]
            z2[i] += bend * cz[at + i]
            y0[i] += value * cy[at + i]
            y2[i] += bend * cy[at + i]
            dz[i] += slope * hz[at + i]
            dx[i] += slope * hx[at + i]


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def _balance(judge: Judge, scratch: Scratch, first: int, last: int, out: FloatArray32) -> None:
    """Distances of the zero moment point from the support of accepted plants."""
    path, label = scratch.path, scratch.label
    x0, y0, z0, x2, y2, z2 = path[16], path[17], path[18], path[19], path[20], path[21]
    dz, dx, outside = path[22], path[23], path[14]
    gravity = np.float32(GRAVITY)
    n_corners, left, right, scored, bare, unsupported = 0, -2, -2, 0, 0, 0
    most, total, com = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    since = judge.roll + 1
    for t in range(first - judge.pad):
        since = 0 if label[0, t] >= 0 or label[1, t] >= 0 else since + 1
    for i in range(last - first):
        t = first - judge.pad + i
        a, b = label[0, t], label[1, t]
        since = 0 if a >= 0 or b >= 0 else since + 1
        com = max(com, x2[i] * x2[i] + y2[i] * y2[i] + z2[i] * z2[i])
        push = y2[i] + gravity
        if push < np.float32(FLIGHT_LOAD) * gravity:
            continue
        if a < 0 and b < 0:
            bare += 1
            unsupported += since > judge.roll and not _soon(label, t, judge.roll)
            continue
        if a != left or b != right:
            left, right = a, b
            corners = soles_into(scratch.chosen, a, b, judge.sole, scratch.corners[0])
            n_corners = hull_into(scratch.corners[0], corners, scratch.corners[1])
        x = x0[i] + (dz[i] - y0[i] * x2[i]) / push
        z = z0[i] + (dx[i] - y0[i] * z2[i]) / push
        away = distance_outside(scratch.corners[1], n_corners, x, z)
        outside[scored] = away
        scored += 1
        total += away
        most = max(most, away)
    inch = np.float32(1.0 / INCH)
    out[8] = most * inch
    out[9] = _high(outside, scored, most) * inch
    out[10] = total * inch / np.float32(max(scored, 1))
    out[11] = scored
    out[12] = unsupported
    out[13] = bare
    out[17] = np.sqrt(com)


@njit(cache=True, error_model="numpy", boundscheck=False)
def _soon(label: npt.NDArray[np.int16], t: int, roll: int) -> bool:
    """Whether a plant begins within ``roll`` frames after ``t``."""
    for u in range(t + 1, min(t + roll + 1, label.shape[1])):
        if label[0, u] >= 0 or label[1, u] >= 0:
            return True
    return False


@njit(cache=True, error_model="numpy", boundscheck=False)
def _high(values: FloatArray32, count: int, most: float) -> float:
    """95th percentile of the first ``count`` values, which are overwritten."""
    if count == 0 or most == 0.0:
        return 0.0
    place = 0.95 * (count - 1)
    below = int(place)
    low = high = most
    for _ in range(count - below):
        at = 0
        for k in range(1, count):
            if values[k] > values[at]:
                at = k
        low, high = values[at], low
        values[at] = -1.0
    return low + (place - below) * (high - low)


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath=FAST)
def _fall(judge: Judge, scratch: Scratch, first: int, last: int) -> float:
    """How far a body without plants is from free fall: weight carried, and momentum gained.

    [I7]_ asks that angular momentum be constant in the air; that the centre of mass falls is ours.
    """
    path = scratch.path
    hz, hx, y2 = path[12], path[13], path[20]
    n = max(last - first, 1)
    carried, mean_z, mean_x = 0.0, 0.0, 0.0
    for i in range(last - first):
        carried += abs(y2[i] + GRAVITY) / GRAVITY
        mean_z += hz[first + i]
        mean_x += hx[first + i]
    most = 0.0
    for i in range(last - first):
        most = max(most, np.hypot(hz[first + i] - mean_z / n, hx[first + i] - mean_x / n))
    tall = judge.sole[3]
    return carried / n + most / (tall * np.sqrt(GRAVITY * tall))
