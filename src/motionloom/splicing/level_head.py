"""Level head: spine, neck and shoulders absorb the shake of the hips and chest.

Captured hips shake and jolt, and the captured spine above them absorbs most of it. The chest of a
splice belongs to another clip, so the spine has to absorb the shake again; the neck keeps the head
steady, and shoulders keep arms steady on a captured chest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import FloatArray, running_maximum, running_minimum
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import Motion, Skeleton
from motionloom.rotation import quat
from motionloom.splicing.body_parts import Part, carrying_spine, chain_between
from motionloom.splicing.gait_points import stride_s
from motionloom.splicing.posture import SWAY_S, Posed, without_shake
from motionloom.splicing.smoothing import smooth_points, smooth_rotations, without_sway

STEADY_S, STEADY_STRIDES = 0.8, 0.75
"""Seconds to either side, or strides where those take longer, over which the head follows the
torso. Of a sway once per stride of a walk 0.04 remain; of a turn that takes 3 s, 0.95."""
MOST_NOD, MOST_TURN = np.radians(20.0), np.radians(60.0)
"""How far the neck may turn the head against the torso to keep it steady. A neck turns to the side
farther than it nods, and an action that bends takes its head along."""
NOISE = np.radians([0.5, 1.5])
"""A neck that leaves its smoothed course by less than the first is not noisy; by more than the
second, it is smoothed."""
NOISY_S = 0.05
"""Seconds before and after a noisy frame that are smoothed with it."""
SAME = 1e-6
"""A torso whose turn changes by less than this angle moves as the action's, radians."""
COLLAR = np.radians(190.0)
"""A collarbone that turns faster than this, and than it does in the action, jerks, rad/s."""
AS_FAST = 1.01
"""A joint up to this many times as fast as in the action counts as equally fast."""
UP = np.array([0.0, 1.0, 0.0])
SHORTEST_M = 0.02
"""Shorter levers do not move the chest."""
SAME_M = 1e-6
"""Spines nearer than this are the same, metres."""
SHAKE_M = 0.004
"""The chest shakes as the locomotion's own where that shakes by less than this, metres. Twice as
much is a jolt, and is left out."""
LAST_MORE = 1.25
"""The last spine joint may turn faster than the limit by this factor, because any shake that it
does not absorb moves the chest."""
LARGEST_LEAN = np.radians(12.0)
"""How far the spine may lean to keep the chest on its course, radians."""
NEAR_S = 0.03
"""Seconds over which a spine joint changes from leaning to moving with the joint below it."""
SLOWING_S = (0.05, 0.1, 0.15, 0.2)
"""Half widths of the smoothing of a spine joint that is too fast whatever it absorbs, seconds."""
SHARES = (1.0, 0.85, 0.7, 0.55, 0.4, 0.25, 0.1, 0.0)
"""Parts of the wanted lean that a joint may take on, in the order of preference."""


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
        Least seconds to either side over which the head follows the torso. None leaves it on
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
        _steady_head(quats, world, neck, action, fastest, stride_s=stride, least_s=steady_s)
    arm = _down_to_shoulder(spliced.skeleton, part, body)
    if len(arm) > 1:
        _steady_collar(quats, arm, action.motion)
    return spliced.replace(local_quats=quats)


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


def _fast_turns(quats: FloatArray, world: FloatArray, joint: int, legs: Motion) -> FloatArray:
    """Turns of the joint faster than sway, in the splice but not in the locomotion. (N, 3).

    Rotation vectors in the world.
    """
    turn = quat.multiply(quats[:, joint], quat.conjugate(legs.local_quats[:, joint]))
    slow = smooth_rotations(turn, legs.fps, half_width_s=SWAY_S, degree=2)
    parent = world[:, int(legs.skeleton.parents[joint])]
    return quat.rotate(parent, quat.log(quat.multiply(turn, quat.conjugate(slow))))


def _lean(lever: FloatArray, path: FloatArray) -> FloatArray:
    """Rotation vectors that carry the tips of ``lever`` (N, 3) along ``path``. (N, 3)."""
    length = np.linalg.norm(lever, axis=-1, keepdims=True)
    lean = np.cross(lever, path) / np.maximum(length, SHORTEST_M) ** 2
    return _capped(np.where(length < SHORTEST_M, 0.0, lean), LARGEST_LEAN)


def _capped(vectors: FloatArray, most: float) -> FloatArray:
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

    The joint leans as asked where it is slow enough. In the other frames it moves with the joint
    below it.
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


def _neck(motion: Motion, part: Part, body: BodyMap) -> list[int]:
    """Joints from the neck up to the head that were taken from the action."""
    if body.head is None:
        return [j for j in (body.neck,) if j in part.joints]
    chain = motion.skeleton.chain(body.head)
    first = chain.index(body.neck) if body.neck in chain else len(chain) - 1
    return [j for j in chain[first:] if j in part.joints]


