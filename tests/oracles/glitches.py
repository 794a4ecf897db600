"""Plain forms of the search for joints that are fast, or leave their way, in one frame only."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray

__all__ = ["bent_frames", "spikes"]


def spikes(
    speeds: FloatArray, half: int, *, fast: float, steady: float, ratio: float
) -> list[tuple[int, int, float]]:
    """Step, joint and ratio of every spike, step by step."""
    found = []
    for f, j in np.argwhere(speeds > fast):
        around = np.concatenate(
            [speeds[max(f - half, 0) : max(f - 1, 0), j], speeds[f + 2 : f + half + 1, j]]
        )
        if not around.size:
            continue
        busy = np.sort(around)[int(0.8 * around.size)]
        times = float(speeds[f, j] / (busy + steady))
        if times > ratio:
            found.append((int(f), int(j), times))
    return found


def bent_frames(
    positions: FloatArray,
    fps: float,
    *,
    stride: int,
    half: int,
    sharp: float,
    beside: float,
    sharpest: float,
    ratio: float,
    calm: float,
) -> dict[int, int]:
    """Frames in which a joint leaves its way, each with the joint that leaves it most."""
    bends = _bends(positions, fps, stride)
    single = bends if stride == 1 else _bends(positions, fps, 1)
    found: dict[int, int] = {}
    for f, j in np.argwhere(bends > sharp):
        if max(bends[f - stride, j], bends[f + stride, j]) > beside * bends[f, j]:
            continue
        if single[f, j] < sharpest * single[f - stride + 1 : f + stride, j].max():
            continue
        around = _around(bends[f % stride :: stride, j], int(f) // stride, half)
        if bends[f, j] <= ratio * (around + calm):
            continue
        if int(f) not in found or bends[f, j] > bends[f, found[int(f)]]:
            found[int(f)] = int(j)
    return found


def _bends(positions: FloatArray, fps: float, stride: int) -> FloatArray:
    """How sharply every joint's way bends, m/s², from frames ``stride`` before and after. (F, J).

    0 in the first and the last ``stride`` frames.
    """
    bends = np.zeros(positions.shape[:2])
    middle = positions[stride:-stride] - 0.5 * (positions[: -2 * stride] + positions[2 * stride :])
    bends[stride:-stride] = 2.0 * (fps / stride) ** 2 * np.linalg.norm(middle, axis=-1)
    return bends


def _around(bends: FloatArray, frame: int, half: int) -> float:
    """What is usual just before and after a frame: four of five are below it."""
    near = [bends[max(frame - half, 1) : max(frame - 1, 1)], bends[frame + 2 : frame + half + 1]]
    around = np.sort(np.concatenate(near))
    return float(around[int(0.8 * len(around))]) if len(around) else float("inf")
