"""The mean pose: local rotations of several motions at fractional frames, mixed by weights.

Park et al. 2002, as [KG03]_ use it: logarithms about an unweighted mean, averaged by the weights,
and taken back. Exact where one weight is one, equal to slerp for two motions, continuous in the
weights, and good for weights below zero.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from motionloom._arrays import FloatArray, IntArray
from motionloom.rotation import quat

__all__ = ["mix_poses", "mix_poses_numpy"]


BLOCK = 128
"""Frames below which a thread of their own costs more than it brings."""

NEAR = 0.05**2
"""Square of an angle: rotations nearer to their normalised sum than this have it for their mean, to
a few billionths of a radian in the result."""

_Quat = tuple[float, float, float, float]
_Vector = tuple[float, float, float]


@njit(cache=True, error_model="numpy", inline="always")
def _between(a: FloatArray, i: int, j: int, t: float) -> _Quat:
    """Slerp from row i to row i + 1 of joint j.

    Between neighbouring frames the angle is small nearly always, and a series saves three sines.
    """
    aw, ax, ay, az = a[i, j, 0], a[i, j, 1], a[i, j, 2], a[i, j, 3]
    if t <= 0.0:
        return aw, ax, ay, az
    bw, bx, by, bz = a[i + 1, j, 0], a[i + 1, j, 1], a[i + 1, j, 2], a[i + 1, j, 3]
    dot = aw * bw + ax * bx + ay * by + az * bz
    sign = 1.0 if dot >= 0.0 else -1.0
    d = 1.0 - min(abs(dot), 1.0)
    if d < 2e-3:  # below 0.063 rad the terms left out are under 1e-13, and so is the length's error
        square = d * (2.0 + d * (1.0 / 3.0 + d * (4.0 / 45.0)))
        s, r = t * t, (1.0 - t) * (1.0 - t)
        wb = t * (1.0 + square * ((1.0 - s) / 6.0 + square * (7.0 + s * (3.0 * s - 10.0)) / 360.0))
        wa = (1.0 - t) * (
            1.0 + square * ((1.0 - r) / 6.0 + square * (7.0 + r * (3.0 * r - 10.0)) / 360.0)
        )
        wb *= sign
        return wa * aw + wb * bw, wa * ax + wb * bx, wa * ay + wb * by, wa * az + wb * bz
    angle = np.arccos(min(abs(dot), 1.0))
    sine = np.sin(angle)
    wa, wb = np.sin((1.0 - t) * angle) / sine, np.sin(t * angle) / sine
    wb *= sign
    w, x, y, z = wa * aw + wb * bw, wa * ax + wb * bx, wa * ay + wb * by, wa * az + wb * bz
    norm = 1.0 / np.sqrt(w * w + x * x + y * y + z * z)
    return w * norm, x * norm, y * norm, z * norm


@njit(cache=True, error_model="numpy", inline="always")
def _log_between(q: _Quat, p: _Quat) -> _Vector:
    """``log(q^-1 p)``, the short way."""
    w = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3]
    x = q[0] * p[1] - q[1] * p[0] - q[2] * p[3] + q[3] * p[2]
    y = q[0] * p[2] + q[1] * p[3] - q[2] * p[0] - q[3] * p[1]
    z = q[0] * p[3] - q[1] * p[2] + q[2] * p[1] - q[3] * p[0]
    square = x * x + y * y + z * z
    if square < 0.02:  # the series of 2 arcsin(s) / s, to 1e-11
        scale = 2.0 * (
            1.0
            + square
            * (
                1.0 / 6.0
                + square
                * (
                    3.0 / 40.0
                    + square * (15.0 / 336.0 + square * (105.0 / 3456.0 + square * 945.0 / 42240.0))
                )
            )
        )
    else:
        sine = np.sqrt(square)
        scale = 2.0 * np.arctan2(sine, abs(w)) / sine
    if w < 0.0:
        scale = -scale
    return scale * x, scale * y, scale * z


@njit(cache=True, error_model="numpy", inline="always")
def _times_exp(q: _Quat, x: float, y: float, z: float) -> _Quat:
    """``q exp(v)`` at unit length."""
    square = 0.25 * (x * x + y * y + z * z)
    if square < 0.02:
        w = 1.0 - square * (0.5 - square * (1.0 / 24.0 - square * (1.0 / 720.0 - square / 40320.0)))
        s = 0.5 * (
            1.0
            - square
            * (1.0 / 6.0 - square * (1.0 / 120.0 - square * (1.0 / 5040.0 - square / 362880.0)))
        )
    else:
        half = np.sqrt(square)
        w, s = np.cos(half), 0.5 * np.sin(half) / half
    x, y, z = s * x, s * y, s * z
    a = q[0] * w - q[1] * x - q[2] * y - q[3] * z
    b = q[0] * x + q[1] * w + q[2] * z - q[3] * y
    c = q[0] * y - q[1] * z + q[2] * w + q[3] * x
    d = q[0] * z + q[1] * y - q[2] * x + q[3] * w
    norm = 1.0 / np.sqrt(a * a + b * b + c * c + d * d)
    return a * norm, b * norm, c * norm, d * norm


@njit(cache=True, error_model="numpy", inline="always")
def _mean_log(
    centre: _Quat, picked: FloatArray, weights: FloatArray
) -> tuple[float, float, float, float, float, float, float]:
    """Logarithms about ``centre``: mean by weights, largest square, plain mean."""
    vx, vy, vz, widest, ux, uy, uz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(len(picked)):
        p = (picked[k, 0], picked[k, 1], picked[k, 2], picked[k, 3])
        lx, ly, lz = _log_between(centre, p)
        widest = max(widest, lx * lx + ly * ly + lz * lz)
        share = weights[k]
        vx, vy, vz = vx + share * lx, vy + share * ly, vz + share * lz
        ux, uy, uz = ux + lx, uy + ly, uz + lz
    share = 1.0 / len(picked)
    return vx, vy, vz, widest, share * ux, share * uy, share * uz


@njit(cache=True, error_model="numpy", nogil=True)
def _mix_some(
    quats: FloatArray,
    starts: IntArray,
    frames: FloatArray,
    weights: FloatArray,
    turns: FloatArray,
    out: FloatArray,
    spread: FloatArray,
    first: int,
    stop: int,
) -> None:
    n_motions, n_joints = frames.shape[1], quats.shape[1]
    picked = np.zeros((n_motions, 4))
    rows, parts = np.zeros(n_motions, np.int64), np.zeros(n_motions)
    for i in range(first, stop):
        for k in range(n_motions):
            last = starts[k + 1] - starts[k] - 1
            low = min(max(int(np.floor(frames[i, k])), 0), last)
            rows[k] = starts[k] + low
            parts[k] = frames[i, k] - low if low < last else 0.0
        for j in range(n_joints):
            sw, sx, sy, sz = 0.0, 0.0, 0.0, 0.0
            for k in range(n_motions):
                w, x, y, z = _between(quats, rows[k], j, parts[k])
                if j == 0:  # the root is turned about the up axis before it is mixed
                    c, s = turns[i, k, 0], turns[i, k, 1]
                    w, x, y, z = c * w - s * y, c * x + s * z, c * y + s * w, c * z - s * x
                # Signs match the first motion's, so that the plain sum is near the mean.
                if k > 0 and (
                    w * picked[0, 0] + x * picked[0, 1] + y * picked[0, 2] + z * picked[0, 3] < 0.0
                ):
                    w, x, y, z = -w, -x, -y, -z
                picked[k, 0], picked[k, 1], picked[k, 2], picked[k, 3] = w, x, y, z
                sw, sx, sy, sz = sw + w, sx + x, sy + y, sz + z
            square = sw * sw + sx * sx + sy * sy + sz * sz
            if square < 1e-12:
                sw, sx, sy, sz = picked[0, 0], picked[0, 1], picked[0, 2], picked[0, 3]
                square = 1.0
            norm = 1.0 / np.sqrt(square)
            centre = (sw * norm, sx * norm, sy * norm, sz * norm)
            vx, vy, vz, widest, ux, uy, uz = _mean_log(centre, picked, weights[i])
            if n_motions > 2 and widest > NEAR:
                # One step of the geodesic mean, unweighted; nearer than that it changes nothing.
                centre = _times_exp(centre, ux, uy, uz)
                vx, vy, vz, widest, _, _, _ = _mean_log(centre, picked, weights[i])
            w, x, y, z = _times_exp(centre, vx, vy, vz)
            out[i, j, 0], out[i, j, 1], out[i, j, 2], out[i, j, 3] = w, x, y, z
            spread[j] = max(spread[j], np.sqrt(widest))


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
    data = (
        np.ascontiguousarray(quats),
        np.asarray(starts, dtype=np.int64),
        np.ascontiguousarray(frames),
        np.ascontiguousarray(weights),
        turns,
        out,
    )
    # Frames are independent and the kernel lets go of the interpreter's lock: blocks of them go to
    # as many threads as there are cores, and any thread may call this at any time.
    n = len(frames)
    edges = np.linspace(0, n, min(max(1, n // BLOCK), os.cpu_count() or 1) + 1).astype(np.int64)
    spread = np.zeros((len(edges) - 1, quats.shape[1]))
    blocks = [(spread[k], int(edges[k]), int(edges[k + 1])) for k in range(len(spread))]
    if len(blocks) == 1:
        _mix_some(*data, *blocks[0])
    else:
        with ThreadPoolExecutor(len(blocks)) as threads:
            list(threads.map(lambda block: _mix_some(*data, *block), blocks))
    return out, spread.max(axis=0)


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
