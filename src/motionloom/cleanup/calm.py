"""Calm legs: no joint of a cleaned leg turns faster than it does in the clip itself.

A hold that begins while its foot still moves, or a twitch of the hips over a planted foot, would
need a kick of the leg. There the correction is smoothed in time: where it is constant the leg
turns exactly as captured. The foot leaves its place for these frames, and they are not held.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import kernel
from motionloom.cleanup.blend_off import ease, spread_smoothly
from motionloom.intake.jumps import Jump, find_jumps
from motionloom.motion.contacts import runs_of
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["Leg", "LegLimits", "calm_legs", "limits_of", "steps_too_fast"]

_find = kernel("ml_calm_find")
_largest = kernel("ml_calm_largest")
_suspect = kernel("ml_calm_suspect")

FREE_DEG_S = 300.0
"""Any joint may turn this fast, degrees per second."""
AROUND_S = 0.1
"""A step that stands out from those within so many seconds around it is a flip."""
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
    free = float(np.radians(FREE_DEG_S)) / fps
    half, scratch = max(3, round(AROUND_S * fps)), np.zeros(len(turns))
    fast = np.zeros(turns.shape, dtype=bool)
    _find(*turns.shape, turns, own, source, free, half, scratch, fast)
    return fast


class LegLimits:
    """What one leg may do: what it does in the clip itself, and a little more.

    Parameters
    ----------
    captured
        The clip as it came.
    before
        The clip with knees repaired.
    leg
        The leg before it was cleaned.
    jumps
        Capture glitches, whose steps are left alone.
    """

    def __init__(self, captured: Motion, before: Motion, leg: Leg, jumps: tuple[Jump, ...]) -> None:
        self.joints = [joint for joint in leg.joints if joint is not None]
        self._fps, self._captured, self._before = captured.fps, captured, before
        self._glitched = _glitched(captured, jumps, self.joints[-1])
        own = np.zeros(len(self.joints))
        which = np.array(self.joints, dtype=np.int64)
        quats = captured.local_quats
        _largest(*quats.shape[:2], quats, len(which), which, self._glitched, own)
        self._own, self._which = own, which
        jerks = np.where(self._glitched[1:] | self._glitched[:-1], 0.0, _second(leg.knee))
        most = max(JERK_OVER_OWN * float(jerks.max()), FREE_M_S2 / captured.fps**2)
        self._jerk = np.maximum(most, jerks + 1e-12)

    @cached_property
    def _source(self) -> FloatArray:
        """Steps that the clip has anyway, radians. Shape (F - 1, J)."""
        source = quat.turns(self._captured.local_quats, self.joints)
        if self._before is not self._captured:
            source = np.maximum(source, quat.turns(self._before.local_quats, self.joints))
        return source

    def broken(self, motion: Motion, knee: FloatArray) -> BoolArray:
        """Steps (F - 1,) of a motion beyond what the leg may do, with the track of its knee."""
        fast = np.zeros(motion.n_frames - 1, dtype=bool)
        quats, captured = motion.local_quats, self._captured.local_quats
        _suspect(*quats.shape[:2], quats, captured, len(self._which), self._which, self._own, fast)
        if fast.any():
            return self.broken_by(quat.turns(quats, self.joints), knee)
        return np.asarray(_either_side(_second(knee) > self._jerk) & ~self._glitched)

    def broken_by(self, turns: FloatArray, knee: FloatArray) -> BoolArray:
        """The same, by the angles (F - 1, J) that the leg's joints turn from frame to frame."""
        fast = np.any(steps_too_fast(turns, self._own, self._source, self._fps), axis=1)
        return np.asarray((fast | _either_side(_second(knee) > self._jerk)) & ~self._glitched)


def limits_of(captured: Motion, before: Motion, legs: Sequence[Leg]) -> tuple[LegLimits, ...]:
    """What legs may do. See :class:`LegLimits`; none where a clip is too short to say."""
    if captured.n_frames < 4:
        return ()
    jumps = find_jumps(captured)
    return tuple(LegLimits(captured, before, leg, jumps) for leg in legs)


def calm_legs(
    before: Motion,
    after: Motion,
    pose: tuple[FloatArray, FloatArray],
    limits: Sequence[LegLimits],
) -> tuple[Motion, BoolArray]:
    """The cleaned motion without steps that are too fast, and where its legs were changed (F, L).

    Parameters
    ----------
    before, after
        The clip with knees repaired, and cleaned.
    pose
        World positions and rotations of the cleaned one.
    limits
        Of L legs.
    """
    changed = np.zeros((after.n_frames, len(limits)), dtype=bool)
    local = None
    for k, leg in enumerate(limits):
        quats, changed[:, k] = _calm_leg(before, after, pose, leg)
        if changed[:, k].any():
            local = np.array(after.local_quats) if local is None else local
            local[:, leg.joints] = np.where(changed[:, k, None, None], quats, local[:, leg.joints])
    return (after if local is None else after.replace(local_quats=local)), changed


def _calm_leg(
    before: Motion, after: Motion, pose: tuple[FloatArray, FloatArray], limits: LegLimits
) -> tuple[FloatArray, BoolArray]:
    """Local rotations of one leg (F, J, 4), calm, and where they were changed (F,)."""
    joints, changed = limits.joints, np.zeros(after.n_frames, dtype=bool)
    fast = limits.broken(after, pose[0][:, joints[1]])
    base, leg = before.local_quats[:, joints], after.local_quats[:, joints]
    if not fast.any():
        return leg, changed
    knee_of = _KneeOf(pose, joints[0], joints[1], leg[:, 0])
    for width in WIDTHS_S:
        half = max(1, round(width * after.fps))
        part = _around(np.flatnonzero(fast), len(leg), half + 1)
        leg = _smoothed(base, leg, part, half)
        changed |= part > 0.0
        fast = limits.broken_by(quat.turns(leg), knee_of(leg[:, 0]))
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
