"""The alignment curve: where each motion must be moved to stand with the reference, over time.

Turn and place are not splined as the transform's own three numbers: far from the world's origin a
small error of the turn would throw the place by metres. Splined instead are the turn and how far
from the reference's root the motion's own root comes to lie: small numbers that change slowly.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.registration.distance import Aligned
from motionloom.registration.splines import Spline, fit_spline
from motionloom.rotation.planar import PlanarTransform

TRUSTED, DISTRUSTED = np.radians(30.0), np.radians(60.0)
"""A turn this far from the one between the bodies' headings is kept; one that far is not."""


def alignment_samples(
    grid: Aligned,
    cells: IntArray,
    roots: FloatArray,
    reference_roots: FloatArray,
    *,
    width: int = 5,
    headings: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """Turn and root offset along a path, unwrapped and freed of outliers. (N, 3).

    Parameters
    ----------
    grid
        Reference against motion.
    cells : (N, 2)
        Matched frames of the two.
    roots : (m, 3)
        The motion's root positions at the grid's frames, metres.
    reference_roots : (n, 3)
        The reference's.
    width
        Frames of the median filter, odd.
    headings : (m,), (n,)
        Where the motion's body and the reference's face at the grid's frames, radians; where given,
        they guard the turn.
    """
    i, j = cells.T
    theta, offset = grid.alignment(i, j)
    carried = PlanarTransform(theta, offset[:, 0], offset[:, 1]).apply(roots[j])
    if headings is not None and np.isfinite(headings[0]).all() and np.isfinite(headings[1]).all():
        theta = guarded_turns(theta, headings[1][i] - headings[0][j])
    theta = np.unwrap(theta)
    apart = carried - reference_roots[i]
    # A median of coordinates depends on the axes: it is taken along and across the way the
    # reference goes, so that turning the world changes nothing.
    way = reference_roots[i[-1]] - reference_roots[i[0]]
    along = PlanarTransform(-np.arctan2(way[0], way[2]), 0.0, 0.0)
    local = along.apply(apart)
    filtered = median_filter(np.stack([theta, local[:, 0], local[:, 2]], axis=-1), width)
    back = along.inverse().apply(
        np.stack([filtered[:, 1], np.zeros_like(theta), filtered[:, 2]], axis=-1)
    )
    return np.stack([filtered[:, 0], back[:, 0], back[:, 2]], axis=-1)


def guarded_turns(theta: FloatArray, faced: FloatArray) -> FloatArray:
    """Turns of clouds, (N,), as far as they agree with how much the bodies face apart, ``faced``.

    Two bodies in opposite phases of a step fit best when one is turned until its legs and arms lie
    over the other's: a turn of the cloud that the body does not have. A turn within 30 degrees of
    the bodies' own is kept; beyond 60 degrees the bodies' own is used, and between the two it goes
    over from one to the other.
    """
    apart = np.remainder(theta - faced + np.pi, 2.0 * np.pi) - np.pi
    part = np.clip((np.abs(apart) - TRUSTED) / (DISTRUSTED - TRUSTED), 0.0, 1.0)
    share = 1.0 - part * part * (3.0 - 2.0 * part)
    return np.asarray(np.where(share == 1.0, theta, faced + share * apart))


def fit_alignment(u: FloatArray, samples: FloatArray, n_points: int) -> Spline:
    """Spline of turn and root offset through samples at ``u``."""
    return fit_spline(u, samples, n_points)


def transform_at(
    values: FloatArray, roots: FloatArray, reference_roots: FloatArray
) -> PlanarTransform:
    """The transform that turns by ``values[..., 0]`` and puts the root next to the reference's.

    Parameters
    ----------
    values : (..., 3)
        From the alignment spline: turn, and offset (x, z) from the reference's root.
    roots, reference_roots : (..., 3)
        Where both roots are in their own coordinates there, metres.
    """
    theta = values[..., 0]
    turned = PlanarTransform(theta, 0.0, 0.0).apply(roots)
    place = reference_roots - turned
    return PlanarTransform(theta, place[..., 0] + values[..., 1], place[..., 2] + values[..., 2])


def median_filter(values: FloatArray, width: int) -> FloatArray:
    """Running median along the first axis; towards the ends the window shrinks. (N, K)."""
    n, half = len(values), width // 2
    out = np.array(values)
    if n > 2 * half:
        windows = np.lib.stride_tricks.sliding_window_view(values, 2 * half + 1, axis=0)
        out[half : n - half] = np.median(windows, axis=-1)
    for i in [*range(min(half, n)), *range(max(n - half, 0), n)]:
        reach = min(half, i, n - 1 - i)
        out[i] = np.median(values[i - reach : i + reach + 1], axis=0)
    return out
