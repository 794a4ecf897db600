"""Spread: bursts of a captured joint slowed down over the frames around them.

Each side of a sudden step may be right, so nothing can be interpolated: the step is spread until
its joint is no faster than it is elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.features.bursts import FAST, JUDGED_FPS, around, find_bursts, steps_of, strides_of
from motionloom.motion.body import BodyMap
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["Spread", "spread_bursts"]

SLOWEST_FPS = 50.0
"""At lower rates a burst cannot be told from quick motion."""
LONGEST_FOOT_S, FAST_FOOT = 0.1, np.radians(1000.0)
"""A foot that turns faster in its shank, rad/s, may burst for so long: feet that push off reach two
thirds of it."""
JOLT, JOLT_RATIO = 75.0, 4.0
"""A trunk that is accelerated more, m/s2, and so many times as much as around, is jolted: landings
from jumps get to two thirds of it. At shorter steps than those of 60 Hz the limit is higher."""
FARTHEST_M, FARTHEST = 0.05, np.radians(40.0)
"""A trunk that jumps farther within one step was cut, not jolted: that cannot be spread."""
SIGMA_S = 0.016
"""Width of the kernel that spreads a burst in one round."""
ROUNDS = 8
FLAT_S, RAMP_S = 0.035, 0.06
"""Frames so near to a burst are smoothed in full, and less and less over the second time."""


class Spread(NamedTuple):
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


def spread_bursts(motion: Motion, body: BodyMap, *, legs_only: bool = False) -> Spread:
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
    legs_only
        Leave feet, arms and trunk as they are.
    """
    if motion.fps < SLOWEST_FPS or motion.n_frames < 8:
        return Spread(motion, np.zeros(0, dtype=np.int64), ())
    changed = np.zeros(motion.n_frames, dtype=np.bool_)
    notes = []
    world = motion.world_quats()
    for part in _parts(motion, body):
        if legs_only and not part.name.endswith("leg"):
            continue
        found = _bursts_of(motion, world, part)
        if not len(part.joints):
            found |= _jolts(motion, part)
        if not found.any():
            continue
        notes.append(f"{part.name} at frame {int(np.flatnonzero(found)[0])}")
        known = _share(found, motion.fps)[1:] > 0.0
        for _ in range(ROUNDS):
            share = _share(found, motion.fps)
            motion = _smoothed(motion, world, part.joints, share)
            world = motion.world_quats()
            changed |= share > 0.0
            found = _still_fast(motion, world, part, known)
            if not len(part.joints):
                found |= _jolts(motion, part) & known
            if not found.any():
                break
    return Spread(motion, np.flatnonzero(changed), tuple(notes))


def _parts(motion: Motion, body: BodyMap) -> list[_Part]:
    """The body's parts, from the trunk outwards."""
    skeleton = motion.skeleton
    chest = body.spine[-1] if body.spine else body.pelvis
    trunk = [joint for joint in (body.pelvis, chest, body.neck) if joint is not None]
    parts = [_Part("the whole body", np.zeros(0, np.int64), tuple(trunk))]
    if body.head is not None and chest is not None:
        above = [j for j in skeleton.chain(body.head) if j not in skeleton.chain(chest)]
        parts.append(_Part("the head", np.array(above), tuple(above)))
    for side in ("left", "right"):
        limbs = (("leg", "hip", "knee", "ankle", "toe"), ("arm", "shoulder", "elbow", "wrist", ""))
        for limb, upper, lower, end, tip in limbs:
            top, middle, last = (getattr(body, f"{side}_{role}") for role in (upper, lower, end))
            if top is None or middle is None or last is None:
                continue
            joints = np.array(
                [j for j in skeleton.chain(last) if j not in skeleton.chain(top)[:-1]]
            )
            parts.append(_Part(f"the {side} {limb}", joints, (top, middle)))
            foot = limb == "leg"
            parts.append(_Part(f"the {side} {end}", np.array([last]), (last,), foot))
            toe = getattr(body, f"{side}_{tip}") if tip else None
            if toe is not None:
                parts.append(_Part(f"the {side} {tip}", np.array([toe]), (toe,), True))
    return parts


def _bursts_of(motion: Motion, world: FloatArray, part: _Part) -> BoolArray:
    found = np.zeros(motion.n_frames - 1, dtype=np.bool_)
    for joint in part.shown:
        here = find_bursts(world[:, joint], motion.fps)
        if not len(part.joints):
            here &= steps_of(world[:, joint], 1) < FARTHEST
        found |= here
        if part.foot:
            local = motion.local_quats[:, joint]
            found |= find_bursts(local, motion.fps, longest_s=LONGEST_FOOT_S, least=FAST_FOOT)
    return found


def _jolts(motion: Motion, part: _Part) -> BoolArray:
    """Steps next to frames in which a joint of the trunk is jolted. (F - 1,)."""
    found = np.zeros(motion.n_frames - 1, dtype=np.bool_)
    positions = motion.world_positions()
    for joint in part.shown:
        for stride in strides_of(motion.fps):
            path, rate = positions[:, joint], motion.fps / stride
            bends = np.zeros(len(path))
            second = path[2 * stride :] - 2.0 * path[stride:-stride] + path[: -2 * stride]
            bends[stride:-stride] = rate**2 * np.linalg.norm(second, axis=-1)
            sharp = np.flatnonzero(
                (bends > JOLT * max(1.0, rate / JUDGED_FPS)) & (bends < FARTHEST_M * rate**2)
            )
            if len(sharp):
                usual, _ = around(bends, sharp, stride, motion.fps)
                for at in sharp[bends[sharp] > JOLT_RATIO * usual]:
                    found[at - 1 : at + 1] = True
    return found


def _still_fast(motion: Motion, world: FloatArray, part: _Part, known: BoolArray) -> BoolArray:
    """Steps near known bursts that are faster than all steps away from them. (F - 1,)."""
    found = np.zeros(motion.n_frames - 1, dtype=np.bool_)
    for joint in part.shown:
        for quats in (world[:, joint], motion.local_quats[:, joint])[: 2 if part.foot else 1]:
            for stride in strides_of(motion.fps):
                speeds = steps_of(quats, stride) * motion.fps / stride
                near = np.lib.stride_tricks.sliding_window_view(known, stride).any(axis=-1)
                own = float(np.max(speeds, where=~near, initial=FAST))
                for at in np.flatnonzero(near & (speeds > own)):
                    found[at : at + stride] = True
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


def _smoothed(motion: Motion, world: FloatArray, joints: IntArray, share: FloatArray) -> Motion:
    """The motion with some joints, or all and the root's position, smoothed in part.

    Rotations are smoothed in the world; joints further out keep theirs in their parents.
    """
    kernel, changed = _kernel(motion.fps), np.flatnonzero(share > 0.0)
    chosen = joints if len(joints) else np.arange(motion.skeleton.n_joints)
    part = share[changed]
    turning = quat.make_continuous(world[:, chosen])
    mean = quat.normalize(_mean_around(turning, changed, kernel))
    smooth = quat.slerp(turning[changed], mean, part[:, None])  # (C, K, 4)
    place = {int(joint): k for k, joint in enumerate(chosen)}
    quats = np.array(motion.local_quats)
    for joint, k in place.items():
        parent = int(motion.skeleton.parents[joint])
        if parent < 0:
            quats[changed, joint] = smooth[:, k]
            continue
        above = smooth[:, place[parent]] if parent in place else world[changed, parent]
        quats[changed, joint] = quat.multiply(quat.conjugate(above), smooth[:, k])
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
    return np.asarray(np.einsum("fk,fk...->f...", weights, values[index]))
