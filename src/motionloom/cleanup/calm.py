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
from motionloom._core import kernel
from motionloom.cleanup.blend_off import bounded, weights_of
from motionloom.features.glitches.sudden_turns import sudden_turn_places
from motionloom.motion.motion import Motion

_find = kernel("ml_calm_find")
_largest = kernel("ml_calm_largest")
_share = kernel("ml_calm_share")
_smooth = kernel("ml_calm_smooth")

FREE_DEG_S = 300.0
"""Any joint may turn this fast, degrees per second."""
AROUND_S = 0.1
"""A step that stands out from those within so many seconds around it is a flip."""
JERK_OVER_OWN, FREE_M_S2 = 1.5, 80.0
"""A knee may accelerate this many times as much as its most in the clip, or this much, m/s2."""
WIDTHS_S = (0.008, 0.012, 0.017, 0.025, 0.04, 0.06, 0.09, 0.13, 0.18)
"""Time to either side over which a correction is smoothed, in one try after another, seconds."""


SuddenTurns = tuple[tuple[int, str], ...]
"""Frames after capture glitches, and the joints that have them."""


class Leg(NamedTuple):
    """A leg to keep calm."""

    joints: Sequence[int | None]
    """Hip, knee, ankle, and the toe joint where there is one."""
    knee: FloatArray
    """Where its knee was, metres. Shape (F, 3)."""


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
    turns
        Capture glitches, whose steps are left alone.
    """

    def __init__(self, captured: Motion, before: Motion, leg: Leg, turns: SuddenTurns) -> None:
        joints = [joint for joint in leg.joints if joint is not None]
        self.joints: IntArray = np.array(joints, dtype=np.int64)
        self._clips, self._fps = (captured.local_quats, before.local_quats), captured.fps
        self._glitched = _glitched(captured, turns, joints[-1])
        self._own = np.zeros(len(joints))
        quats = captured.local_quats
        _largest(*quats.shape[:2], quats, len(joints), self.joints, self._glitched, self._own)
        jerks = np.where(
            self._glitched[1:] | self._glitched[:-1], 0.0, second_differences(leg.knee)
        )
        most = max(JERK_OVER_OWN * float(jerks.max()), FREE_M_S2 / captured.fps**2)
        self._jerk = np.maximum(most, jerks + 1e-12)

    def broken(self, local: FloatArray, knee: FloatArray) -> BoolArray:
        """Steps (F - 1,) beyond what the leg may do.

        Parameters
        ----------
        local : (F, J, 4)
            Local rotations of all joints.
        knee : (F, 3)
            Track of the leg's knee, metres.
        """
        fast = np.zeros(len(local) - 1, dtype=bool)
        _find(
            *local.shape[:2],
            local,
            *self._clips,
            len(self.joints),
            self.joints,
            self._own,
            float(np.radians(FREE_DEG_S)) / self._fps,
            max(3, round(AROUND_S * self._fps)),
            knee,
            self._jerk,
            self._glitched,
            np.zeros(len(local) + len(self.joints)),
            fast,
        )
        return fast


def limits_of(captured: Motion, before: Motion, legs: Sequence[Leg]) -> tuple[LegLimits, ...]:
    """What legs may do. See :class:`LegLimits`; none where a clip is too short to say."""
    if captured.n_frames < 4:
        return ()
    turns = sudden_turn_places(captured)
    return tuple(LegLimits(captured, before, leg, turns) for leg in legs)


def calm_legs(
    before: Motion, after: Motion, pose: tuple[FloatArray, FloatArray], limits: Sequence[LegLimits]
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
    local = np.array(after.local_quats)
    changed = calm_rotations(before, local, pose, limits)
    if not changed.any():
        return after, changed
    local.flags.writeable = False  # else it would be copied once more
    return after.replace(local_quats=local), changed


def calm_rotations(
    before: Motion,
    local: FloatArray,
    pose: tuple[FloatArray, FloatArray],
    limits: Sequence[LegLimits],
) -> BoolArray:
    """Calm legs in place, and tell where they were changed (F, L).

    Parameters
    ----------
    before
        The clip with knees repaired.
    local : (F, J, 4)
        Local rotations of the cleaned one, which are written to.
    pose
        World positions and rotations of the cleaned one, as it comes in.
    limits
        Of L legs.
    """
    changed = np.zeros((len(local), len(limits)), dtype=bool)
    for k, leg in enumerate(limits):
        knee = np.ascontiguousarray(pose[0][:, leg.joints[1]])
        fast = leg.broken(local, knee)
        if fast.any():
            changed[:, k] = _calm_leg(before, local, pose, leg, fast, knee)
    return changed


def _calm_leg(
    before: Motion,
    local: FloatArray,
    pose: tuple[FloatArray, FloatArray],
    limits: LegLimits,
    fast: BoolArray,
    knee: FloatArray,
) -> BoolArray:
    """Smooth one leg in ``local`` (F, J, 4) and its ``knee`` (F, 3), in place.

    Returns where it was changed (F,).
    """
    n, joints = len(local), limits.joints
    changed, scratch = np.zeros(n, dtype=bool), np.zeros((n, len(joints), 3))
    part, hips = np.zeros(n), np.array(local[:, joints[0]])
    clips = (before.local_quats, hips, *pose)
    for width in WIDTHS_S:
        half = bounded(max(1, round(width * before.fps)), n)
        _share(n, fast, half + 1, part, changed)
        window = (part, half, weights_of(half))
        _smooth(*local.shape[:2], *clips, len(joints), joints, *window, scratch, local, knee)
        fast = limits.broken(local, knee)
        if not fast.any():
            break
    return changed


def _glitched(motion: Motion, turns: SuddenTurns, end: int) -> BoolArray:
    """Steps near capture glitches of the joints from the root to ``end``. Shape (F - 1,)."""
    chain = {motion.skeleton.names[joint] for joint in motion.skeleton.chain(end)}
    flags = np.zeros(motion.n_frames - 1, dtype=bool)
    for frame, joint in turns:
        if joint in chain:
            flags[max(0, frame - 3) : frame + 3] = True
    return flags


def second_differences(track: FloatArray) -> FloatArray:
    """Size of the second difference of a track (F, 3), metres. Shape (F - 2,)."""
    second = track[2:] - 2.0 * track[1:-1] + track[:-2]
    return np.asarray(np.sqrt(np.sum(second * second, axis=-1)))
