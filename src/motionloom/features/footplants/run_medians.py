"""Medians of runs of frames: what plants ask for most often."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel

_medians = kernel("ml_run_medians")


def run_medians(values: FloatArray, runs: Sequence[tuple[int, int]]) -> FloatArray:
    """Median of ``values`` over each run.

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
    n, n_columns = len(values), prod(values.shape[1:])
    columns = np.ascontiguousarray(values, dtype=np.float64)
    out = np.zeros((len(runs), *values.shape[1:]))
    _medians(n, n_columns, columns, len(runs), spans, np.zeros(n), out)
    return out
