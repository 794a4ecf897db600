"""Which frames of a plant are held."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray


def trim(
    velocities: FloatArray, body: FloatArray, label: tuple[int, int], kept: float
) -> tuple[int, int, float]:
    """First and last frame held of a point (F, 3), and the fastest that it moves."""
    first, last = label
    quarter = (last - first + 1) // 4
    middle = slice(first + quarter, last - quarter + 1)
    slide = velocities[middle].mean(axis=0)
    speeds = np.linalg.norm(velocities[first : last + 1] - slide, axis=-1)
    stands = np.clip(0.13 * np.linalg.norm(body[middle].mean(axis=0)), 0.3, 0.45)
    a, b = 0, len(speeds) - 1
    for _ in range(int((1.0 - kept) * len(speeds))):
        if max(speeds[a], speeds[b]) < stands:
            break
        a, b = (a + 1, b) if speeds[a] >= speeds[b] else (a, b - 1)
    return first + a, first + b, float(speeds.max())
