"""Calm legs: no joint of a cleaned leg turns faster than it does in the clip itself.

A hold that begins while its foot still moves, or a twitch of the hips over a planted foot, would
need a kick of the leg. There the correction is smoothed in time: where it is constant the leg
turns exactly as captured. The foot leaves its place for these frames, and they are not held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.cleanup.blend_off import ease, spread_smoothly
from motionloom.intake.jumps import Jump, find_jumps
from motionloom.motion.contacts import runs_of
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["Leg", "calm_legs", "steps_too_fast"]

OVER_OWN = 1.3
"""A joint may turn this many times as fast as its fastest in the clip."""
FREE_DEG_S = 300.0
"""Or this fast, degrees per second."""
OVER_AROUND = 3.0
"""A step of more than this many times the median around it, above the joint's own fastest, is a
flip."""
AROUND_S = 0.1
ISOLATED = 1.5
"""It is also this many times as large as the steps right before and after it."""
LEAST_FLIP = np.radians(1.0)
"""Steps below this are no flips, radians."""
JERK_OVER_OWN, FREE_M_S2 = 1.5, 80.0
"""A knee may accelerate this many times as much as its most in the clip, or this much, m/s2."""
WIDTHS_S = (0.008, 0.012, 0.017, 0.025, 0.04, 0.06, 0.09, 0.13, 0.18)
"""Time to either side over which a correction is smoothed, in one try after another, seconds."""


class Leg(NamedTuple):
    """A leg to keep calm."""

    joints: Sequence[int | None]
    """Hip, knee, ankle, and the toe joint where there is one."""
    knee: FloatArray
    """Where its knee was, metres. Shape (F, 3)."""


def steps_too_fast(turns: FloatArray, own: FloatArray, source: FloatArray, fps: float) -> BoolArray:
    """Steps in which a joint turns too fast or flips. Shape (F - 1, J).

    Parameters
    ----------
    turns : (F - 1, J)
        Angles from frame to frame, radians.
    own : (J,)
        Largest angle of each joint in the clip.
    source : (F - 1, J)
        The same angles in the clip: a step no faster than there is no fault.
    fps
        Frames per second.
    """
    most = np.maximum(OVER_OWN * own, np.radians(FREE_DEG_S) / fps)
    return _too_fast(turns, own, source, most, max(3, round(AROUND_S * fps)))


@njit(cache=True, error_model="numpy")
def _too_fast(
    turns: FloatArray, own: FloatArray, source: FloatArray, most: FloatArray, half: int
) -> BoolArray:
    n = len(turns)
    fast = np.zeros(turns.shape, dtype=np.bool_)
    near = np.zeros(2 * half)
    for f in range(n):
        for j in range(turns.shape[1]):
            step = turns[f, j]
            if step <= source[f, j] + 1e-9 or step <= max(own[j], LEAST_FLIP):
                continue
            if step > most[j]:
                fast[f, j] = True
                continue
            nearby, count = 0.0, 0
            isolated = True
            for g in range(max(0, f - half), min(n, f + half + 1)):
                if abs(g - f) <= 1:
                    nearby = max(nearby, source[g, j])
                    isolated &= g == f or step > ISOLATED * turns[g, j]
                if g != f:
                    near[count] = turns[g, j]
                    count += 1
            fast[f, j] = (
                isolated
                and count > 0
                and step > OVER_OWN * nearby
                and step > OVER_AROUND * np.median(near[:count])
            )
    return fast


def calm_legs(
    captured: Motion,
    before: Motion,
    after: Motion,
    pose: tuple[FloatArray, FloatArray],
    legs: Sequence[Leg],
) -> tuple[Motion, BoolArray]:
    """The cleaned motion without steps that are too fast, and where its legs were changed (F, L).

    Parameters
    ----------
    captured
        The clip as it came: what its joints do themselves is the limit.
    before, after
        The clip with knees repaired, and cleaned.
    pose
        World positions and rotations of the cleaned one.
    legs
        L legs before they were cleaned.
    """
    changed = np.zeros((after.n_frames, len(legs)), dtype=bool)
    if after.n_frames < 4:
        return after, changed
    jumps = find_jumps(captured)
    local = None
    for k, leg in enumerate(legs):
        joints = [joint for joint in leg.joints if joint is not None]
        limits = _Limits.of(captured, before, leg, joints, _glitched(captured, jumps, joints[-1]))
        quats, changed[:, k] = _calm_leg(before, after, pose, joints, limits)
        if changed[:, k].any():
            local = np.array(after.local_quats) if local is None else local
            local[:, joints] = np.where(changed[:, k, None, None], quats, local[:, joints])
    return (after if local is None else after.replace(local_quats=local)), changed


@dataclass(frozen=True, slots=True, eq=False)
class _Limits:
    """What one leg may do."""

    own: FloatArray
    """Largest step of each joint in the clip, radians. Shape (J,)."""
    source: FloatArray
    """Steps that the clip has anyway. Shape (F - 1, J)."""
    jerk: FloatArray
    """Second difference that the knee may have, metres. Shape (F - 2,)."""
    glitched: BoolArray
    """Steps of capture glitches, which are left alone. Shape (F - 1,)."""

    @classmethod
    def of(
        cls, captured: Motion, before: Motion, leg: Leg, joints: list[int], glitched: BoolArray
    ) -> _Limits:
        source = quat.turns(captured.local_quats, joints)
        own = np.where(glitched[:, None], 0.0, source).max(axis=0)
        if before is not captured:
            source = np.maximum(source, quat.turns(before.local_quats, joints))
        jerks = np.where(glitched[1:] | glitched[:-1], 0.0, _second(leg.knee))
        most = max(JERK_OVER_OWN * float(jerks.max()), FREE_M_S2 / captured.fps**2)
        return cls(own, source, np.maximum(most, jerks + 1e-12), glitched)

    def exceeded(self, turns: FloatArray, knee: FloatArray, fps: float) -> BoolArray:
        """Steps (F - 1,) beyond what the leg may do, by its turns and the track of its knee."""
        fast = np.any(steps_too_fast(turns, self.own, self.source, fps), axis=1)
        return np.asarray((fast | _either_side(_second(knee) > self.jerk)) & ~self.glitched)


def _calm_leg(
    before: Motion,
    after: Motion,
    pose: tuple[FloatArray, FloatArray],
    joints: list[int],
    limits: _Limits,
) -> tuple[FloatArray, BoolArray]:
    """Local rotations of one leg (F, J, 4), calm, and where they were changed (F,)."""
    fps, changed = after.fps, np.zeros(after.n_frames, dtype=bool)
    fast = limits.exceeded(quat.turns(after.local_quats, joints), pose[0][:, joints[1]], fps)
    base, leg = before.local_quats[:, joints], after.local_quats[:, joints]
    if not fast.any():
        return leg, changed
    knee_of = _KneeOf(pose, joints[0], joints[1], leg[:, 0])
    for width in WIDTHS_S:
        half = max(1, round(width * fps))
        part = _around(np.flatnonzero(fast), len(leg), half + 1)
        leg = _smoothed(base, leg, part, half)
        changed |= part > 0.0
        fast = limits.exceeded(quat.turns(leg), knee_of(leg[:, 0]), fps)
        if not fast.any():
            break
    return leg, changed


def _glitched(motion: Motion, jumps: tuple[Jump, ...], end: int) -> BoolArray:
    """Steps near capture glitches of the joints from the root to ``end``. Shape (F - 1,)."""
    chain = {motion.skeleton.names[joint] for joint in motion.skeleton.chain(end)}
    flags = np.zeros(motion.n_frames - 1, dtype=bool)
    for jump in jumps:
        if jump.joint in chain:
            flags[max(0, jump.frame - 3) : jump.frame + 3] = True
    return flags


class _KneeOf:
    """Where a knee is (F, 3), by the local rotation of its hip (F, 4); everything above stays."""

    def __init__(
        self, pose: tuple[FloatArray, FloatArray], hip: int, knee: int, local: FloatArray
    ) -> None:
        positions, world = pose
        self._hip = positions[:, hip]
        self._above = quat.multiply(world[:, hip], quat.conjugate(local))
        thigh = positions[:, knee] - positions[:, hip]
        self._thigh = quat.rotate(quat.conjugate(world[:, hip]), thigh)

    def __call__(self, local: FloatArray) -> FloatArray:
        return np.asarray(self._hip + quat.rotate(quat.multiply(self._above, local), self._thigh))


def _either_side(inner: BoolArray) -> BoolArray:
    """Steps (F - 1,) before and after the flagged inner frames (F - 2,)."""
    padded = np.pad(inner, 1)
    return np.asarray(padded[1:] | padded[:-1])


def _second(track: FloatArray) -> FloatArray:
    """Size of the second difference of a track (F, 3), metres. Shape (F - 2,)."""
    second = track[2:] - 2.0 * track[1:-1] + track[:-2]
    return np.asarray(np.sqrt(np.sum(second * second, axis=-1)))


def _around(steps: IntArray, n_frames: int, half: int) -> FloatArray:
    """1 at both frames of each step, falling smoothly to 0 ``half`` frames away. Shape (F,)."""
    frames = np.arange(n_frames)
    away = np.abs(frames[:, None] - (steps[None] + 0.5)).min(axis=1) - 0.5
    return ease(away / half)


def _smoothed(base: FloatArray, leg: FloatArray, part: FloatArray, half: int) -> FloatArray:
    """A leg (F, J, 4) whose correction of ``base`` is smoothed by ``part`` (F,)."""
    out = np.array(leg)
    for first, last in runs_of(part > 0.0):
        around = slice(max(0, first - half), last + half + 1)
        turns = quat.log(quat.multiply(quat.conjugate(base[around]), leg[around]))
        turns += part[around, None, None] * (spread_smoothly(turns, half) - turns)
        inside = slice(first - around.start, last + 1 - around.start)
        out[first : last + 1] = quat.multiply(base[around], quat.exp(turns))[inside]
    return out
