"""Blend kernel: track and local rotations of a recipe, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.transitions.collecting.frames import FloatArray32
from motionloom.transitions.compiled import inner

__all__ = ["blend_rotations", "blend_track"]

SIGN_STRIDE = 4
"""Every how many frames two windows are compared for the sign of their quaternions."""


@njit(cache=True, error_model="numpy")
def blend_track(
    heading: FloatArray,
    ground: FloatArray,
    body: FloatArray32,
    at: IntArray,
    weights: FloatArray,
    psi: FloatArray,
    root: FloatArray,
) -> None:
    """Heading (L,) and root (L, 3) of a blend from where its source stands; see ``track_of``."""
    n_frames, n_ways = at.shape
    psi[0] = heading[at[0, 0]]
    root[0, 0], root[0, 2] = ground[at[0, 0], 0], ground[at[0, 0], 1]
    for t in range(n_frames):
        height = 0.0
        for i in range(n_ways):
            height += weights[i, t] * body[at[t, i], 0, 1]
        root[t, 1] = height
    for t in range(1, n_frames):
        turn, ahead, aside = 0.0, 0.0, 0.0
        for i in range(n_ways):
            now, before = at[t, i], at[t - 1, i]
            w = weights[i, t]
            if now == before or w == 0.0:
                continue
            turn += w * (heading[now] - heading[before])
            cos, sin = np.cos(heading[before]), np.sin(heading[before])
            x, z = ground[now, 0] - ground[before, 0], ground[now, 1] - ground[before, 1]
            aside += w * (cos * x - sin * z)
            ahead += w * (sin * x + cos * z)
        cos, sin = np.cos(psi[t - 1]), np.sin(psi[t - 1])
        root[t, 0] = root[t - 1, 0] + cos * aside + sin * ahead
        root[t, 2] = root[t - 1, 2] + cos * ahead - sin * aside
        psi[t] = psi[t - 1] + turn


@inner(error_model="numpy")
def _signs(flat: FloatArray32, at: IntArray, weights: FloatArray, signs: FloatArray32) -> None:
    """Sign (N, 4 J) of every window's quaternions that goes with the window before it.

    One sign a window and joint: clips are continuous in sign, so blends are.
    """
    n_frames, n_ways = at.shape
    for k in range(signs.shape[1]):
        signs[0, k] = np.float32(1.0)
    total = np.zeros(flat.shape[1], dtype=np.float32)
    for i in range(1, n_ways):
        for k in range(len(total)):
            total[k] = np.float32(0.0)
        for t in range(0, n_frames, SIGN_STRIDE):
            a, b = flat[at[t, i]], flat[at[t, i - 1]]
            share = np.float32(weights[i, t] * weights[i - 1, t] + 1e-6)
            for k in range(len(total)):
                total[k] += share * a[k] * b[k]
        for k in range(0, len(total), 4):
            like = total[k] + total[k + 1] + total[k + 2] + total[k + 3] >= 0.0
            for c in range(k, k + 4):
                signs[i, c] = signs[i - 1, c] if like else -signs[i - 1, c]


@njit(cache=True, error_model="numpy")
def blend_rotations(
    quats: FloatArray32, at: IntArray, weights: FloatArray, psi: FloatArray, out: FloatArray
) -> None:
    """Local rotations (L, J, 4) of a blend, the root turned to its heading.

    Normalised weighted sums: the mean of rotations in the sense of the smallest squared chords.
    It differs from Park's mean (``mean_of_rotations``) by a twentieth of a degree where poses are
    alike and by a few degrees where joints differ by a right angle, at a tenth of its cost.
    """
    n_frames, n_ways = at.shape
    n_joints = quats.shape[1]
    flat = quats.reshape(len(quats), 4 * n_joints)
    signs = np.zeros((n_ways, 4 * n_joints), dtype=np.float32)
    _signs(flat, at, weights, signs)
    mixed = np.zeros(4 * n_joints, dtype=np.float32)
    for t in range(n_frames):
        for k in range(len(mixed)):
            mixed[k] = np.float32(0.0)
        for i in range(n_ways):
            share, row, sign = np.float32(weights[i, t]), flat[at[t, i]], signs[i]
            for k in range(len(mixed)):
                mixed[k] += share * sign[k] * row[k]
        for j in range(n_joints):
            w, x, y, z = mixed[4 * j], mixed[4 * j + 1], mixed[4 * j + 2], mixed[4 * j + 3]
            square = np.float64(w * w + x * x + y * y + z * z)
            if square < 1e-9:  # opposite rotations in equal parts: the source's is as good as any
                q = quats[at[t, 0], j]
                w, x, y, z = q[0], q[1], q[2], q[3]
            a, b, c, d = np.float64(w), np.float64(x), np.float64(y), np.float64(z)
            norm = 1.0 / np.sqrt(a * a + b * b + c * c + d * d)
            out[t, j, 0], out[t, j, 1] = a * norm, b * norm
            out[t, j, 2], out[t, j, 3] = c * norm, d * norm
        c, s = np.cos(0.5 * psi[t]), np.sin(0.5 * psi[t])
        w, x, y, z = out[t, 0, 0], out[t, 0, 1], out[t, 0, 2], out[t, 0, 3]
        out[t, 0, 0], out[t, 0, 1] = c * w - s * y, c * x + s * z
        out[t, 0, 2], out[t, 0, 3] = c * y + s * w, c * z - s * x
