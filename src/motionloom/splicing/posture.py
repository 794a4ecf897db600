"""Where: how the action's torso is turned so that it belongs to the locomotion's hips.

Two turns of the joint at which a part hangs. The first, frame by frame, gives the torso the sway
that the locomotion's own torso has; the second gives back the action's mean posture and its twist
(``lean.py``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.features.glitches.glitch_frames import find_twitches
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.splicing.body_parts import Part
from motionloom.splicing.smoothing import smooth_rotations

SWAY_S = 0.1
"""Seconds to either side over which the torso's turn is smoothed: a swing at 3 Hz, the second
harmonic of a quick walk, keeps 0.99 of its size."""


class Posed(NamedTuple):
    """A motion with its joints in the world, worked out once."""

    motion: Motion
    positions: FloatArray
    quats: FloatArray

    @classmethod
    def of(cls, motion: Motion) -> Posed:
        """The motion with its joints in the world."""
        return cls(motion, *motion.world_pose())


def nearest_rotation(a: FloatArray, b: FloatArray) -> FloatArray:
    """Rotation about the origin that carries points ``b`` nearest to ``a``. (..., 4).

    Points are (..., P, 3). Kabsch; the same optimum as Horn's. Where they lie on one line, there is
    no turn about it.
    """
    covariance = np.einsum("...pi,...pj->...ij", a, b)
    u, values, vt = np.linalg.svd(covariance)
    u = u.copy()
    u[..., :, 2] *= np.sign(np.linalg.det(u @ vt))[..., None]
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
    # From the world's axes to these: a turn about up, then a tilt about the hips' own forward axis.
    half_turn = 0.5 * np.arctan2(-x[:, 2], x[:, 0])
    half_tilt = 0.5 * np.arctan2(x[:, 1], np.hypot(x[:, 0], x[:, 2]))
    c, s, cc, ss = np.cos(half_turn), np.sin(half_turn), np.cos(half_tilt), np.sin(half_tilt)
    return np.stack([c * cc, -s * ss, -s * cc, -c * ss], axis=-1)


def aligned_to(legs: Posed, action: Posed, part: Part) -> FloatArray:
    """Rotation of the part's joint that lays the action's torso over the locomotion's. (N, 4).

    Arms and a head are turned with the torso that they had in the action. The turn between the
    two torsos is taken in the world and smoothed there, so that the shake of either clip's hips is
    not part of it.
    """
    clouds = [p.positions[:, part.torso] - p.positions[:, [part.pivot]] for p in (legs, action)]
    turn = without_shake(nearest_rotation(*clouds), legs.motion.fps)
    parent = int(legs.motion.skeleton.parents[part.joint])
    world = quat.multiply(turn, action.quats[:, part.joint])
    return quat.multiply(quat.conjugate(legs.quats[:, parent]), world)


def without_shake(quats: FloatArray, fps: float) -> FloatArray:
    """Rotations (N, 4) with the gait's frequencies only; twitches and glitches are bridged."""
    return smooth_rotations(
        quats, fps, half_width_s=SWAY_S, degree=2, ignored=find_twitches(quats, fps)
    )


def turned_about_hips(spliced: Posed, part: Part, body: BodyMap, turn: FloatArray) -> FloatArray:
    """The part's joint in ``spliced`` turned in the hips' axes. (N, 4).

    The turn is applied in the axes of the joint's parent, whatever axes a rig gives it:
    ``(H G)^-1 q (H G)`` with G the parent's rotation and H the hips' axes.

    Parameters
    ----------
    spliced
        The splice so far.
    part
        What was taken from the action.
    body
        Which joint is which.
    turn : (4,) or (N, 4)
        Rotation in the hips' axes.
    """
    hips = without_shake(hip_frames(spliced.positions, body), spliced.motion.fps)
    parent = int(spliced.motion.skeleton.parents[part.joint])
    seen = quat.multiply(hips, spliced.quats[:, parent])
    about = quat.multiply(quat.multiply(quat.conjugate(seen), turn), seen)
    return quat.multiply(about, spliced.motion.local_quats[:, part.joint])
