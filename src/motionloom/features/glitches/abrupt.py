"""Abrupt: repairs that accelerate joints more than the clip does are not taken."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._filters import running_maximum
from motionloom.motion.contacts import runs_of
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

MORE, FREE = 1.1, 80.0
"""A repair may accelerate a joint by so much more than the clip does just there or away from what
is repaired, and always by the second, m/s2."""
NEAR_S = 0.04
"""Captured accelerations so near count, seconds."""


def more_abrupt(
    captured: Motion, repaired: Motion, joints: IntArray, changed: BoolArray
) -> BoolArray:
    """Frames in which a repair accelerates a joint more than the clip does. (F,).

    Joints of a limb that are repaired one by one may no longer move together. In a run of changed
    frames in which a joint was captured more abrupt than it is repaired, it does not count.

    Parameters
    ----------
    captured, repaired
        The clip before and after.
    joints
        Those whose positions may differ.
    changed : (F,)
        Frames that may differ.
    """
    before, after = _accelerations(captured, joints), _accelerations(repaired, joints)
    own = np.max(before, axis=0, where=~changed[:, None], initial=FREE)
    near = max(1, round(NEAR_S * captured.fps))
    worse = after > MORE * np.maximum(running_maximum(before, near), own)
    for first, last in runs_of(changed):
        run = slice(max(first - 1, 0), last + 2)
        worse[run] &= after[run].max(axis=0) > before[run].max(axis=0)
    return np.asarray(worse.any(axis=1))


def kept_where_calm(
    captured: Motion, repaired: Motion, joints: IntArray, changed: BoolArray
) -> Motion:
    """The repaired clip, as captured in runs of changed frames that are more abrupt than before.

    The parameters are those of :func:`more_abrupt`.
    """
    worse = more_abrupt(captured, repaired, joints, changed)
    root, quats = np.array(repaired.root_positions), np.array(repaired.local_quats)
    moving = repaired.joint_translations
    moving = None if moving is None else np.array(moving)
    for first, last in runs_of(changed):
        if not worse[max(first - 1, 0) : last + 2].any():
            continue
        run = slice(first, last + 1)
        root[run], quats[run] = captured.root_positions[run], captured.local_quats[run]
        if moving is not None and captured.joint_translations is not None:
            moving[run] = captured.joint_translations[run]
    return repaired.replace(
        root_positions=root, local_quats=quat.make_continuous(quats), joint_translations=moving
    )


def _accelerations(motion: Motion, joints: IntArray) -> FloatArray:
    """Second differences of joints, m/s2. (F, K)."""
    bends = np.zeros((motion.n_frames, len(joints)))
    second = np.diff(motion.world_positions()[:, joints], 2, axis=0)
    bends[1:-1] = motion.fps**2 * np.linalg.norm(second, axis=-1)
    return bends
