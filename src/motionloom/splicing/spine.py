"""The spine under a spliced chest: it absorbs the shake of the hips, no joint faster than allowed.

Captured hips shake and jolt, and the captured spine above them absorbs most of it. The chest of a
splice belongs to another clip, so the spine has to absorb the shake again.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._filters import running_maximum, running_minimum
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.splicing.body_parts import chain_between
from motionloom.splicing.posture import SWAY_S
from motionloom.splicing.smoothing import smooth_points, smooth_rotations

SHORTEST_M = 0.02
"""Shorter levers do not move the chest."""
SAME_M = 1e-6
"""Spines nearer than this are one and the same, metres."""
SHAKE_M = 0.004
"""The chest shakes as the locomotion's own where that is less than this, metres; twice as much is a
jolt, and is left out."""
LAST_MORE = 1.25
"""The last spine joint may exceed what the others may by this: what it leaves moves the chest."""
LARGEST_LEAN = np.radians(12.0)
"""How far the spine may lean to keep the chest on its course, radians."""
NEAR_S = 0.03
"""Seconds over which the spine changes from one way of absorbing to another."""
SLOWING_S = (0.05, 0.1, 0.15, 0.2)
"""Half widths of the smoothing of a spine joint that is too fast whatever it absorbs, seconds."""
SHARES = (1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1, 0.0)
"""How much of what is asked a joint may absorb, in the order of preference."""


def absorb_shake(
    quats: FloatArray, spliced: Motion, spine: list[int], legs: Motion, fastest: FloatArray
) -> None:
    """Turn the spine so that the chest moves without the shake of the hips, in ``quats`` (N, J, 4).

    From the first spine joint to the last, each joint leans so that the last one stays on its
    smoothed course. Where that makes a joint turn too fast, it moves with the joint below it, the
    first one with the hips as in the locomotion, and the next joint absorbs the rest. From the last
    spine joint upwards nothing turns, unless the last one would turn too fast.

    Parameters
    ----------
    quats : (N, J, 4)
        Local rotations of ``spliced``; those of the spine are replaced.
    spliced
        The splice so far; its chest does not follow the shake of the hips.
    spine
        Spine joints, from the pelvis upwards.
    legs
        The locomotion, as long.
    fastest : (J,)
        Rotation speed that each joint may reach, rad/s.
    """
    positions, world = (np.array(values) for values in spliced.world_pose())
    base = world.copy()
    if np.abs(positions[:, spine] - legs.world_positions()[:, spine]).max() < SAME_M:
        return  # the upper body is on its own legs, and its spine absorbs what it should
    goal = _course(spliced, legs, spine[-1])
    below = -_fast_turns(quats, world, spine[0], legs)
    column = chain_between(spliced.skeleton, spine[0], spine[-1])
    for joint in spine:
        parent = world[:, int(spliced.skeleton.parents[joint])]
        lean = _lean(positions[:, spine[-1]] - positions[:, joint], goal - positions[:, spine[-1]])
        most = float(fastest[joint]) * (LAST_MORE if joint == spine[-1] else 1.0)
        turn, local = _limited(lean, below, base[:, joint], parent, spliced.fps, most)
        quats[:, joint], below = local, turn
        turned = quat.multiply(parent, local)
        delta = quat.multiply(turned, quat.conjugate(world[:, joint]))
        world[:, joint] = turned
        for above in column[column.index(joint) + 1 :]:
            arm = positions[:, above] - positions[:, joint]
            positions[:, above] = positions[:, joint] + quat.rotate(delta, arm)
            world[:, above] = quat.multiply(delta, world[:, above])


def _fast_turns(quats: FloatArray, world: FloatArray, joint: int, legs: Motion) -> FloatArray:
    """What the joint does faster than sway in the splice but not in the locomotion. (N, 3).

    Rotation vectors in the world.
    """
    turn = quat.multiply(quats[:, joint], quat.conjugate(legs.local_quats[:, joint]))
    slow = smooth_rotations(turn, legs.fps, half_width_s=SWAY_S, degree=2)
    parent = world[:, int(legs.skeleton.parents[joint])]
    return quat.rotate(parent, quat.log(quat.multiply(turn, quat.conjugate(slow))))


def _lean(lever: FloatArray, way: FloatArray) -> FloatArray:
    """Rotation vectors that carry the tips of ``lever`` (N, 3) along ``way``. (N, 3)."""
    length = np.linalg.norm(lever, axis=-1, keepdims=True)
    lean = np.cross(lever, way) / np.maximum(length, SHORTEST_M) ** 2
    return _at_most(np.where(length < SHORTEST_M, 0.0, lean), LARGEST_LEAN)


def _course(spliced: Motion, legs: Motion, joint: int) -> FloatArray:
    """The joint's smoothed path, with some of the locomotion's own shake. (N, 3)."""
    ours, theirs = (motion.world_positions()[:, joint] for motion in (spliced, legs))
    smooth, slow = (
        smooth_points(points, spliced.fps, half_width_s=SWAY_S, degree=2)
        for points in (ours, theirs)
    )
    shake = theirs - slow
    size = np.linalg.norm(shake, axis=-1, keepdims=True) / SHAKE_M
    return np.asarray(smooth + np.clip(2.0 - size, 0.0, 1.0) * shake)


def _at_most(vectors: FloatArray, most: float) -> FloatArray:
    """Vectors (N, 3) with lengths below ``most``; those of up to half of it are kept."""
    length, half = np.linalg.norm(vectors, axis=-1, keepdims=True), 0.5 * most
    limited = half * (1.0 + np.tanh((length - half) / half))
    return np.where(length <= half, vectors, vectors * limited / np.maximum(length, half))


def _limited(
    lean: FloatArray,
    below: FloatArray,
    base: FloatArray,
    parent: FloatArray,
    fps: float,
    fastest: float,
) -> tuple[FloatArray, FloatArray]:
    """World turn (N, 3) of a joint and its local rotation (N, 4), as fast as allowed.

    The joint leans as asked where it is slow enough. It moves with what is below it
    in the other frames.
    """
    half = max(1, round(NEAR_S * fps))

    def at(share: FloatArray) -> tuple[FloatArray, FloatArray]:
        turn = share[:, None] * lean + (1.0 - share[:, None]) * below
        return turn, quat.multiply(quat.conjugate(parent), quat.multiply(quat.exp(turn), base))

    turn, local = at(np.ones(len(lean)))
    if not np.any(speeds_of(local, fps) > fastest):
        return turn, local
    tried = (speeds_of(at(np.full(len(lean), share))[1], fps) for share in SHARES)
    speeds = np.stack([running_maximum(speed, 2 * half) for speed in tried])  # (S, N)
    first = np.argmax(speeds <= fastest, axis=0)
    chosen = np.where((speeds <= fastest).any(axis=0), first, speeds.argmin(axis=0))
    window = np.hanning(2 * half + 3)[1:-1]
    share = np.convolve(
        np.pad(np.array(SHARES)[chosen], half, mode="edge"), window / window.sum(), mode="valid"
    )
    local = slowed_turns(at(share)[1], fps, fastest)
    turned = quat.multiply(quat.multiply(parent, local), quat.conjugate(base))
    return quat.log(turned), local


def speeds_of(local: FloatArray, fps: float) -> FloatArray:
    """Rotation speeds (N,) of rotations, the larger of both sides of each frame."""
    steps = fps * quat.angle_between(local[:-1], local[1:])
    return np.asarray(np.maximum(np.append(steps, 0.0), np.append(0.0, steps)))


def slowed_turns(local: FloatArray, fps: float, fastest: float) -> FloatArray:
    """Rotations (N, 4) smoothed where they are too fast, as little as that takes, if it can be."""
    for half_s in SLOWING_S:
        smooth = smooth_rotations(local, fps, half_width_s=half_s, degree=1)
        for weight in (0.2, 0.4, 0.6, 0.8, 1.0):
            fast = speeds_of(local, fps) > fastest
            if not fast.any():
                return local
            share = weight * (1.0 - _spread(np.where(fast, 0.0, 1.0), max(1, round(half_s * fps))))
            local = quat.slerp(local, smooth, share)
    return local


def _spread(factor: FloatArray, half: int) -> FloatArray:
    """The smallest factor (N,) of the frames around, with smooth changes. (N,)."""
    least = running_minimum(factor, half)
    window = np.hanning(2 * half + 3)[1:-1]
    return np.convolve(np.pad(least, half, mode="edge"), window / window.sum(), mode="valid")
