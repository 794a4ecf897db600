"""Local regression."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray

ONE_SIDED = 1.0


def local_fit(values: FloatArray, weights: FloatArray, half: int, degree: int) -> FloatArray:
    """Polynomials of ``degree`` fitted around every frame, at that frame. (F, C)."""
    n = len(values)
    width, frame = min(2 * half + 1, n), np.arange(n)
    first = np.clip(frame - half, 0, n - width)
    near = first[:, None] + np.arange(width)  # (F, W)
    reach = np.maximum(frame - first, first + width - 1 - frame) + 1.0
    offset = (near - frame[:, None]) / reach[:, None]
    kernel = (1.0 - np.abs(offset) ** 3) ** 3
    one_sided = (kernel * offset).sum(axis=1) / kernel.sum(axis=1)
    kernel = kernel * weights[near]
    powers = kernel[..., None] * offset[..., None] ** np.arange(2 * degree + 1)  # (F, W, 2d + 1)
    sums, order = powers.sum(axis=1), np.arange(degree + 1)
    normal = sums[:, order[:, None] + order]  # (F, d + 1, d + 1)
    if degree == 2:
        normal[:, 2, 2] += ONE_SIDED * one_sided**2 * sums[:, 0]
    right = np.swapaxes(powers[..., : degree + 1], 1, 2) @ values[near]  # (F, d + 1, C)
    return np.asarray(np.linalg.solve(normal, right)[:, 0])
