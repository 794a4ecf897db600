"""Calm legs: no joint of a cleaned leg turns faster than it does in the clip itself.

A hold that begins while its foot still moves, or a twitch of the hips over a planted foot, would
need a kick of the leg. There the correction is smoothed in time: where it is constant the leg
turns exactly as captured. The foot leaves its place for these frames, and they are not held.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.cleanup.blend_off import ease, spread_smoothly
from motionloom.intake.jumps import Jump, find_jumps
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["Leg", "calm_legs", "steps_too_fast", "turns_of"]

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


def turns_of(quats: FloatArray) -> FloatArray:
    """Angle from each frame to the next, radians. Shapes (F, J, 4) to (F - 1, J)."""
    step = (
        quats[1:]
        - np.copysign(1.0, np.sum(quats[1:] * quats[:-1], axis=-1))[..., None] * (quats[:-1])
    )
    half_chord = 0.5 * np.sqrt(np.sum(step * step, axis=-1))
    return np.asarray(4.0 * np.arcsin(np.minimum(half_chord, 1.0)))


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
    bad = turns > most
    odd = (turns > np.maximum(own, LEAST_FLIP)) & ~bad
    half = max(3, round(AROUND_S * fps))
    for f, j in zip(*np.nonzero(odd), strict=True):
        near = np.concatenate([turns[max(0, f - half) : f, j], turns[f + 1 : f + 1 + half, j]])
        next_to = max(turns[f - 1, j] if f else 0.0, turns[f + 1, j] if f + 1 < len(turns) else 0.0)
        bad[f, j] = near.size > 0 and turns[f, j] > max(
            OVER_AROUND * float(np.median(near)), ISOLATED * next_to
        )
    padded = np.pad(source, ((1, 1), (0, 0)), mode="edge")
    nearby = np.maximum(np.maximum(padded[:-2], padded[1:-1]), padded[2:])
    return np.asarray(
        bad & ((turns > most) | (turns > OVER_OWN * nearby)) & (turns > source + 1e-9)
    )


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
    local = np.array(after.local_quats)
    for k, leg in enumerate(legs):
        joints = [joint for joint in leg.joints if joint is not None]
        quats, changed[:, k] = _calm_leg(
            captured.local_quats[:, joints],
            before.local_quats[:, joints],
            local[:, joints],
            leg.knee,
            _KneeOf(pose, joints[0], joints[1], local[:, joints[0]]),
            _glitched(captured, jumps, joints[-1]),
            after.fps,
        )
        local[:, joints] = np.where(changed[:, k, None, None], quats, local[:, joints])
    if not changed.any():
        return after, changed
    return after.replace(local_quats=local), changed


def _calm_leg(
    captured: FloatArray,
    base: FloatArray,
    leg: FloatArray,
    knee: FloatArray,
    knee_of: _KneeOf,
    glitched: BoolArray,
    fps: float,
) -> tuple[FloatArray, BoolArray]:
    """Local rotations of one leg (F, J, 4), calm, and where they were changed (F,)."""
    source = turns_of(captured)
    own = np.where(glitched[:, None], 0.0, source).max(axis=0)
    source = np.maximum(source, turns_of(base))
    jerks = np.where(glitched[1:] | glitched[:-1], 0.0, _second(knee))
    most = max(JERK_OVER_OWN * float(jerks.max()), FREE_M_S2 / fps**2)
    changed = np.zeros(len(leg), dtype=bool)
    for width in WIDTHS_S:
        fast = np.any(steps_too_fast(turns_of(leg), own, source, fps), axis=1)
        jerked = _second(knee_of(leg[:, 0])) > np.maximum(most, jerks + 1e-12)
        fast = (fast | _either_side(jerked)) & ~glitched
        if not fast.any():
            break
        half = max(1, round(width * fps))
        part = _around(np.flatnonzero(fast), len(leg), half + 1)
        leg = quat.multiply(base, quat.exp(_smoothed(base, leg, part, half)))
        changed |= part > 0.0
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
    """Corrections of a leg as rotation vectors (F, J, 3), smoothed by ``part`` (F,)."""
    turns = quat.log(quat.multiply(quat.conjugate(base), leg))
    return np.asarray(turns + part[:, None, None] * (spread_smoothly(turns, half) - turns))
