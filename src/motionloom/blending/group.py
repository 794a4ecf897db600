"""Group: the examples of a curve laid out for kernels, and where they stand at a parameter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.registration.curve import RegistrationCurve

__all__ = ["Group", "Standing"]


class Standing(NamedTuple):
    """The aligned examples at N parameters."""

    frames: FloatArray
    """Frame of every example. (N, K)"""
    theta: FloatArray
    """Turn of every alignment, radians. (N, K)"""
    slide: FloatArray
    """Slide of every alignment, metres. (N, K, 2)"""
    roots: FloatArray
    """Root of every example after its alignment, metres. (N, K, 3)"""


@njit(cache=True, error_model="numpy")
def _stand(
    times: FloatArray,
    aligning: FloatArray,
    reference: int,
    positions: FloatArray,
    starts: IntArray,
    u: FloatArray,
    frames: FloatArray,
    theta: FloatArray,
    slide: FloatArray,
    roots: FloatArray,
) -> None:
    n_motions = times.shape[1]
    last_span = times.shape[0] - 3
    for i in range(len(u)):
        at = min(max(u[i], 0.0), last_span + 1.0)
        span = min(int(np.floor(at)), last_span)
        t = at - span
        b0, b1, b2 = 0.5 * (1 - t) * (1 - t), 0.5 * (1 + 2 * t - 2 * t * t), 0.5 * t * t
        for k in range(n_motions):
            f = b0 * times[span, k] + b1 * times[span + 1, k] + b2 * times[span + 2, k]
            last = starts[k + 1] - starts[k] - 1
            f = min(max(f, 0.0), float(last))
            frames[i, k] = f
            low = min(int(np.floor(f)), last)
            high = min(low + 1, last)
            part = f - low
            for c in range(3):
                a = positions[starts[k] + low, c]
                roots[i, k, c] = a + part * (positions[starts[k] + high, c] - a)
        for k in range(n_motions):
            if k == reference:
                continue
            p = aligning[k]
            turn = b0 * p[span, 0] + b1 * p[span + 1, 0] + b2 * p[span + 2, 0]
            dx = b0 * p[span, 1] + b1 * p[span + 1, 1] + b2 * p[span + 2, 1]
            dz = b0 * p[span, 2] + b1 * p[span + 1, 2] + b2 * p[span + 2, 2]
            cos, sin = np.cos(turn), np.sin(turn)
            x, z = roots[i, k, 0], roots[i, k, 2]
            theta[i, k] = turn
            place_x, place_z = roots[i, reference, 0] + dx, roots[i, reference, 2] + dz
            slide[i, k, 0] = place_x - (cos * x + sin * z)
            slide[i, k, 1] = place_z - (cos * z - sin * x)
            roots[i, k, 0], roots[i, k, 2] = place_x, place_z


class Group:
    """The examples of a curve, one after the other in memory."""

    def __init__(self, curve: RegistrationCurve) -> None:
        motions = curve.motions
        self.curve = curve
        self.quats = np.concatenate([m.local_quats for m in motions])
        self.positions = np.concatenate([m.root_positions for m in motions])
        self.starts = np.concatenate([[0], np.cumsum([m.n_frames for m in motions])])
        still = np.zeros((len(curve.times.points), 3))
        self.aligning = np.stack([still if s is None else s.points for s in curve.alignment])

    def at(self, u: FloatArray) -> Standing:
        """Where every example stands at parameters ``u`` (N,), in the spline's own units.

        The compiled form of ``curve.frames`` and ``curve.alignments``.
        """
        n, k = len(u), len(self.curve.motions)
        standing = Standing(
            np.zeros((n, k)), np.zeros((n, k)), np.zeros((n, k, 2)), np.zeros((n, k, 3))
        )
        _stand(
            np.ascontiguousarray(self.curve.times.points),
            self.aligning,
            self.curve.reference,
            self.positions,
            self.starts,
            np.ascontiguousarray(u),
            *standing,
        )
        return standing
