"""Medians of runs of frames: what plants ask for most often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray

__all__ = ["run_medians", "run_medians_numpy"]


def run_medians(values: FloatArray, runs: Sequence[tuple[int, int]]) -> FloatArray:
    """Median of ``values`` over each run, the same numbers as :func:`run_medians_numpy`.

    Parameters
    ----------
    values : (F,) or (F, C)
        Finite numbers.
    runs
        First and last frame of R runs.

    Returns
    -------
    array : (R,) or (R, C)
    """
    spans = np.array(runs, dtype=np.int64).reshape(len(runs), 2)
    columns = values.reshape(len(values), -1)
    return np.asarray(_medians(columns, spans).reshape(len(runs), *values.shape[1:]))


def run_medians_numpy(values: FloatArray, runs: Sequence[tuple[int, int]]) -> FloatArray:
    """The plain form of :func:`run_medians`."""
    medians = [np.median(values[first : last + 1], axis=0) for first, last in runs]
    return np.array(medians, dtype=np.float64).reshape(len(runs), *values.shape[1:])


@njit(cache=True, error_model="numpy", nogil=True)
def _medians(columns: FloatArray, runs: IntArray) -> FloatArray:
    out = np.zeros((len(runs), columns.shape[1]))
    for r in range(len(runs)):
        first, last = runs[r]
        middle = (last - first) // 2
        for c in range(columns.shape[1]):
            track = np.sort(columns[first : last + 1, c])
            low = track[middle]
            if (last - first) % 2 == 1:
                low = (low + track[middle + 1]) / 2.0
            out[r, c] = low
    return out
