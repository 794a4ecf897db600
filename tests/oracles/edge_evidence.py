"""Evidence for the instant at which a point comes to rest."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray


def edge_evidence(
    tracks: FloatArray,
    rests: FloatArray,
    densities: FloatArray,
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
    for density in densities:
        factor = np.linalg.cholesky(standing + density * moving)  # (K, W, W)
        half_logs = np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
        white = np.linalg.solve(factor, tracks.reshape(n, -1)[None])  # (K, W, M A)
        logs.append(-0.5 * np.square(white).sum(axis=1) - half_logs[:, None])
    best = np.logaddexp.reduce(logs, axis=0)  # (K, M A)
    return np.asarray(best.reshape(len(rests), *tracks.shape[1:]).sum(axis=-1).T)
