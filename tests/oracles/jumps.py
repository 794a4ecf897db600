"""Joints that turn too far."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray


def turns_beyond(quats: FloatArray, cosine: float) -> tuple[IntArray, IntArray]:
    """Frames and joints whose half turn to the next frame has a cosine below this."""
    dots = np.abs(np.sum(quats[1:] * quats[:-1], axis=-1))
    frames, joints = np.nonzero(dots < cosine)
    return frames, joints
