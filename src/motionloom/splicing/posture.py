"""Where: how the action's torso is turned so that it belongs to the locomotion's hips.

Two turns of the joint at which a part hangs. The first, frame by frame, gives the torso the sway
and twist that the locomotion's own torso has; the second, one for the whole clip, gives it back
the action's mean posture.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.features.glitches.twitches import find_twitches
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.splicing.body_parts import Part
from motionloom.splicing.smoothing import smooth_rotations

SWAY_S = 0.1
"""Seconds to either side over which the torso's turn is smoothed: a swing at 3 Hz, the second
harmonic of a quick walk, keeps 0.99 of its size."""
BEND_S = 0.5
"""Seconds over which slow bends are separated from sway."""
BENT = np.radians([5.0, 20.0])
"""Torsos less apart than the first sway alike; those more apart than the second bend otherwise."""

MIDDLE = 10.0
"""How much farther out than the held points the one amid them is set, to count more."""


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

    Points are (..., P, 3). Kabsch; the same optimum as Horn's. Where they lie on one line the turn
    about it is left at none.
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

    The turn between the two torsos is taken in the world and smoothed there, so that the shake of
    either clip's hips is not part of it.
    """
    if not part.torso:
        return action.motion.local_quats[:, part.joint]
    clouds = [p.positions[:, part.torso] - p.positions[:, [part.joint]] for p in (legs, action)]
    turn = without_shake(nearest_rotation(*clouds), legs.motion.fps)
    parent = int(legs.motion.skeleton.parents[part.joint])
    world = quat.multiply(turn, action.quats[:, part.joint])
    return quat.multiply(quat.conjugate(legs.quats[:, parent]), world)


def without_shake(quats: FloatArray, fps: float) -> FloatArray:
    """Rotations (N, 4) with the gait's frequencies only; twitches and glitches are bridged."""
    return smooth_rotations(
        quats, fps, half_width_s=SWAY_S, degree=2, ignored=find_twitches(quats, fps)
    )


def with_posture_of(
    action: Posed, spliced: Posed, part: Part, body: BodyMap, *, keep_bend: bool
) -> FloatArray:
    """The joint's rotation in ``spliced`` with the action's mean posture given back. (N, 4).

    The turn is found in the hips' axes and applied in those of the joint's parent, whatever axes
    a rig gives it: ``(H G)^-1 q (H G)`` with G the parent's rotation and H the hips' axes.

    Parameters
    ----------
    action, spliced
        The action at the splice's times, and the splice so far.
    part
        What was taken from the action.
    body
        Which joint is which.
    keep_bend
        Also give back the action's slow bends, frame by frame.
    """
    seen_theirs, _ = _seen_from_hips(action, part, body)
    seen_ours, hips_ours = _seen_from_hips(spliced, part, body)
    turn = nearest_rotation(*(_with_middle(seen.mean(axis=0)) for seen in (seen_theirs, seen_ours)))
    if keep_bend:
        turn = quat.multiply(
            _bends(seen_theirs, quat.rotate(turn, seen_ours), spliced.motion), turn
        )
    parent = int(spliced.motion.skeleton.parents[part.joint])
    seen = quat.multiply(without_shake(hips_ours, spliced.motion.fps), spliced.quats[:, parent])
    about = quat.multiply(quat.multiply(quat.conjugate(seen), turn), seen)
    return quat.multiply(about, spliced.motion.local_quats[:, part.joint])


def _seen_from_hips(posed: Posed, part: Part, body: BodyMap) -> tuple[FloatArray, FloatArray]:
    """The part's held points from its joint, in the hips' axes (N, P, 3), and those axes."""
    hips = hip_frames(posed.positions, body)
    relative = posed.positions[:, part.held] - posed.positions[:, [part.joint]]
    return quat.rotate(hips[:, None], relative), hips


def _with_middle(points: FloatArray) -> FloatArray:
    """The points and the one amid them, which counts most. (P + 1, 3).

    On one skeleton that changes nothing. Bodies of other proportions cannot match in every point,
    and then the way the part leans matters more than where each shoulder is.
    """
    return np.concatenate([points, MIDDLE * points.mean(axis=0, keepdims=True)])


def _bends(theirs: FloatArray, ours: FloatArray, motion: Motion) -> FloatArray:
    """Turns from our slow direction of the part to theirs, where they are far apart. (N, 4).

    Where both merely sway nothing is turned: there the sway is the locomotion's.
    """
    slow_theirs, slow_ours = (_slowly(points.mean(axis=1), motion.fps) for points in (theirs, ours))
    turn = quat.between_vectors(slow_ours, slow_theirs)
    angle = 2.0 * np.arctan2(np.linalg.norm(turn[:, 1:], axis=-1), np.abs(turn[:, 0]))
    share = np.clip((angle - BENT[0]) / (BENT[1] - BENT[0]), 0.0, 1.0)
    return quat.slerp(np.broadcast_to(quat.IDENTITY, turn.shape), turn, share**2 * (3 - 2 * share))


def _slowly(direction: FloatArray, fps: float) -> FloatArray:
    """Vectors (N, 3) averaged over about half a second."""
    width = max(1, min(round(BEND_S * fps), len(direction))) | 1
    padded = np.pad(direction, ((width // 2, width // 2), (0, 0)), mode="edge")
    window = np.hanning(width + 2)[1:-1]
    return np.stack(
        [np.convolve(padded[:, c], window / window.sum(), mode="valid") for c in range(3)], axis=-1
    )
