"""The mean pose: local rotations of several motions at fractional frames, mixed by weights.

Park et al. 2002, as [KG03]_ use it: logarithms about an unweighted mean, averaged by the weights,
and taken back. Exact where one weight is one, equal to slerp for two motions, continuous in the
weights, and good for weights below zero.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.rotation import quat

__all__ = ["mix_poses", "mix_poses_numpy"]


@njit(cache=True, error_model="numpy")
def _slerp_into(a: FloatArray, b: FloatArray, t: float, out: FloatArray) -> None:
    """Neighbouring frames: the angle is small nearly always, and a series saves three sines."""
    dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    sign = 1.0
    if dot < 0.0:
        dot, sign = -dot, -1.0
    d = 1.0 - min(dot, 1.0)
    if d < 2e-3:  # below 0.063 rad the terms left out are under 1e-13
        square = d * (2.0 + d * (1.0 / 3.0 + d * (4.0 / 45.0)))
        s, r = t * t, (1.0 - t) * (1.0 - t)
        wb = t * (1.0 + square * ((1.0 - s) / 6.0 + square * (7.0 - 10.0 * s + 3.0 * s * s) / 360.0))
        wa = (1.0 - t) * (
            1.0 + square * ((1.0 - r) / 6.0 + square * (7.0 - 10.0 * r + 3.0 * r * r) / 360.0)
        )
    else:
        angle = np.arccos(min(dot, 1.0))
        sine = np.sin(angle)
        wa, wb = np.sin((1.0 - t) * angle) / sine, np.sin(t * angle) / sine
    wb *= sign
    norm = 0.0
    for c in range(4):
        out[c] = wa * a[c] + wb * b[c]
        norm += out[c] * out[c]
    norm = 1.0 / np.sqrt(norm)
    for c in range(4):
        out[c] *= norm


@njit(cache=True, error_model="numpy")
def _add_log(q: FloatArray, p: FloatArray, weight: float, out: FloatArray) -> float:
    """Add ``weight * log(q^-1 p)`` to out, the short way; the angle comes back."""
    w = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3]
    x = q[0] * p[1] - q[1] * p[0] - q[2] * p[3] + q[3] * p[2]
    y = q[0] * p[2] + q[1] * p[3] - q[2] * p[0] - q[3] * p[1]
    z = q[0] * p[3] - q[1] * p[2] + q[2] * p[1] - q[3] * p[0]
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    square = x * x + y * y + z * z
    if square < 1e-4:
        scale = 2.0 * (1.0 + square * (1.0 / 6.0 + square * (3.0 / 40.0 + square * 5.0 / 112.0)))
        angle = scale * np.sqrt(square)
    else:
        sine = np.sqrt(square)
        angle = 2.0 * np.arctan2(sine, w)
        scale = angle / sine
    out[0] += weight * scale * x
    out[1] += weight * scale * y
    out[2] += weight * scale * z
    return angle


@njit(cache=True, error_model="numpy")
def _times_exp(q: FloatArray, v: FloatArray, out: FloatArray) -> None:
    """``q exp(v)`` at unit length."""
    square = 0.25 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    if square < 1e-4:
        w = 1.0 - square * (0.5 - square * (1.0 / 24.0 - square / 720.0))
        s = 0.5 * (1.0 - square * (1.0 / 6.0 - square * (1.0 / 120.0 - square / 5040.0)))
    else:
        half = np.sqrt(square)
        w, s = np.cos(half), 0.5 * np.sin(half) / half
    x, y, z = s * v[0], s * v[1], s * v[2]
    a, b, c, d = q[0], q[1], q[2], q[3]
    out[0] = a * w - b * x - c * y - d * z
    out[1] = a * x + b * w + c * z - d * y
    out[2] = a * y - b * z + c * w + d * x
    out[3] = a * z + b * y - c * x + d * w
    norm = 1.0 / np.sqrt(out[0] ** 2 + out[1] ** 2 + out[2] ** 2 + out[3] ** 2)
    for k in range(4):
        out[k] *= norm


@njit(cache=True, error_model="numpy")
def _mix_rows(
    quats: FloatArray,
    starts: IntArray,
    frames: FloatArray,
    weights: FloatArray,
    turns: FloatArray,
    out: FloatArray,
    spread: FloatArray,
) -> None:
    n_rows, n_motions = frames.shape
    n_joints = quats.shape[1]
    picked = np.zeros((n_motions, 4))
    centre, v, turned = np.zeros(4), np.zeros(3), np.zeros(4)
    for i in range(n_rows):
        for j in range(n_joints):
            for k in range(n_motions):
                low = int(np.floor(frames[i, k]))
                last = starts[k + 1] - starts[k] - 1
                low = min(max(low, 0), last)
                t = frames[i, k] - low
                a = quats[starts[k] + low, j]
                if t <= 0.0 or low == last:
                    picked[k, 0], picked[k, 1], picked[k, 2], picked[k, 3] = a[0], a[1], a[2], a[3]
                else:
                    _slerp_into(a, quats[starts[k] + low + 1, j], t, picked[k])
                if j == 0:  # the root is turned about the up axis before it is mixed
                    c, s = turns[i, k, 0], turns[i, k, 1]
                    p = picked[k]
                    turned[0], turned[1] = c * p[0] - s * p[2], c * p[1] + s * p[3]
                    turned[2], turned[3] = c * p[2] + s * p[0], c * p[3] - s * p[1]
                    for d in range(4):
                        p[d] = turned[d]
            # Unweighted centre: sum with matching signs, then a step of the geodesic mean.
            for d in range(4):
                centre[d] = picked[0, d]
            for k in range(1, n_motions):
                dot = 0.0
                for d in range(4):
                    dot += picked[0, d] * picked[k, d]
                sign = -1.0 if dot < 0.0 else 1.0
                for d in range(4):
                    centre[d] += sign * picked[k, d]
            norm = 0.0
            for d in range(4):
                norm += centre[d] * centre[d]
            if norm < 1e-12:
                for d in range(4):
                    centre[d] = picked[0, d]
                norm = 1.0
            norm = 1.0 / np.sqrt(norm)
            for d in range(4):
                centre[d] *= norm
            if n_motions > 2:
                v[0] = v[1] = v[2] = 0.0
                for k in range(n_motions):
                    _add_log(centre, picked[k], 1.0 / n_motions, v)
                _times_exp(centre, v, turned)
                for d in range(4):
                    centre[d] = turned[d]
            v[0] = v[1] = v[2] = 0.0
            widest = 0.0
            for k in range(n_motions):
                widest = max(widest, _add_log(centre, picked[k], weights[i, k], v))
            _times_exp(centre, v, out[i, j])
            spread[j] = max(spread[j], widest)


def mix_poses(
    quats: FloatArray,
    starts: IntArray,
    frames: FloatArray,
    weights: FloatArray,
    headings: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Mixed local rotations (N, J, 4), and how far apart each joint's rotations got (J,).

    Parameters
    ----------
    quats : (sum F, J, 4)
        Local rotations of all motions, one after the other.
    starts : (K + 1,)
        Where each motion begins in ``quats``; the last entry is the end.
    frames : (N, K)
        Frame of each motion, fractional.
    weights : (N, K)
        Sum to one; may be negative.
    headings : (N, K)
        Turn about the up axis given to each motion's root first, radians.
    """
    turns = np.stack([np.cos(0.5 * headings), np.sin(0.5 * headings)], axis=-1)
    out = np.zeros((len(frames), *quats.shape[1:]))
    spread = np.zeros(quats.shape[1])
    _mix_rows(
        np.ascontiguousarray(quats),
        np.asarray(starts, dtype=np.int64),
        np.ascontiguousarray(frames),
        np.ascontiguousarray(weights),
        turns,
        out,
        spread,
    )
    return out, spread


def mix_poses_numpy(
    quats: FloatArray,
    starts: IntArray,
    frames: FloatArray,
    weights: FloatArray,
    headings: FloatArray,
) -> FloatArray:
    """The plain form of :func:`mix_poses`; its centre is the fully converged mean."""
    picked = []
    for k in range(frames.shape[1]):
        own = quats[starts[k] : starts[k + 1]]
        low = np.clip(np.floor(frames[:, k]).astype(np.int64), 0, len(own) - 1)
        high = np.minimum(low + 1, len(own) - 1)
        q = quat.slerp(own[low], own[high], (frames[:, k] - low)[:, None])
        turn = quat.from_axis_angle(np.array([0.0, 1.0, 0.0]), headings[:, k])
        q[:, 0] = quat.multiply(turn, q[:, 0])
        picked.append(q)
    return quat.mean(np.stack(picked, axis=-2), weights[:, None, :])
