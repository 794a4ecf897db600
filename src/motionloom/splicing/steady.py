"""Steadiness: spine, neck and shoulders absorb the shake of what carries them.

The spine absorbs that of the hips, the neck keeps the head steady, and shoulders keep arms steady
on a captured chest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._filters import running_maximum
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Motion
from motionloom.motion.skeleton import Skeleton
from motionloom.rotation import quat
from motionloom.splicing.body_parts import Part, carrying_spine, chain_between
from motionloom.splicing.gait_points import stride_s
from motionloom.splicing.posture import Posed, without_shake
from motionloom.splicing.smoothing import smooth_rotations, without_sway
from motionloom.splicing.spine import absorb_shake, slowed_turns, speeds_of

STEADY_S, STEADY_STRIDES = 0.8, 0.75
"""The head follows the torso over so many seconds to either side, or strides where those take
longer. Of a sway once per stride of a walk 0.04 remain; of a turn that takes 3 s, 0.95."""
MOST_NOD, MOST_TURN = np.radians(20.0), np.radians(60.0)
"""How far the neck may turn the head against the torso to keep it steady. A neck turns to the side
farther than it nods, and an action that bends takes its head along."""
NOISE = np.radians([0.5, 1.5])
"""A neck that leaves its smoothed course by less than the first is not noisy; by more than the
second, it is smoothed."""
NOISY_S = 0.05
"""Seconds before and after a noisy frame that are smoothed with it."""
SAME = 1e-6
"""A torso turned by one and the same rotation, up to this angle, moves as the action's, radians."""
COLLAR = np.radians(190.0)
"""A collarbone that turns faster than this, and than it does in the action, jerks, rad/s."""
AS_FAST = 1.01
"""Up to so many times its speed a joint is as fast as in the action."""
UP = np.array([0.0, 1.0, 0.0])


def steadied(
    spliced: Motion,
    legs: Motion,
    action: Posed,
    part: Part,
    body: BodyMap,
    *,
    fastest: FloatArray,
    steady_s: float | None = 0.0,
) -> Motion:
    """The splice with a spine that absorbs the hips' shake, and head and arms that stay steady.

    Parameters
    ----------
    spliced
        The splice, its part turned.
    legs
        The locomotion, as long.
    action
        The action at the splice's times.
    part
        What was taken from the action.
    body
        Which joint is which.
    fastest : (J,)
        Rotation speed that each joint may reach, rad/s.
    steady_s
        The head follows the torso over at least so many seconds to either side. None leaves it on
        the torso as the action has it.
    """
    spine = [j for j in carrying_spine(spliced.skeleton, body) if j in part.joints]
    if len(spine) > 1:
        quats = np.array(spliced.local_quats)
        absorb_shake(quats, spliced, spine, legs, fastest)
        spliced = spliced.replace(local_quats=quats)
    neck = _neck(spliced, part, body)
    world, quats = spliced.world_quats(), np.array(spliced.local_quats)
    if neck and steady_s is not None:
        strides = [stride_s(each, body) for each in (legs, action.motion)]
        stride = max((each for each in strides if each is not None), default=None)
        _steady_head(quats, world, neck, action, _Follow(stride, steady_s), fastest)
    arm = _down_to_shoulder(spliced.skeleton, part, body)
    if len(arm) > 1:
        _steady_collar(quats, arm, action.motion)
    return spliced.replace(local_quats=quats)


class _Follow(NamedTuple):
    """How slowly a head follows its torso, which sways once per stride.

    A head that follows over less than a stride sways too, and a stride of a sneak takes 2.4 s.
    """

    stride: float | None
    """Seconds of the longest stride of both clips: the action's neck cancels the sway of that."""
    least_s: float

    def slow_part(self, turn: FloatArray, fps: float) -> FloatArray:
        """The turn of a torso (N, 4) without the sway of its strides, smoothed. (N, 4)."""
        half = max(STEADY_S, self.least_s)
        if self.stride is not None:
            half = max(half, STEADY_STRIDES * self.stride)
            if len(turn) >= self.stride * fps:
                turn = without_sway(turn, self.stride * fps)
        return smooth_rotations(turn, fps, half_width_s=half, degree=1)


