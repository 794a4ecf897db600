"""How feet stand."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray


def stood(feet: FloatArray, body: FloatArray, slides: FloatArray) -> FloatArray:
    """How often feet (F, P, 3) stand if they slide at each of these parts of ``body`` (F, 3)."""
    left = feet[None] - slides[:, None, None, None] * body[None, :, None]
    return np.asarray((1.0 / (1.0 + (left**2).sum(axis=-1) / 0.1**2)).sum(axis=(1, 2)))
