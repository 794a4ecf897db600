"""Steadiness: a spine that shares its fast turns, and a neck that keeps the head steady."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.motion.body import BodyMap
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.splicing.parts import Part
from motionloom.splicing.posture import SWAY_S, Posed
from motionloom.splicing.smoothing import smooth_rotations

__all__ = ["steadied"]

SHARED = 0.85
"""Part of the fast turns of the first spine joint that the spine above it takes over."""
STEADY_S = 0.8
"""Seconds to either side over which the head follows the torso. Of a sway at 1 Hz, the stride of a
walk, 0.04 remain; of a turn that takes 3 s, 0.95."""
MOST_NOD, MOST_TURN = np.radians(20.0), np.radians(60.0)
"""How far the neck may turn the head against the torso to keep it steady. A neck turns to the side
farther than it nods, and an action that bends takes its head along."""
UP = np.array([0.0, 1.0, 0.0])


def steadied(made: Motion, legs: Motion, action: Posed, part: Part, body: BodyMap) -> Motion:
    """The splice with a spine that shares its fast turns and a head as steady as in the action.

    Parameters
    ----------
    made
        The splice, its part turned.
    legs
        The locomotion, as long.
    action
        The action at the splice's times.
    part
        What was taken from the action.
    body
        Which joint is which.
    """
    world, quats = made.world_quats(), np.array(made.local_quats)
    spine = [j for j in body.spine if j in part.joints] if part.torso else []
    if len(spine) > 1:
        _share_fast_turns(quats, world, spine, legs)
    if neck := _neck(made, part, body):
        _steady_head(quats, world, neck, action)
    return made.replace(local_quats=quats)


def _share_fast_turns(quats: FloatArray, world: FloatArray, spine: list[int], legs: Motion) -> None:
    """Share fast turns of the first spine joint with those above it, in ``quats`` (N, J, 4).

    The chest of a splice does not follow the shake of the locomotion's hips, so the joint between
    them would have to cancel all of it. In the locomotion the whole spine did that. So the joint
    keeps about the fast turns that it has in the locomotion and the rest goes to those above; from
    the last spine joint upwards nothing moves.
    """
    first = spine[0]
    turn = quat.multiply(quats[:, first], quat.conjugate(legs.local_quats[:, first]))
    slow = smooth_rotations(turn, legs.fps, half_width_s=SWAY_S, degree=2)
    parent = world[:, int(legs.skeleton.parents[first])]
    fast = quat.rotate(parent, quat.log(quat.multiply(turn, quat.conjugate(slow))))
    for k, joint in enumerate(spine[:-1]):
        share = SHARED * (1.0 - k / (len(spine) - 1.0))
        turned = quat.multiply(quat.exp(-share * fast), world[:, joint])
        quats[:, joint] = quat.multiply(quat.conjugate(parent), turned)
        parent = turned
    quats[:, spine[-1]] = quat.multiply(quat.conjugate(parent), world[:, spine[-1]])


def _steady_head(quats: FloatArray, world: FloatArray, neck: list[int], action: Posed) -> None:
    """Let the neck keep the head steady while the torso sways, in ``quats`` (N, J, 4).

    A head is steady because the neck cancels the sway of its own torso. On another torso the same
    neck cancels what is not there, and the head shakes by both. So the head keeps the rotation in
    the world that it has in the action, carried along by the slow part of the turn that the torso
    was given: the turn of the way, and the posture.
    """
    chest = int(action.motion.skeleton.parents[neck[0]])
    turn = quat.multiply(world[:, chest], quat.conjugate(action.quats[:, chest]))
    slow = smooth_rotations(turn, action.motion.fps, half_width_s=STEADY_S, degree=1)
    back = quat.log(quat.multiply(slow, quat.conjugate(turn)))
    back = _at_most(back * UP, MOST_TURN) + _at_most(back * (1.0 - UP), MOST_NOD)
    parent = world[:, chest]
    for k, joint in enumerate(neck, start=1):
        turned = quat.multiply(quat.exp(k / len(neck) * back), world[:, joint])
        quats[:, joint] = quat.multiply(quat.conjugate(parent), turned)
        parent = turned


def _neck(motion: Motion, part: Part, body: BodyMap) -> list[int]:
    """Joints from the neck up to the head that were taken from the action."""
    if body.head is None:
        return [j for j in (body.neck,) if j in part.joints]
    chain = motion.skeleton.chain(body.head)
    first = chain.index(body.neck) if body.neck in chain else len(chain) - 1
    return [j for j in chain[first:] if j in part.joints]


def _at_most(turns: FloatArray, most: float) -> FloatArray:
    """Rotation vectors (F, 3) with angles held below ``most``, small ones kept."""
    angle = np.linalg.norm(turns, axis=-1, keepdims=True)
    return np.asarray(turns * (most * np.tanh(angle / most) / np.maximum(angle, 1e-12)))
