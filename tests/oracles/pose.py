"""Mixed poses."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.rotation import quat


def mix_poses(
    quats: FloatArray,
    starts: IntArray,
    frames: FloatArray,
    weights: FloatArray,
    headings: FloatArray,
) -> FloatArray:
    """The plain form of :func:`mix_poses`; its centre is the fully converged mean."""
    picked = []
    for k in range(frames.shape[1]):
        own = quats[starts[k] : starts[k + 1]]
        low = np.clip(np.floor(frames[:, k]).astype(np.int64), 0, len(own) - 1)
        high = np.minimum(low + 1, len(own) - 1)
        q = quat.slerp(own[low], own[high], np.maximum(frames[:, k] - low, 0.0)[:, None])
        turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), headings[:, k])
        q[:, 0] = quat.multiply(turn, q[:, 0])
        picked.append(q)
    return quat.mean(np.stack(picked, axis=-2), weights[:, None, :])
