"""The mean pose: local rotations of several motions at fractional frames, mixed by weights.

Park et al. 2002, as [KG03]_ use it: logarithms about an unweighted mean, averaged by the weights,
and taken back. Exact where one weight is one, equal to slerp for two motions, continuous in the
weights, and good for weights below zero.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import kernel

BLOCK = 128
"""Frames below which another thread costs more time than it saves."""

_mix = kernel("ml_pose_mix")


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
    quats, frames, weights, headings = (
        np.ascontiguousarray(x, dtype=np.float64) for x in (quats, frames, weights, headings)
    )
    starts = np.ascontiguousarray(starts, dtype=np.int64)
    n, n_motions = frames.shape
    n_rows, n_joints = quats.shape[:2]
    out = np.zeros((n, n_joints, 4))
    # Frames are independent and the kernel lets go of the interpreter's lock: blocks of them go to
    # as many threads as there are cores, and any thread may call this at any time.
    n_blocks = min(max(1, n // BLOCK), os.cpu_count() or 1)
    edges = np.linspace(0, n, n_blocks + 1).astype(np.int64).tolist()
    spread = np.zeros((n_blocks, n_joints))

    def mix(block: int) -> None:
        first, stop = edges[block : block + 2]
        some, scratch = slice(first, stop), np.zeros((n_motions, 8))
        _mix(
            n_motions, n_rows, n_joints, quats, starts, stop - first,
            frames[some], weights[some], headings[some], scratch, out[some], spread[block],
        )  # fmt: skip

    if n_blocks == 1:
        mix(0)
    else:
        with ThreadPoolExecutor(n_blocks) as threads:
            list(threads.map(mix, range(n_blocks)))
    return out, spread.max(axis=0)
