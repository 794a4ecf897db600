"""Window terms: one window's rows of numbers, read from a collection's frames."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.transitions.collecting.frames import FloatArray32
from motionloom.transitions.compiled import inner
from motionloom.transitions.scoring.plant_choice import CHOSEN_LEAST

__all__ = ["IntArray32", "TermArrays", "TermSource", "terms_into"]

IntArray32 = npt.NDArray[np.int32]

# Rows of a window's terms.
HEADING, STEP, FEET, COM, STANDS, LIFT, POWER, PACE, TRAVEL = 0, 1, 3, 7, 10, 12, 14, 15, 16
"""Step of heading; step of the root (x, z); balls (x, z) twice; centre of mass (x, y, z); whether
each ball stands; heights of the balls; squared size of the posture, of its step and of the root's
velocity."""
N_ROWS = 17
N_SEGMENTS = 16
"""Segments of :func:`mass_segments`. Loops that should become vector instructions ask an array for
their number: where it is a constant, the compiler unrolls them first, and they are half as fast."""

TURN_M = 0.3
"""A turn of the root counts in the root's speed like a step on a circle of this radius."""


class TermArrays(NamedTuple):
    """Terms of W windows: P = T + 2 pads frames each, in single precision."""

    rows: FloatArray32
    """All that is not posture, time last. (W, 17, P)"""
    posture: FloatArray32
    """Segments about the centre of mass, times the root of their masses: x of all, then y, then z;
    time first. (W, P, 48)"""
    anchors: FloatArray32
    """Plant under the left foot as seen from the body, x and z, then right; 0 without. (W, 4, P)"""
    spans: IntArray32
    """First and last frame of each plant within the window: foot, plant. (W, 2, M, 2)"""
    ahead: FloatArray32
    """Foot's direction (x, z) as seen from the body in the plant's middle frame. (W, 2, M, 2)"""
    counts: IntArray32
    """Number of plants per foot. (W, 2)"""
    reach: IntArray32
    """Frames that the clip has before and after the window, at most the pad. (W, 2)"""


class TermSource(NamedTuple):
    """What terms of any window of a collection are read from."""

    heading: FloatArray
    ground: FloatArray
    body: FloatArray32
    points: FloatArray32
    starts: IntArray
    plant_ids: npt.NDArray[np.int32]
    plant_places: FloatArray
    plant_ahead: FloatArray
    firsts: npt.NDArray[np.uint64]
    """Where each segment's joints begin among the next two, and at last their number. (S + 1,)"""
    joints: npt.NDArray[np.uint64]
    """Joints that make the segments. Unsigned: numba then does not look for negative ones. (M,)"""
    parts: FloatArray32
    """How much of them. (M,)"""
    masses: FloatArray32
    """Parts of body mass. (S,)"""


@njit(cache=True, error_model="numpy", boundscheck=False, fastmath={"contract"})
def terms_into(
    source: TermSource,
    row: int,
    slot: int,
    length: int,
    pad: int,
    fps: float,
    out: TermArrays,
) -> None:
    """Write the terms of the window that starts at ``row`` into place ``slot`` of ``out``."""
    clip = np.searchsorted(source.starts, row, side="right") - 1
    lead = min(pad, row - source.starts[clip])
    follow = min(pad, source.starts[clip + 1] - row - length)
    out.reach[slot, 0] = lead
    out.reach[slot, 1] = follow
    begin, end = pad - lead, pad + length + follow
    rows, posture = out.rows[slot], out.posture[slot]
    for t in range(rows.shape[1]):
        if t < begin or t >= end:
            for q in range(rows.shape[0]):
                rows[q, t] = np.float32(0.0)
            for g in range(posture.shape[1]):
                posture[t, g] = np.float32(0.0)
    turn = np.zeros((2, rows.shape[1]))
    for t in range(begin, end):
        turn[0, t] = np.cos(source.heading[row - pad + t])
        turn[1, t] = np.sin(source.heading[row - pad + t])
    _root_into(source, row - pad, begin, end, fps, turn, rows)
    _posture_into(source, row - pad, begin, end, rows, posture)
    _plants_into(source, row, slot, length, pad, turn, out)


