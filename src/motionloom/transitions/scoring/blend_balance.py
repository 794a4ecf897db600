"""Balance of a blend: its zero moment point over the plants it keeps, and how its posture moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from motionloom.features.balance import FLIGHT_LOAD, GRAVITY
from motionloom.transitions.collecting.frames import FloatArray32
from motionloom.transitions.compiled import inner, variable
from motionloom.transitions.scoring.blend_feet import COS, SIN, X, Z
from motionloom.transitions.scoring.columns import INCH
from motionloom.transitions.scoring.hull import (
    beyond_edges,
    distance_outside,
    hull_into,
    soles_into,
)
from motionloom.transitions.scoring.window_terms import COM, PACE, POWER, IntArray32, TermArrays

if TYPE_CHECKING:
    from motionloom.transitions.scoring.kernel import Judge, Scratch

__all__ = ["judge_balance", "judge_posture", "judge_travel"]

FAST = {"contract", "reassoc", "nsz", "arcp", "nnan"}

# Rows of ``scratch.path``: centre of mass and momentum in the world; then what smoothing leaves.
CX, CZ, HZ, HX, OUTSIDE, BEYOND, PEAK = 8, 9, 10, 11, 12, 13, 14
X0, Y0, Z0, X2, Y2, Z2, DZ, DX = 16, 17, 18, 19, 20, 21, 22, 23


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def judge_travel(
    arrays: TermArrays, judge: Judge, scratch: Scratch, ids: IntArray32, n: int, out: FloatArray32
) -> None:
    """The column of the centre of mass, after :func:`judge_steps`: it needs no posture."""
    f, path = scratch.rows, scratch.path
    cos, sin, px, pz = path[COS], path[SIN], path[X], path[Z]
    cx, cz, x, z = path[CX], path[CZ], f[COM], f[COM + 2]
    for t in range(f.shape[1]):
        cx[t] = px[t] + cos[t] * x[t] + sin[t] * z[t]
    for t in range(f.shape[1]):
        cz[t] = pz[t] - sin[t] * x[t] + cos[t] * z[t]
    first, count = scored_frames(arrays, judge, ids, n)
    at = first - judge.half
    bend = judge.taps[2]
    _filter(cx[at:], bend, count, path[X2])
    _filter(cz[at:], bend, count, path[Z2])
    _filter(f[COM + 1, at:], bend, count, path[Y2])
    x2, y2, z2 = path[X2], path[Y2], path[Z2]
    most = np.float32(0.0)
    for i in range(count):
        most = max(most, x2[i] * x2[i] + y2[i] * y2[i] + z2[i] * z2[i])
    out[17] = np.sqrt(most)


@inner(error_model="numpy", boundscheck=False)
def scored_frames(arrays: TermArrays, judge: Judge, ids: IntArray32, n: int) -> tuple[int, int]:
    """First padded frame whose acceleration can be known, and how many follow it."""
    begin = judge.pad - arrays.reach[ids[0], 0]
    end = judge.pad + judge.length + arrays.reach[ids[n - 1], 1]
    first = max(judge.pad, begin + 1 + judge.half)
    last = min(judge.pad + judge.length, end - 1 - judge.half)
    return first, max(last - first, 0)


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def judge_balance(
    arrays: TermArrays, judge: Judge, scratch: Scratch, ids: IntArray32, n: int, out: FloatArray32
) -> None:
    """The columns of balance, after all others and with the posture blended."""
    path = scratch.path
    first, count = scored_frames(arrays, judge, ids, n)
    at = first - judge.half
    _find_momentum(scratch, judge.fps)
    value, slope = judge.taps[0], judge.taps[1]
    _filter(path[HZ, at:], slope, count, path[DZ])
    _filter(path[HX, at:], slope, count, path[DX])
    _filter(path[CX, at:], value, count, path[X0])
    _filter(path[CZ, at:], value, count, path[Z0])
    _filter(scratch.rows[COM + 1, at:], value, count, path[Y0])
    _judge_support(judge, scratch, first, count, out)
    out[18] = np.float32(0.0)
    if out[2] == 0:
        out[18] = _fall(judge, path, first, count)


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def judge_posture(judge: Judge, scratch: Scratch, out: FloatArray32) -> None:
    """How much postures differ, what speed is lost, and the highest acceleration."""
    pad, length = judge.pad, judge.length
    n = len(judge.masses)
    wide = 3 * n
    posture = scratch.posture
    flat = posture[pad : pad + length].reshape(-1)
    had = scratch.rows[POWER, pad : pad + length]
    spread, kept, moved = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for t in range(length):
        spread += had[t]
    for k in range(len(flat)):
        kept += flat[k] * flat[k]
    out[14] = np.sqrt(max(np.float32(0.0), (spread - kept) / np.float32(length)))
    pace = scratch.rows[PACE, pad + 1 : pad + length]
    could = np.float32(0.0)
    for t in range(length - 1):
        could += pace[t]
    later = flat[wide:]
    for k in range(len(later)):
        step = later[k] - flat[k]
        moved += step * step
    out[15] = moved / max(could, np.float32(1e-12))
    peak = scratch.path[PEAK]
    for g in range(n):
        peak[g] = 0.0
    for t in range(length - 2):
        a, b, c = posture[pad + t], posture[pad + t + 1], posture[pad + t + 2]
        for g in range(n):
            x = a[g] - b[g] - b[g] + c[g]
            y = a[n + g] - b[n + g] - b[n + g] + c[n + g]
            z = a[2 * n + g] - b[2 * n + g] - b[2 * n + g] + c[2 * n + g]
            peak[g] = max(peak[g], x * x + y * y + z * z)
    most = np.float32(0.0)
    for g in range(n):
        most = max(most, peak[g] / judge.masses[g])
    out[16] = np.sqrt(most) * judge.fps * judge.fps


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def _find_momentum(scratch: Scratch, fps: np.float32) -> None:
    """Angular momentum about the centre of mass, z and x components, in the blend's world.

    Momentum between two frames needs four sums over segments as seen from the body, turned
    afterwards; in a frame it is the mean of both sides.
    """
    path, posture = scratch.path, scratch.posture
    cos, sin, hz, hx = path[COS], path[SIN], path[HZ], path[HX]
    n = posture.shape[1] // 3
    last_z, last_x = np.float32(0.0), np.float32(0.0)
    scale = np.float32(0.5) * fps
    for t in range(len(posture) - 1):
        now, then = posture[t], posture[t + 1]
        xy, zy, yx, yz = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for g in range(n):
            xy += now[g] * then[n + g]
            zy += now[2 * n + g] * then[n + g]
            yx += now[n + g] * then[g]
            yz += now[n + g] * then[2 * n + g]
        next_z = cos[t] * xy + sin[t] * zy - cos[t + 1] * yx - sin[t + 1] * yz
        next_x = cos[t] * zy - sin[t] * xy + sin[t + 1] * yx - cos[t + 1] * yz
        hz[t] = scale * (last_z + next_z)
        hx[t] = scale * (last_x + next_x)
        last_z, last_x = next_z, next_x


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def _filter(values: FloatArray32, taps: FloatArray32, count: int, out: FloatArray32) -> None:
    """``out[i] = sum_k taps[k] values[i + k]`` for the first ``count``; taps a multiple of 4."""
    for i in range(count):
        out[i] = np.float32(0.0)
    for k in range(0, len(taps), 4):
        a, b, c, d = taps[k], taps[k + 1], taps[k + 2], taps[k + 3]
        v = values[k:]
        for i in range(count):
            out[i] += a * v[i] + b * v[i + 1] + c * v[i + 2] + d * v[i + 3]


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def _judge_support(
    judge: Judge, scratch: Scratch, first: int, count: int, out: FloatArray32
) -> None:
    """Distances of the zero moment point from the support of accepted plants."""
    path, label = scratch.path, scratch.label
    x0, y0, z0, x2, y2, z2 = path[X0], path[Y0], path[Z0], path[X2], path[Y2], path[Z2]
    dz, dx, outside, beyond = path[DZ], path[DX], path[OUTSIDE], path[BEYOND]
    gravity = np.float32(GRAVITY)
    most, total = np.float32(0.0), np.float32(0.0)
    for i in range(count):
        x0[i] += (dz[i] - y0[i] * x2[i]) / (y2[i] + gravity)
    for i in range(count):
        z0[i] += (dx[i] - y0[i] * z2[i]) / (y2[i] + gravity)
    flight = np.float32(FLIGHT_LOAD - 1.0) * gravity
    begin, i = first - judge.pad, variable(0)
    scored, bare, unsupported, away = i, i, i, i
    while i < count:
        a, b = label[0, begin + i], label[1, begin + i]
        end = i + 1
        while end < count and label[0, begin + end] == a and label[1, begin + end] == b:
            end += 1
        if a < 0 and b < 0:
            for t in range(i, end):
                if y2[t] >= flight:
                    bare += 1
                    unsupported += not _near(label, begin + t, judge.roll)
        else:
            corners = soles_into(scratch.chosen, a, b, judge.sole, scratch.corners[0])
            corners = hull_into(scratch.corners[0], corners, scratch.corners[1])
            beyond_edges(scratch.corners[1], corners, x0, z0, i, end, beyond)
            for t in range(i, end):
                if y2[t] < flight:
                    continue
                scored += 1
                if beyond[t] > np.float32(0.0):
                    gap = distance_outside(scratch.corners[1], corners, x0[t], z0[t])
                    outside[away] = gap
                    away += 1
                    total += gap
                    most = max(most, gap)
        i = end
    inch = np.float32(INCH)
    out[8] = most / inch
    out[9] = _high(outside, away, scored) / inch
    out[10] = total / (inch * np.float32(max(scored, 1)))
    out[11] = scored
    out[12] = unsupported
    out[13] = bare


@inner(error_model="numpy", boundscheck=False)
def _near(label: npt.NDArray[np.int16], t: int, roll: int) -> bool:
    """Whether a plant stands within ``roll`` frames of ``t``."""
    for u in range(max(0, t - roll), min(t + roll + 1, label.shape[1])):
        if label[0, u] >= 0 or label[1, u] >= 0:
            return True
    return False


@inner(error_model="numpy", boundscheck=False)
def _high(values: FloatArray32, away: int, count: int) -> np.float32:
    """95th percentile of ``count`` values, of which all but the first ``away`` are 0.

    The values are overwritten.
    """
    place = 0.95 * (count - 1)
    below = int(place)
    if away < count - below:
        # Not even the value above the percentile's place is reached by every rank.
        for k in range(away, count - below):
            values[k] = np.float32(0.0)
        away = max(away, count - below)
    low, high = np.float32(0.0), np.float32(0.0)
    for _ in range(count - below):
        at = 0
        for k in range(1, away):
            if values[k] > values[at]:
                at = k
        low, high = values[at], low
        values[at] = np.float32(-1.0)
    if count - below == 1:
        high = low
    return np.float32(low + np.float32(place - below) * (high - low))


@inner(error_model="numpy", boundscheck=False, fastmath=FAST)
def _fall(judge: Judge, path: FloatArray32, first: int, count: int) -> np.float32:
    """How far a body without plants is from free fall: weight carried, and momentum gained.

    [I7]_ asks that angular momentum be constant in the air; that the centre of mass falls is ours.
    """
    hz, hx, y2 = path[HZ, first:], path[HX, first:], path[Y2]
    n = max(count, 1)
    carried, mean_z, mean_x, most = 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        carried += abs(y2[i] + GRAVITY) / GRAVITY
        mean_z += hz[i] / n
        mean_x += hx[i] / n
    for i in range(count):
        most = max(most, np.hypot(hz[i] - mean_z, hx[i] - mean_x))
    tall = judge.sole[3]
    return np.float32(carried / n + most / (tall * np.sqrt(GRAVITY * tall)))
