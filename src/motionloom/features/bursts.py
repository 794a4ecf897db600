"""Bursts: steps of a joint far faster than those around it, slowed down to what it does elsewhere.

Markers that are lost and found again leave a foot, a hand or the whole trunk somewhere else within
one to four frames. Each side of such a step may be right, so nothing can be interpolated: the step
is spread over the frames around it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.motion.body import BodyMap
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["Calmed", "calm_bursts", "find_bursts"]

SLOWEST_FPS = 50.0
"""At lower rates a burst cannot be told from quick motion."""
JUDGED_FPS = 60.0
"""Faster clips are judged at steps of this rate as well: two half bursts are one of theirs."""
FAST = np.radians(300.0)
"""Slower steps are no bursts, rad/s."""
RATIO = 2.8
"""A burst is so many times as fast as the median of the steps around."""
AROUND_S = 0.1
LONGEST_S = 0.045
"""What is faster than half its peak for longer is a kick or a punch, not a burst."""
LONGEST_FOOT_S = 0.1
"""The same for a foot in its shank."""
ALONE = np.radians(9.0)
"""A step that is so large at 60 Hz and alone is a jump even if the joint is as fast elsewhere."""
SIGMA_S = 0.016
"""Width of the kernel that spreads a burst in one round."""
ROUNDS = 8
FLAT_S, RAMP_S = 0.035, 0.06
"""Frames so near to a burst are smoothed in full, and less and less over the second time."""


class Calmed(NamedTuple):
    """A clip whose bursts are spread, and where they were."""

    motion: Motion
    frames: IntArray
    """Frames that changed, ascending. (N,)"""
    parts: tuple[str, ...]
    """Which part of the body was smoothed, and from which frame on."""


class _Part(NamedTuple):
    """Joints that are smoothed together, and the rotations that show when."""

    name: str
    joints: IntArray
    """Empty for the whole pose, root position included."""
    shown: tuple[int, ...]
    """Joints whose rotation in the world is judged: what one joint of a chain twitches, the next
    often takes back."""
    foot: bool = False
    """Feet are no faster in their shanks than this, for longer either: kicks come from knees."""


def calm_bursts(motion: Motion, body: BodyMap) -> Calmed:
    """The clip with bursts of feet, hands, limbs and trunk spread over the frames around them.

    A foot or a hand is smoothed by itself, an arm or a leg as a whole, and where the trunk bursts
    the whole pose is: its joints hold one another up. Nothing else changes, and steps that are no
    faster than the joint's others stay as captured.

    Parameters
    ----------
    motion
        Any clip; below 50 frames per second it comes back as it is.
    body
        Roles of its joints.
    """
    if motion.fps < SLOWEST_FPS or motion.n_frames < 8:
        return Calmed(motion, np.zeros(0, dtype=np.int64), ())
    changed = np.zeros(motion.n_frames, dtype=np.bool_)
    notes = []
    for part in _parts(motion, body):
        first = None
        for _ in range(ROUNDS):
            found = _bursts_of(motion, part)
            if not found.any():
                break
            first = int(np.flatnonzero(found)[0]) if first is None else first
            share = _share(found, motion.fps)
            motion = _smoothed(motion, part.joints, share)
            changed |= share > 0.0
        if first is not None:
            notes.append(f"{part.name} at frame {first}")
    return Calmed(motion, np.flatnonzero(changed), tuple(notes))


def find_bursts(quats: FloatArray, fps: float, *, longest_s: float = LONGEST_S) -> BoolArray:
    """Steps of a rotation (F, 4) far faster than those around and than its others. (F - 1,)."""
    found = np.zeros(len(quats) - 1, dtype=np.bool_)
    for stride in sorted({1, max(1, round(fps / JUDGED_FPS))}):
        if len(quats) <= 4 * stride:
            continue
        steps = _steps(quats, stride)
        speeds = steps * fps / stride
        fast = np.flatnonzero(speeds > FAST)
        if not len(fast):
            continue
        around, next_to = _around(speeds, fast, stride, fps)
        outstanding = speeds[fast] > RATIO * around
        usual = np.delete(speeds, fast[outstanding])
        own = max(float(usual.max(initial=0.0)), FAST)
        alone = steps[fast] > ALONE * JUDGED_FPS * stride / fps * max(1.0, fps / 120.0)
        alone &= speeds[fast] > RATIO * np.maximum(around, next_to)
        for at in fast[(outstanding & (speeds[fast] > own)) | alone]:
            if _duration(speeds, int(at)) <= longest_s * fps:
                found[at : at + stride] = True
    return found


def _duration(speeds: FloatArray, at: int) -> int:
    """How many steps in a row around one are faster than half of the fastest of them."""
    first = last = at
    least = 0.5 * speeds[at]
    while first > 0 and speeds[first - 1] > least:
        first -= 1
        least = max(least, 0.5 * speeds[first])
    while last < len(speeds) - 1 and speeds[last + 1] > least:
        last += 1
        least = max(least, 0.5 * speeds[last])
    return last - first + 1


def _steps(quats: FloatArray, stride: int) -> FloatArray:
    return np.asarray(quat.angle_between(quats[:-stride], quats[stride:]))


def _around(
    speeds: FloatArray, at: IntArray, stride: int, fps: float
) -> tuple[FloatArray, FloatArray]:
    """Median speed of the steps around each of ``at``, itself left out; and the faster one next."""
    half = max(3, round(AROUND_S * fps / stride))
    ways = np.r_[-half:0, 1 : half + 1] * stride
    index = at[:, None] + ways
    inside = (index >= 0) & (index < len(speeds))
    values = np.where(inside, speeds[np.clip(index, 0, len(speeds) - 1)], np.nan)
    next_to = np.nanmax(np.c_[np.zeros(len(at)), values[:, half - 1 : half + 1]], axis=1)
    return np.nanmedian(values, axis=1), next_to


def _parts(motion: Motion, body: BodyMap) -> list[_Part]:
    """The body's parts, from the trunk outwards."""
    skeleton = motion.skeleton
    chest = body.spine[-1] if body.spine else body.pelvis
    trunk = [joint for joint in (body.pelvis, chest) if joint is not None]
    parts = [_Part("the whole body", np.zeros(0, np.int64), tuple(trunk))]
    if body.head is not None and chest is not None:
        above = [j for j in skeleton.chain(body.head) if j not in skeleton.chain(chest)]
        parts.append(_Part("the head", np.array(above), (body.head,)))
    for side in ("left", "right"):
        limbs = (("leg", "hip", "knee", "ankle", "toe"), ("arm", "shoulder", "elbow", "wrist", ""))
        for limb, upper, lower, end, tip in limbs:
            top, middle, last = (getattr(body, f"{side}_{role}") for role in (upper, lower, end))
            if top is None or middle is None or last is None:
                continue
            joints = np.array([j for j in skeleton.chain(last) if j not in skeleton.chain(top)[:-1]])
            parts.append(_Part(f"the {side} {limb}", joints, (top, middle)))
            foot = limb == "leg"
            parts.append(_Part(f"the {side} {end}", np.array([last]), (last,), foot))
            toe = getattr(body, f"{side}_{tip}") if tip else None
            if toe is not None:
                parts.append(_Part(f"the {side} {tip}", np.array([toe]), (toe,), True))
    return parts


