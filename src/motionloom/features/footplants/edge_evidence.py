"""Evidence for the instant at which a point comes to rest: both sides are Gaussian processes."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel

_evidence = kernel("ml_edge_evidence")


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
    """Log evidence (M, K) of M tracks (W, M, A) for each of K instants of coming to rest.

    Tracks run from inside the plant outwards and begin near 0. ``rests`` (K,) are the instants in
    frames from the innermost one. Axes are independent, and each may move at any of the
    ``densities``. Up to the instant the point stands whatever the density, so those frames are
    eliminated once for all densities and later instants, and only what is left of the
    others is factored each time. Noise is white, of size ``sigma``, and whatever else of it has the
    autocovariance ``sway`` by lag (at least W values).
    """
    n, n_tracks, n_axes = tracks.shape
    n_columns = n_tracks * n_axes
    work = np.zeros(3 * n * n + n + (2 * n + 2 + len(densities)) * n_columns)
    out = np.zeros((n_tracks, len(rests)))
    tracks, rests, densities, sway = (
        np.ascontiguousarray(each, dtype=np.float64)
        for each in (tracks, rests, densities, sway[:n])
    )
    _evidence(
        n, n_tracks, n_axes, tracks, len(rests), rests, np.argsort(rests),
        len(densities), densities, sigma, drift, fps, impact, sway, work, out,
    )  # fmt: skip
    return out
