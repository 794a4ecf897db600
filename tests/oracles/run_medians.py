"""Medians of runs of frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import FloatArray


def run_medians(values: FloatArray, runs: Sequence[tuple[int, int]]) -> FloatArray:
    """The plain form of :func:`run_medians`."""
    medians = [np.median(values[first : last + 1], axis=0) for first, last in runs]
    return np.array(medians, dtype=np.float64).reshape(len(runs), *values.shape[1:])