def _bursts_of(motion: Motion, part: _Part) -> BoolArray:
    found = np.zeros(motion.n_frames - 1, dtype=np.bool_)
    world = motion.world_quats()
    for joint in part.shown:
        found |= find_bursts(world[:, joint], motion.fps)
        if part.foot:
            local = motion.local_quats[:, joint]
            found |= find_bursts(local, motion.fps, longest_s=LONGEST_FOOT_S)
    return found


def _share(found: BoolArray, fps: float) -> FloatArray:
    """How much of each frame is smoothed: 1 near bursts, 0 away from them. (F,)."""
    steps = np.flatnonzero(found) + 0.5
    frames = np.arange(len(found) + 1)
    nearest = np.full(len(frames), np.inf)
    after = np.searchsorted(steps, frames)
    for k in (np.clip(after - 1, 0, len(steps) - 1), np.clip(after, 0, len(steps) - 1)):
        nearest = np.minimum(nearest, np.abs(frames - steps[k]))
    away = np.clip((nearest / fps - FLAT_S) / RAMP_S, 0.0, 1.0)
    return np.asarray(0.5 + 0.5 * np.cos(np.pi * away))


def _smoothed(motion: Motion, joints: IntArray, share: FloatArray) -> Motion:
    """The motion with some joints, or all and the root's position, smoothed in part.

    Rotations are smoothed in the world; joints further out keep theirs in their parents.
    """
    kernel, changed = _kernel(motion.fps), np.flatnonzero(share > 0.0)
    chosen = joints if len(joints) else np.arange(motion.skeleton.n_joints)
    part = share[changed]
    world = quat.make_continuous(motion.world_quats()[:, chosen])
    mean = quat.normalize(_mean_around(world, changed, kernel))
    smooth = dict(zip(chosen.tolist(), np.swapaxes(
        quat.slerp(world[changed], mean, part[:, None]), 0, 1), strict=True))  # fmt: skip
    parents, quats = motion.skeleton.parents, np.array(motion.local_quats)
    placed: dict[int, FloatArray] = {}
    for joint in chosen.tolist():
        parent = int(parents[joint])
        if parent >= 0 and parent not in placed:
            placed[parent] = motion.world_quats()[changed, parent]
        placed[joint] = smooth[joint]
        if parent < 0:
            quats[changed, joint] = smooth[joint]
        else:
            quats[changed, joint] = quat.multiply(quat.conjugate(placed[parent]), smooth[joint])
    quats = quat.make_continuous(quats)
    if len(joints):
        return motion.replace(local_quats=quats)
    root, moving = np.array(motion.root_positions), motion.joint_translations
    root[changed] += part[:, None] * (_mean_around(root, changed, kernel) - root[changed])
    if moving is not None:
        moving = np.array(moving)
        way = _mean_around(moving, changed, kernel) - moving[changed]
        moving[changed] += part[:, None, None] * way
    return motion.replace(root_positions=root, local_quats=quats, joint_translations=moving)


def _kernel(fps: float) -> FloatArray:
    half = max(1, round(3.0 * SIGMA_S * fps))
    kernel = np.exp(-0.5 * (np.arange(-half, half + 1) / (SIGMA_S * fps)) ** 2)
    return np.asarray(kernel / kernel.sum())


def _mean_around(values: FloatArray, frames: IntArray, kernel: FloatArray) -> FloatArray:
    """Weighted mean of the values around some frames; near the ends over fewer, evenly."""
    n, half = len(values), len(kernel) // 2
    reach = np.minimum(np.minimum(frames, n - 1 - frames), half)  # as far to both sides
    offsets = np.arange(-half, half + 1)
    weights = np.where(np.abs(offsets) <= reach[:, None], kernel, 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    index = np.clip(frames[:, None] + offsets, 0, n - 1)
    return np.einsum("fk,fk...->f...", weights, values[index])
