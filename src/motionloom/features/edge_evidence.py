"""Evidence for the instant at which a point comes to rest: both sides are Gaussian processes."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray

__all__ = ["edge_evidence", "edge_evidence_numpy"]


@njit(cache=True, error_model="numpy")
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
    Up to the instant the point stands whatever the pace, so what does not depend on either is
    factored once. Noise is white, of size ``sigma``, and whatever else of it has the
    autocovariance ``sway`` by lag (at least W values).
    """
    n, n_tracks, n_axes = tracks.shape
    still = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            still[i, j] = 1.0 + drift * drift * (i / fps) * (j / fps) + sway[i - j]
        still[i, i] += sigma * sigma
    factor_still = still.copy()
    _factor(factor_still, 0)
    white_still = np.zeros((n, n_tracks * n_axes))
    for i in range(n):
        for c in range(n_tracks * n_axes):
            white_still[i, c] = tracks[i, c // n_axes, c % n_axes]
    _whiten(factor_still, white_still, 0)

    out = np.zeros((n_tracks, len(rests)))
    factor, white = np.zeros((n, n)), np.zeros((n, n_tracks * n_axes))
    since, best = np.zeros(n), np.zeros(n_tracks * n_axes)
    for k in range(len(rests)):
        stands = n
        for i in range(n - 1, -1, -1):
            since[i] = max((i - rests[k]) / fps, 0.0)
            if since[i] > 0.0:
                stands = i
        best[:] = -np.inf
        for pace in paces:
            factor[:stands] = factor_still[:stands]
            white[:stands] = white_still[:stands]
            for i in range(stands, n):
                for j in range(i + 1):
                    low, high = since[j], since[i]
                    moved = impact * low * high + low * low * (high / 2.0 - low / 6.0)
                    factor[i, j] = still[i, j] + pace * moved
                for c in range(n_tracks * n_axes):
                    white[i, c] = tracks[i, c // n_axes, c % n_axes]
            _factor(factor, stands)
            _whiten(factor, white, stands)
            half_log = 0.0
            for i in range(n):
                half_log += np.log(factor[i, i])
            for c in range(n_tracks * n_axes):
                fit = 0.0
                for i in range(n):
                    fit += white[i, c] * white[i, c]
                best[c] = np.logaddexp(best[c], -0.5 * fit - half_log)
        for c in range(n_tracks * n_axes):
            out[c // n_axes, k] += best[c]
    return out


@njit(cache=True, error_model="numpy")
def _factor(matrix: FloatArray, first: int) -> None:
    """Cholesky factor in place of the lower half; rows before ``first`` are factored already."""
    for i in range(first, len(matrix)):
        for j in range(i):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total / matrix[j, j]
        total = matrix[i, i]
        for k in range(i):
            total -= matrix[i, k] * matrix[i, k]
        matrix[i, i] = np.sqrt(total)


@njit(cache=True, error_model="numpy")
def _whiten(factor: FloatArray, columns: FloatArray, first: int) -> None:
    """Solve ``factor @ x = columns`` in place; rows before ``first`` are solved already."""
    for i in range(first, len(factor)):
        for c in range(columns.shape[1]):
            total = columns[i, c]
            for k in range(i):
                total -= factor[i, k] * columns[k, c]
            columns[i, c] = total / factor[i, i]


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