@inner(error_model="numpy", boundscheck=False, fastmath={"contract"})
def _root_into(
    source: TermSource,
    row: int,
    begin: int,
    end: int,
    fps: float,
    turn: FloatArray,
    rows: FloatArray32,
) -> None:
    """Steps and feet of frames ``begin`` to ``end - 1`` of a padded window from ``row`` on."""
    heading, ground, points = source.heading, source.ground, source.points
    for t in range(begin, end):
        r = row + t
        turned, x, z = 0.0, 0.0, 0.0
        if t > begin:
            cos, sin = turn[0, t - 1], turn[1, t - 1]
            turned = heading[r] - heading[r - 1]
            dx, dz = ground[r, 0] - ground[r - 1, 0], ground[r, 1] - ground[r - 1, 1]
            x, z = cos * dx - sin * dz, sin * dx + cos * dz
        rows[HEADING, t] = turned
        rows[STEP, t] = x
        rows[STEP + 1, t] = z
        rows[TRAVEL, t] = ((TURN_M * turned) ** 2 + x * x + z * z) * fps * fps
        for s in range(2):
            rows[FEET + 2 * s, t] = points[r, 2 * s + 1, 0]
            rows[FEET + 2 * s + 1, t] = points[r, 2 * s + 1, 2]
            rows[LIFT + s, t] = points[r, 2 * s + 1, 1]
            rows[STANDS + s, t] = 1.0 if source.plant_ids[r, s] >= 0 else 0.0


@inner(error_model="numpy", boundscheck=False, fastmath={"contract", "reassoc"})
def _posture_into(
    source: TermSource,
    row: int,
    begin: int,
    end: int,
    rows: FloatArray32,
    posture: FloatArray32,
) -> None:
    """Centre of mass and segments about it, of frames ``begin`` to ``end - 1``."""
    for t in range(begin, end):
        _centres_into(source, source.body[row + t], posture[t])
    # In loops of their own: numbers just written one by one are slow to read four at a time.
    masses, roots = source.masses, np.sqrt(source.masses)
    n = len(masses)
    for t in range(begin, end):
        now = posture[t]
        x, y, z = np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for g in range(n):
            x += masses[g] * now[g]
            y += masses[g] * now[n + g]
            z += masses[g] * now[2 * n + g]
        rows[COM, t], rows[COM + 1, t], rows[COM + 2, t] = x, y, z
        for g in range(n):
            now[g] = roots[g] * (now[g] - x)
        for g in range(n):
            now[n + g] = roots[g] * (now[n + g] - y)
        for g in range(n):
            now[2 * n + g] = roots[g] * (now[2 * n + g] - z)
    for t in range(begin, end):
        now, before = posture[t], posture[max(t - 1, begin)]
        power, pace = np.float32(0.0), np.float32(0.0)
        for k in range(3 * n):
            step = now[k] - before[k]
            power += now[k] * now[k]
            pace += step * step
        rows[POWER, t], rows[PACE, t] = power, pace


@inner(error_model="numpy", boundscheck=False, fastmath={"contract"})
def _centres_into(source: TermSource, frame: FloatArray32, out: FloatArray32) -> None:
    """Centres of the segments of one frame, x of all, then y, then z."""
    firsts, joints, parts = source.firsts, source.joints, source.parts
    n = len(firsts) - 1
    for g in range(n):
        first = firsts[g]
        j, part = joints[first], parts[first]
        x, y, z = part * frame[j, 0], part * frame[j, 1], part * frame[j, 2]
        for k in range(first + np.uint64(1), firsts[g + 1]):
            j, part = joints[k], parts[k]
            x += part * frame[j, 0]
            y += part * frame[j, 1]
            z += part * frame[j, 2]
        out[g], out[n + g], out[2 * n + g] = x, y, z


@inner(error_model="numpy", boundscheck=False, fastmath={"contract"})
def _plants_into(
    source: TermSource,
    row: int,
    slot: int,
    length: int,
    pad: int,
    turn: FloatArray,
    out: TermArrays,
) -> None:
    """Spans of the plants in a window, and where each frame's body sees them."""
    most = out.spans.shape[2]
    for s in range(2):
        count, t = 0, 0
        for u in range(length):
            out.anchors[slot, 2 * s, pad + u] = 0.0
            out.anchors[slot, 2 * s + 1, pad + u] = 0.0
        while t < length:
            plant = source.plant_ids[row + t, s]
            first = t
            while t < length and source.plant_ids[row + t, s] == plant:
                t += 1
            if plant < 0 or t - first < CHOSEN_LEAST or count == most:
                continue
            middle = (first + t - 1) // 2
            for u in range(first, t):
                cos, sin = turn[0, pad + u], turn[1, pad + u]
                dx = source.plant_places[plant, 0] - source.ground[row + u, 0]
                dz = source.plant_places[plant, 1] - source.ground[row + u, 1]
                out.anchors[slot, 2 * s, pad + u] = cos * dx - sin * dz
                out.anchors[slot, 2 * s + 1, pad + u] = sin * dx + cos * dz
                if u == middle:
                    ax, az = source.plant_ahead[plant, 0], source.plant_ahead[plant, 1]
                    out.ahead[slot, s, count, 0] = cos * ax - sin * az
                    out.ahead[slot, s, count, 1] = sin * ax + cos * az
            out.spans[slot, s, count, 0] = first
            out.spans[slot, s, count, 1] = t - 1
            count += 1
        out.counts[slot, s] = count
