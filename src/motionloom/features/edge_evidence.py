"""Evidence for the instant at which a point comes to rest: both sides are Gaussian processes."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray

__all__ = ["edge_evidence", "edge_evidence_numpy"]


def edge_evidence(
    tracks: FloatArray,
    rests: FloatArray,
    paces: FloatArray,
    sigma: float,
    drift: float,
    fps: float,
    impact: float,
    sway: FloatArray,
) -> FloatArray:
    """Log evidence (M, K) of M tracks (W, M, A) for each of K instants of coming to rest.

    Tracks run from inside the plant outwards and begin near 0. ``rests`` (K,) are the instants in
    frames from the innermost one. Axes are independent, and each may move at any of the ``paces``.
    Up to the instant the point stands whatever the pace, so those frames are eliminated once for
    all paces and later instants, and only what is left of the others is factored each time. Noise
    is white, of size ``sigma``, and whatever else of it has the autocovariance ``sway`` by lag (at
    least W values).
    """
    # Put in order here: a kernel that sorts takes seconds longer to compile.
    return np.asarray(
        _edge_evidence(tracks, rests, np.argsort(rests), paces, sigma, drift, fps, impact, sway)
    )


@njit(cache=True, error_model="numpy", nogil=True)
def _edge_evidence(
    tracks: FloatArray,
    rests: FloatArray,
    earliest_first: IntArray,
    paces: FloatArray,
    sigma: float,
    drift: float,
    fps: float,
    impact: float,
    sway: FloatArray,
) -> FloatArray:
    n, n_tracks, n_axes = tracks.shape
    still = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            still[i, j] = 1.0 + drift * drift * (i / fps) * (j / fps) + sway[i - j]
        still[i, i] += sigma * sigma
    n_columns = n_tracks * n_axes
    columns = tracks.copy().reshape(n, n_columns)
    out = np.zeros((n_tracks, len(rests)))
    factor, white = np.zeros((n, n)), np.zeros((n, n_columns))
    since, best = np.zeros(n), np.zeros(n_columns)
    fit, fit_still = np.zeros(n_columns), np.zeros(n_columns)
    done, half_log_still = 0, 0.0
    for k in earliest_first:
        stands = done
        while stands < n and stands <= rests[k]:
            stands += 1
        half_log_still += _eliminate(still, columns, done, stands, fit_still)
        done = stands
        for i in range(stands, n):
            since[i] = (i - rests[k]) / fps
        for c in range(n_columns):
            best[c] = -np.inf
        for pace in paces:
            for i in range(stands, n):
                high = since[i]
                for j in range(stands, i + 1):
                    low = since[j]
                    moved = impact * low * high + low * low * (high / 2.0 - low / 6.0)
                    factor[i, j] = still[i, j] + pace * moved
                for c in range(n_columns):
                    white[i, c] = columns[i, c]
            for c in range(n_columns):
                fit[c] = fit_still[c]
            half_log = half_log_still + _eliminate(factor, white, stands, n, fit)
            for c in range(n_columns):
                best[c] = np.logaddexp(best[c], -0.5 * fit[c] - half_log)
        for c in range(n_columns):
            out[c // n_axes, k] += best[c]
    return out


@njit(cache=True, error_model="numpy")
def _eliminate(
    matrix: FloatArray, columns: FloatArray, first: int, end: int, fit: FloatArray
) -> float:
    """Half the logarithm of the determinant that rows ``first`` to ``end - 1`` of a matrix make.

    Those rows are taken out of the lower half of the matrix and out of ``columns``, by Cholesky,
    and what they explain of the columns is added to ``fit``.
    """
    half_log = 0.0
    for e in range(first, end):
        pivot = np.sqrt(matrix[e, e])
        half_log += np.log(pivot)
        for c in range(columns.shape[1]):
            columns[e, c] /= pivot
            fit[c] += columns[e, c] * columns[e, c]
        for i in range(e + 1, len(matrix)):
            matrix[i, e] /= pivot
            share = matrix[i, e]
            for j in range(e + 1, i + 1):
                matrix[i, j] -= share * matrix[j, e]
            for c in range(columns.shape[1]):
                columns[i, c] -= share * columns[e, c]
    return half_log


def edge_evidence_numpy(
    tracks: FloatArray,
    rests: FloatArray,
    paces: FloatArray,
    sigma: float,
    drift: float,
    fps: float,
    impact: float,
    sway: FloatArray,
) -> FloatArray:
    """The plain form of :func:`edge_evidence`."""
    n = len(tracks)
    time = np.arange(n) / fps
    standing = sigma**2 * np.eye(n) + np.ones((n, n)) + drift**2 * np.multiply.outer(time, time)
    standing += sway[np.abs(np.subtract.outer(np.arange(n), np.arange(n)))]
    since = np.maximum(time - rests[:, None] / fps, 0.0)  # (K, W)
    low = np.minimum(since[:, :, None], since[:, None, :])
    high = np.maximum(since[:, :, None], since[:, None, :])
    moving = impact * low * high + low**2 * (high / 2.0 - low / 6.0)
    logs = []
    for pace in paces:
        factor = np.linalg.cholesky(standing + pace * moving)  # (K, W, W)
        half_logs = np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
        white = np.linalg.solve(factor, tracks.reshape(n, -1)[None])  # (K, W, M A)
        logs.append(-0.5 * np.square(white).sum(axis=1) - half_logs[:, None])
    best = np.logaddexp.reduce(logs, axis=0)  # (K, M A)
    return np.asarray(best.reshape(len(rests), *tracks.shape[1:]).sum(axis=-1).T)
