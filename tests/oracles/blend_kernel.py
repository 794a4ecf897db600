"""Rotations of a blend; its track is :func:`motionloom.tables.synthesis.recipe.track_of`."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom.rotation import quat
from motionloom.tables.synthesis.synthesis_rig import Rows
from tests.oracles.quat import multiply


def blend_rotations(rows: Rows, at: IntArray, weights: FloatArray, psi: FloatArray) -> FloatArray:
    """Local rotations (L, J, 4) of windows (L, N) weighed (N, L), the root turned to a heading."""
    q = np.array(rows.quats[at])  # (L, N, J, 4)
    mixed = np.zeros_like(q[:, 0])
    for i in range(at.shape[1]):
        if i > 0:
            share = (weights[i, ::4] * weights[i - 1, ::4] + 1e-6).astype(np.float32)
            like = np.einsum("t,tjc,tjc->j", share, q[::4, i], q[::4, i - 1])
            q[:, i] *= np.where(like >= 0.0, 1.0, -1.0).astype(np.float32)[:, None]
        mixed += weights[i].astype(np.float32)[:, None, None] * q[:, i]
    none = np.sum(mixed**2, axis=-1) < 1e-9
    mixed[none] = q[:, 0][none]
    out = quat.normalize(mixed.astype(np.float64))
    zero = np.zeros(len(psi))
    turn = np.stack([np.cos(0.5 * psi), zero, np.sin(0.5 * psi), zero], axis=-1)
    out[:, 0] = multiply(turn, out[:, 0])
    return out
