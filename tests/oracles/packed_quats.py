"""Rotations out of the seven bytes that a run-time file keeps of each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom.tables.runtime_file import QUAT_BITS, STEPS


def unpacked_quats(packed: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Rotations of ``packed_quats``, the largest part positive."""
    word = np.zeros(packed.shape[:-1], dtype=np.uint64)
    for k in range(7):
        word |= packed[..., k].astype(np.uint64) << np.uint64(8 * k)
    largest = (word & np.uint64(3)).astype(np.int64)[..., None]
    steps = [word >> np.uint64(2 + QUAT_BITS * k) & np.uint64(STEPS) for k in range(3)]
    parts = (2.0 * np.stack(steps, axis=-1).astype(np.float64) / STEPS - 1.0) * np.sqrt(0.5)
    rest = np.sqrt(np.maximum(0.0, 1.0 - np.sum(parts**2, axis=-1, keepdims=True)))
    places = np.argsort(np.arange(4) == largest, axis=-1, kind="stable")
    quats = np.zeros((*packed.shape[:-1], 4))
    np.put_along_axis(quats, places, np.concatenate([parts, rest], axis=-1), axis=-1)
    return quats