def _steady_head(
    quats: FloatArray,
    world: FloatArray,
    neck: list[int],
    action: Posed,
    fastest: FloatArray,
    *,
    stride_s: float | None,
    least_s: float,
) -> None:
    """Let the neck keep the head steady while the torso sways, in ``quats`` (N, J, 4).

    A head is steady because the neck cancels the sway of its own torso. On another torso the same
    neck cancels a sway that is not there, and the head shakes by both. So the head keeps the
    rotation in the world that it has in the action, carried along by the slow part of the turn that
    the torso was given: the turn of the path, and the posture. Frame noise of the captured neck is
    left out, because a head is too heavy for it and an action that runs faster makes it stronger.

    ``stride_s`` is the longest stride of both clips: the action's neck cancels the sway of its own.
    The head follows the torso over at least ``least_s`` seconds to either side.
    """
    chest = int(action.motion.skeleton.parents[neck[0]])
    turn = quat.multiply(world[:, neck[0]], quat.conjugate(action.quats[:, neck[0]]))
    if quat.angle_between(turn, turn[:1]).max() < SAME:
        return  # the head is on its own torso
    slow = _slow_part(turn, action.motion.fps, stride_s, least_s)
    back = quat.log(quat.multiply(slow, quat.conjugate(turn)))
    back = _at_most(back * UP, MOST_TURN) + _at_most(back * (1.0 - UP), MOST_NOD)
    parent, fps = world[:, chest], action.motion.fps
    for k, joint in enumerate(neck, start=1):
        turned = quat.multiply(quat.exp(k / len(neck) * back), world[:, joint])
        local = quat.multiply(quat.conjugate(parent), _without_noise(turned, fps))
        quats[:, joint] = slowed_turns(local, fps, fastest[joint])
        parent = quat.multiply(parent, quats[:, joint])


def _slow_part(turn: FloatArray, fps: float, stride_s: float | None, least_s: float) -> FloatArray:
    """Remove the sway of strides from the turn of a torso (N, 4), and smooth it. (N, 4).

    A head that follows over less than a stride sways too, and a stride of a sneak takes 2.4 s.
    """
    half = max(STEADY_S, least_s)
    if stride_s is not None:
        half = max(half, STEADY_STRIDES * stride_s)
        if len(turn) >= stride_s * fps:
            turn = without_sway(turn, stride_s * fps)
    return smooth_rotations(turn, fps, half_width_s=half, degree=1)


def _at_most(turns: FloatArray, most: float) -> FloatArray:
    """Rotation vectors (F, 3) with angles held below ``most``, small ones kept."""
    angle = np.linalg.norm(turns, axis=-1, keepdims=True)
    return np.asarray(turns * (most * np.tanh(angle / most) / np.maximum(angle, 1e-12)))


def _without_noise(quats: FloatArray, fps: float) -> FloatArray:
    """Rotations (N, 4) smoothed where they are noisy; the others stay exactly as they are."""
    smooth = without_shake(quats, fps)
    half = max(1, round(NOISY_S * fps))
    off = running_maximum(quat.angle_between(quats, smooth), half)
    share = np.clip((off - NOISE[0]) / (NOISE[1] - NOISE[0]), 0.0, 1.0)
    return np.where((share > 0.0)[:, None], quat.slerp(quats, smooth, share), quats)


def _down_to_shoulder(skeleton: Skeleton, part: Part, body: BodyMap) -> tuple[int, ...]:
    """Joints from an arm's first down to its shoulder; none for other parts."""
    shoulders = (body.left_shoulder, body.right_shoulder)
    shoulder = next((each for each in shoulders if each in part.joints), None)
    if part.is_trunk or shoulder is None:
        return ()
    return chain_between(skeleton, part.joint, shoulder)


def _steady_collar(quats: FloatArray, arm: Sequence[int], action: Motion) -> None:
    """Let the shoulder absorb the shake of the chest, in ``quats`` (N, J, 4).

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


def slowed_turns(local: FloatArray, fps: float, fastest: float) -> FloatArray:
    """Smooth rotations (N, 4) where they are too fast, by as little as that takes, if possible."""
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
    """Replace each factor (N,) by the smallest one around it, and smooth the changes. (N,)."""
    least = running_minimum(factor, half)
    window = np.hanning(2 * half + 3)[1:-1]
    return np.convolve(np.pad(least, half, mode="edge"), window / window.sum(), mode="valid")


def speeds_of(local: FloatArray, fps: float) -> FloatArray:
    """Rotation speeds (N,) of rotations, the larger of both sides of each frame."""
    steps = fps * quat.angle_between(local[:-1], local[1:])
    return np.asarray(np.maximum(np.append(steps, 0.0), np.append(0.0, steps)))


def absorbers(motion: Motion, part: Part, body: BodyMap) -> list[int]:
    """Joints of a part that absorb a twitch below it: the spine, the neck, or an arm's shoulder."""
    spine = [j for j in carrying_spine(motion.skeleton, body) if j in part.joints]
    arm = _down_to_shoulder(motion.skeleton, part, body)
    return spine or list(arm[-1:]) or _neck(motion, part, body) or [part.joint]
