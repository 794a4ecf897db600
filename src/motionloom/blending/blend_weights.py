"""Weights: checked, and laid out over the frames of a blend."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError

SUM_TOLERANCE = 1e-6
LARGEST = 1e3
"""Largest weight, of either sign."""


def checked_weights(weights: npt.ArrayLike, n_motions: int) -> FloatArray:
    """Weights (K,) or (N, K) as floats that sum to exactly one.

    Negative weights extrapolate; they are allowed.
    """
    try:
        w = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArrayError(f"`weights` must be numbers, got {weights!r}.") from error
    if w.ndim not in (1, 2) or w.shape[-1] != n_motions:
        count = w.shape[-1] if w.ndim else 0
        raise ArrayError(f"`weights` must have one value per example ({n_motions}), got {count}.")
    if not len(w):
        raise ArrayError("`weights` must have at least one row, got none.")
    if not np.isfinite(w).all():
        raise ArrayError("`weights` must be finite, got nan or infinity.")
    if np.abs(w).max() > LARGEST:
        raise ArrayError(
            f"`weights` must lie within {LARGEST:g}, got {np.abs(w).max():g}. Blends so far beyond "
            "the examples are no motion."
        )
    total = w.sum(axis=-1, keepdims=True)
    if np.any(np.abs(total - 1.0) > SUM_TOLERANCE):
        worst = float(total.ravel()[np.argmax(np.abs(total - 1.0))])
        raise ArrayError(
            f"`weights` must sum to 1, got {worst:g}. Divide them by their sum, if it is not 0."
        )
    return np.asarray(w / total)


def checked_row(weights: npt.ArrayLike, n_motions: int) -> FloatArray:
    """Weights (K,) of one frame."""
    w = checked_weights(weights, n_motions)
    if w.ndim != 1:
        raise ArrayError(f"`weights` must be one row for one frame, got {len(w)} rows.")
    return w