def _steady_head(
    quats: FloatArray,
    world: FloatArray,
    neck: list[int],
    action: Posed,
    follow: _Follow,
    fastest: FloatArray,
) -> None:
    """Let the neck keep the head steady while the torso sways, in ``quats`` (N, J, 4).

    A head is steady because the neck cancels the sway of its own torso. On another torso the same
    neck cancels what is not there, and the head shakes by both. So the head keeps the rotation in
    the world that it has in the action, carried along by the slow part of the turn that the torso
    was given: the turn of the way, and the posture. Frame noise of the captured neck is left out: a
    head is too heavy for it, and an action that runs faster makes it stronger.
    """
    chest = int(action.motion.skeleton.parents[neck[0]])
    turn = quat.multiply(world[:, neck[0]], quat.conjugate(action.quats[:, neck[0]]))
    if quat.angle_between(turn, turn[:1]).max() < SAME:
        return  # the head is on its own torso
    slow = follow.slow_part(turn, action.motion.fps)
    back = quat.log(quat.multiply(slow, quat.conjugate(turn)))
    back = _at_most(back * UP, MOST_TURN) + _at_most(back * (1.0 - UP), MOST_NOD)
    parent, fps = world[:, chest], action.motion.fps
    for k, joint in enumerate(neck, start=1):
        turned = quat.multiply(quat.exp(k / len(neck) * back), world[:, joint])
        local = quat.multiply(quat.conjugate(parent), _without_noise(turned, fps))
        quats[:, joint] = slowed_turns(local, fps, fastest[joint])
        parent = quat.multiply(parent, quats[:, joint])


def _down_to_shoulder(skeleton: Skeleton, part: Part, body: BodyMap) -> tuple[int, ...]:
    """Joints from an arm's first down to its shoulder; none for other parts."""
    shoulders = (body.left_shoulder, body.right_shoulder)
    shoulder = next((each for each in shoulders if each in part.joints), None)
    if part.is_trunk or shoulder is None:
        return ()
    return chain_between(skeleton, part.joint, shoulder)


def _steady_collar(quats: FloatArray, arm: Sequence[int], action: Motion) -> None:
    """Let the shoulder absorb what the chest shakes, in ``quats`` (N, J, 4).

    An arm does not follow the shake of a captured chest. The collarbone hangs on that chest, and
    would have to jerk against it. It turns as slowly as in the action instead, and the shoulder
    keeps the arm where it was.

    Parameters
    ----------
    quats : (N, J, 4)
        Local rotations of the splice; those of the first joint and of the shoulder are replaced.
    arm
        Joints from the one that hangs on the chest down to the shoulder. All above the shoulder are
        one collarbone: some rigs have two, or a twist joint.
    action
        The action at the splice's times.
    """
    (first, *others), shoulder, fps = arm[:-1], arm[-1], action.fps
    below = _combined(quats, others)
    turn = quat.multiply(quats[:, first], below)
    own = quat.multiply(action.local_quats[:, first], _combined(action.local_quats, others))
    slow = slowed_turns(turn, fps, max(AS_FAST * float(speeds_of(own, fps).max()), COLLAR))
    rest = quat.multiply(quat.conjugate(slow), turn)
    quats[:, first] = quat.multiply(slow, quat.conjugate(below))
    quats[:, shoulder] = quat.multiply(rest, quats[:, shoulder])


def _combined(quats: FloatArray, joints: Sequence[int]) -> FloatArray:
    """Rotation of the last of some joints, each the parent of the next, from the first's parent."""
    turn = np.broadcast_to(quat.IDENTITY, quats[:, 0].shape)
    for joint in joints:
        turn = quat.multiply(turn, quats[:, joint])
    return turn


def _without_noise(quats: FloatArray, fps: float) -> FloatArray:
    """Rotations (N, 4) smoothed where they are noisy; the others stay exactly as they are."""
    smooth = without_shake(quats, fps)
    half = max(1, round(NOISY_S * fps))
    off = running_maximum(quat.angle_between(quats, smooth), half)
    share = np.clip((off - NOISE[0]) / (NOISE[1] - NOISE[0]), 0.0, 1.0)
    return np.where((share > 0.0)[:, None], quat.slerp(quats, smooth, share), quats)


def absorbers(motion: Motion, part: Part, body: BodyMap) -> list[int]:
    """Joints of a part that absorb a twitch below it: the spine, the neck, or an arm's shoulder."""
    spine = [j for j in carrying_spine(motion.skeleton, body) if j in part.joints]
    arm = _down_to_shoulder(motion.skeleton, part, body)
    return spine or list(arm[-1:]) or _neck(motion, part, body) or [part.joint]


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
