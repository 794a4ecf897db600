"""Fingerprints: the poses of a clip in few numbers, the same wherever and however fast it moves."""

from __future__ import annotations

import base64

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.body.facing import facing_of_positions
from motionloom.body.proportions import stature
from motionloom.errors import SkeletonMismatchError
from motionloom.motion.skeleton import Skeleton

POINTS = ("head", "left_wrist", "right_wrist", "left_ankle", "right_ankle")
POSES = 128
"""Poses of a fingerprint, at equal ways of the body's points from one to the next."""
PARTS = 512
"""Parts of equal time that a clip is averaged over first: noise makes no way."""
REST = 0.1
"""A body at rest counts as moving at this part of its mean speed, or stillness takes no part."""
UNIT = 1.0 / 8192.0
"""Of the stored whole numbers, in statures."""
LEAST_FRAMES = 8


def make_fingerprint(positions: FloatArray, skeleton: Skeleton, body: BodyMap) -> FloatArray | None:
    """Points of the body about the pelvis, in statures. Shape (POSES, P, 3).

    Turned to the heading of each frame, so that place and direction do not count; sampled by the
    way that the points go, so that time does not count. None for bodies without a pelvis or a
    heading, and for clips of a few frames.

    Parameters
    ----------
    positions : (F, J, 3)
        Joints in the world, metres.
    skeleton
        Of the clip.
    body
        Its roles.
    """
    if body.pelvis is None or len(positions) < LEAST_FRAMES:
        return None
    try:
        heading = facing_of_positions(positions, body)
        tall = stature(skeleton, body)
    except SkeletonMismatchError:
        return None
    if not tall > 0.0:
        return None
    joints = [getattr(body, role) for role in POINTS]
    around = positions[:, [body.pelvis if j is None else j for j in joints]]
    around = (around - positions[:, [body.pelvis]]) / tall
    sin, cos = np.sin(heading)[:, None], np.cos(heading)[:, None]
    x, z = around[..., 0], around[..., 2]
    turned = np.stack([cos * x - sin * z, around[..., 1], sin * x + cos * z], axis=-1)
    return _by_way(_averaged(turned))


def pack_fingerprint(poses: FloatArray | None) -> str:
    """As text; empty for none."""
    if poses is None:
        return ""
    whole = np.clip(np.round(poses / UNIT), -32767, 32767).astype("<i2")
    return base64.b64encode(whole.tobytes()).decode("ascii")


def unpack_fingerprint(text: str) -> FloatArray | None:
    """What was packed, as one row of numbers; None where there is none."""
    if not text:
        return None
    whole = np.frombuffer(base64.b64decode(text), dtype="<i2")
    return np.asarray(whole.astype(np.float64) * UNIT)


def _averaged(values: FloatArray) -> FloatArray:
    """Means over ``PARTS`` parts of equal time, linear between frames. Shape (PARTS, P, 3)."""
    n = len(values)
    flat = values.reshape(n, -1)
    total = np.concatenate([np.zeros((1, flat.shape[1])), np.cumsum(flat, axis=0)])
    # Means between two times are differences of the integral, which is linear within a frame.
    edges = np.linspace(0.0, n, PARTS + 1)
    at = np.minimum(edges.astype(np.int64), n - 1)
    integral = total[at] + (edges - at)[:, None] * flat[at]
    means = np.diff(integral, axis=0) * (PARTS / n)
    return np.asarray(means.reshape(PARTS, *values.shape[1:]))


def _by_way(values: FloatArray) -> FloatArray:
    """Poses at equal ways. Shape (POSES, P, 3)."""
    flat = values.reshape(len(values), -1)
    steps = np.linalg.norm(np.diff(flat, axis=0), axis=1)
    steps = steps + max(REST * float(steps.mean()), 1e-9)
    way = np.concatenate([[0.0], np.cumsum(steps)])
    wanted = np.linspace(0.0, way[-1], POSES)
    out = np.stack([np.interp(wanted, way, column) for column in flat.T], axis=1)
    return np.asarray(out.reshape(POSES, *values.shape[1:]))
