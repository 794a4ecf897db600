"""How far a foot is moved in every frame."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.tables.synthesis.synthesis import NOT_HELD, Rows

FADE, SLOPE, QUICKEST, UPRIGHT, GROWTH = 15, 20, 6, 8, 0.05
LIFT_MOST, HEEL_CLEAR, RISE, TILT = 0.05, 0.02, 9, 9


class Manner(NamedTuple):
    """How feet are lifted; as in core/src/synthesis/swing.c."""

    lifted_from: float
    part: float
    hurry: float
    clear: float
    slow: float
    fast: float


BLENDED = Manner(0.025, 1.0, 2.4e-4, 0.035, 0.1, 0.5)
CAPTURED = Manner(0.03, 0.15, 1.2e-4, 0.03, 0.25, 1.0)


def smooth(u: FloatArray | float) -> FloatArray:
    u = np.clip(u, 0.0, 1.0)
    return np.asarray(u * u * (3.0 - 2.0 * u))


def ebb(frames: FloatArray, length: int) -> FloatArray:
    """``frames`` at first, 0 with slope 0 from ``length`` on."""
    return frames * np.maximum(1.0 - frames / length, 0.0) ** 2


def run_offsets(
    held: IntArray, places: FloatArray, foot: FloatArray, *, manner: Manner = BLENDED
) -> FloatArray:
    """Shifts (L, 3) of a foot by its holds."""
    n = len(held)
    offsets = np.where((held != NOT_HELD)[:, None], places - foot, 0.0)
    known = [t for t in range(n) if t in (0, n - 1) or held[t] != NOT_HELD]
    for low, high in itertools.pairwise(known):
        if high - low > 1:
            _bridge(manner, held, foot, offsets, low, high)
    return offsets


def _bridge(
    manner: Manner, held: IntArray, foot: FloatArray, offsets: FloatArray, low: int, high: int
) -> None:
    wide, gone = high - low, np.arange(1, high - low)
    between, u = slice(low + 1, high), gone / wide
    a, b = (
        (1.0 - smooth(gone / FADE), 1.0 - smooth((wide - gone) / FADE))
        if wide > 2 * FADE
        else (1.0 - smooth(u), smooth(u))
    )
    lift = _lift(manner, held, foot, offsets, low, high)
    offsets[between] = a[:, None] * offsets[low] + b[:, None] * offsets[high]
    if low > 0 and held[low] != NOT_HELD and held[low - 1] == held[low]:
        slope = offsets[low] - offsets[low - 1]
        frames = min(wide, _frames_to_follow(slope))
        offsets[between] += ebb(gone, frames)[:, None] * slope * [1, 0, 1]
        offsets[between, 1] += ebb(gone, min(frames, UPRIGHT)) * slope[1]
    if high < len(held) - 1 and held[high] != NOT_HELD and held[high + 1] == held[high]:
        slope = offsets[high + 1] - offsets[high]
        frames = min(wide, _frames_to_follow(slope))
        offsets[between] -= ebb(wide - gone, frames)[:, None] * slope * [1, 0, 1]
        offsets[between, 1] -= ebb(wide - gone, min(frames, UPRIGHT)) * slope[1]
    offsets[between, 1] += lift * 16.0 * (u * (1.0 - u)) ** 2


def _frames_to_follow(slope: FloatArray) -> int:
    step = np.linalg.norm(slope)
    if step * SLOPE * 4.0 <= GROWTH * 27.0:
        return SLOPE
    return max(QUICKEST, int(GROWTH * 27.0 / (4.0 * step)))


def _lift(
    manner: Manner, held: IntArray, foot: FloatArray, offsets: FloatArray, low: int, high: int
) -> float:
    """How much higher the middle of a step must be, metres."""
    a, b = foot[low] + offsets[low], foot[high] + offsets[high]
    way = np.hypot(*(b - a)[::2])
    if way < manner.lifted_from or NOT_HELD in (held[low], held[high]):
        return 0.0
    now = foot[(low + high) // 2, 1] + 0.5 * (offsets[low, 1] + offsets[high, 1])
    most = min(LIFT_MOST, manner.hurry * (high - low) ** 2)
    return float(max(min(manner.part * way, most) - now + 0.5 * (a[1] + b[1]), 0.0))


def clear_ground(
    rows: Rows,
    side: int,
    at: IntArray,
    weights: FloatArray,
    held: IntArray,
    heel: FloatArray,
    ball: FloatArray,
    fps: float,
    offsets: FloatArray,
    *,
    manner: Manner = BLENDED,
) -> tuple[FloatArray, FloatArray]:
    """Offsets (L, 3) with free feet lifted, and angles (L,) by which heels come up."""
    offsets, n = np.array(offsets), len(held)
    heels, balls = (rows.points[at, 2 * side + k, 1].astype(np.float64) for k in range(2))
    seams = (held != NOT_HELD) | np.isin(np.arange(n), [0, n - 1])
    ground = (ball + offsets)[seams, 1].min()
    floor = min(heels.min(), balls.min(), ground, heel[0, 1], heel[-1, 1])
    levels = np.minimum(weights.T @ balls.min(axis=0), floor + manner.clear)
    free = frames_to_holds(held)
    rise = smooth(free / RISE)
    up = offsets[:, 1].copy()
    needed = np.maximum(floor - ball[:, 1] - up, (floor - heel[:, 1] - up) * rise)
    wanted = np.maximum(
        manner.clear * _hurry(manner, ball + offsets, fps) - (ball[:, 1] + up - levels),
        HEEL_CLEAR * _hurry(manner, heel + offsets, fps) - (heel[:, 1] + up - floor),
    )
    apart = np.abs(np.arange(n)[:, None] - np.arange(n))
    lift = _spread(np.where(seams, 0.0, wanted), apart, RISE, np.full(n, RISE + 1.0))
    least = _spread(np.where(seams, 0.0, needed), apart, RISE, np.minimum(RISE + 1.0, free))
    offsets[:, 1] += np.where(seams, 0.0, np.maximum(lift * rise, least))
    way = heel - ball
    length = np.linalg.norm(way, axis=-1)
    lowest = floor - np.maximum(ball[:, 1] + offsets[:, 1], floor)
    needs = np.arcsin(np.maximum(lowest / length, -1.0)) - np.arcsin(way[:, 1] / length)
    needs = np.where(way[:, 1] < lowest, needs, 0.0)
    needs[[0, -1]] = 0.0
    to_seam = np.minimum(np.arange(n), n - 1 - np.arange(n))
    tilts = _spread(needs, apart, TILT, np.minimum(TILT + 1.0, to_seam))
    tilts[[0, -1]] = 0.0
    return offsets, tilts


def _spread(values: FloatArray, apart: IntArray, reach: int, widths: FloatArray) -> FloatArray:
    """The largest of what values have left so many frames away."""
    left = np.maximum(1.0 - (apart / np.maximum(widths, 1e-9)) ** 2, 0.0) * (apart <= reach)
    return np.maximum(values * left**2, 0.0).max(axis=1)


def _hurry(manner: Manner, point: FloatArray, fps: float) -> FloatArray:
    """From 0 for a foot point that stands to 1 for one that goes fast over the ground."""
    speed = np.zeros(len(point))
    speed[1:-1] = 0.5 * fps * np.hypot(*(point[2:] - point[:-2])[:, ::2].T)
    return smooth((speed - manner.slow) / (manner.fast - manner.slow))


def frames_to_holds(held: IntArray) -> FloatArray:
    """Frames (L,) from each one to the nearest that is held or at a seam."""
    n = len(held)
    seams = np.flatnonzero((held != NOT_HELD) | np.isin(np.arange(n), [0, n - 1]))
    return np.abs(np.arange(n)[:, None] - seams).min(axis=1).astype(np.float64)
