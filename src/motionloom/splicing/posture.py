"""Where: how the action's torso is turned so that it belongs to the locomotion's hips.

Two turns of the joint at which the upper body hangs. The first, frame by frame, gives the torso
the sway and twist that the locomotion's own torso has; the second, one for the whole clip, gives
it back the action's mean posture.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.motion.body import BodyMap
from motionloom.rotation import quat

__all__ = ["hip_frames", "nearest_rotation", "posture_turn"]


def nearest_rotation(a: FloatArray, b: FloatArray) -> FloatArray:
    """Rotation that carries points ``b`` nearest to ``a``, about the origin. (..., P, 3) to (..., 4).

    Kabsch; the same optimum as Horn's. Where the points lie on one line the turn about it is left
    at none.
    """
    covariance = np.einsum("...pi,...pj->...ij", a, b)
    u, values, vt = np.linalg.svd(covariance)
    sign = np.sign(np.linalg.det(u @ vt))
    u = u.copy()
    u[..., :, 2] *= sign[..., None]
    full = quat.from_matrix(u @ vt)
    straight = values[..., 1] < 1e-9 * np.maximum(values[..., 0], 1e-300)
    if not np.any(straight):
        return full
    arc = quat.between_vectors(b.sum(axis=-2), a.sum(axis=-2))
    return np.where(straight[..., None], arc, full)


def hip_frames(positions: FloatArray, body: BodyMap) -> FloatArray:
    """Rotation from the world into the hips' own axes, per frame. (F, 4).

    x goes from the right hip to the left, y is up made square to it.
    """
    left, right = body.require("left_hip", "right_hip", task="splicing")
    x = positions[:, left] - positions[:, right]
    x = x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-12)
    up = np.array([0.0, 1.0, 0.0])
    y = up - x * x[:, 1:2]
    y = y / np.maximum(np.linalg.norm(y, axis=-1, keepdims=True), 1e-12)
    return quat.from_matrix(np.stack([x, y, np.cross(x, y)], axis=1))


def posture_turn(
    wanted: FloatArray, got: FloatArray, frames_wanted: FloatArray, frames_got: FloatArray
) -> FloatArray:
    """One turn, seen in the hips' axes, that gives the mean posture back. (4,).

    Parameters
    ----------
    wanted, got : (N, P, 3)
        Points above the joint, relative to it, in the world: of the action, and of the splice.
    frames_wanted, frames_got : (N, 4)
        The hips' axes of each, from :func:`hip_frames`.
    """
    mean_wanted = quat.rotate(frames_wanted[:, None], wanted).mean(axis=0)
    mean_got = quat.rotate(frames_got[:, None], got).mean(axis=0)
    return nearest_rotation(mean_wanted, mean_got)
