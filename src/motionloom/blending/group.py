"""Group: the examples of a curve laid out for kernels, and where they stand at a parameter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel
from motionloom.registration.curve import RegistrationCurve

_stand = kernel("ml_group_stand")


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


class Group:
    """The examples of a curve, one after the other in memory."""

    def __init__(self, curve: RegistrationCurve) -> None:
        motions = curve.motions
        self.curve = curve
        self.quats = np.concatenate([m.local_quats for m in motions])
        self.positions = np.concatenate([m.root_positions for m in motions])
        ends = np.cumsum([m.n_frames for m in motions], dtype=np.int64)
        self.starts = np.concatenate([np.zeros(1, dtype=np.int64), ends])
        self.times = np.ascontiguousarray(curve.times.points, dtype=np.float64)
        still = np.zeros((len(self.times), 3))
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
            k, len(self.times), self.times, self.aligning, self.curve.reference,
            len(self.positions), self.starts, self.positions, n,
            np.ascontiguousarray(u, dtype=np.float64), *standing,
        )  # fmt: skip
        return standing
