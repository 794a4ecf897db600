"""Abrupt: repairs that accelerate joints more than the defect they mend are not taken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.motion.contacts import runs_of
from motionloom.motion.motion import Motion
from motionloom.rotation import quat

__all__ = ["least_abrupt"]

MORE, FREE = 1.1, 80.0
"""A repair may accelerate a joint by so much more than the rest of the clip does, and always by the
second, m/s2."""


def least_abrupt(
    tries: Sequence[Motion], joints: IntArray, zones: BoolArray
) -> tuple[Motion, BoolArray]:
    """The last try that accelerates no joint more than the rest of the clip, zone by zone.

    Where no try does, the one that comes nearest to it, which may be the captured clip: joints of a
    limb that are repaired one by one may no longer move together.

    Parameters
    ----------
    tries
        The clip as captured, then with more and more repaired.
    joints
        Those whose positions may differ.
    zones : (F,)
        Frames that may differ.

    Returns
    -------
    motion, changed : (F,)
        And the frames that were taken from a later try.
    """
    bends = [_accelerations(each, joints) for each in tries]
    own = np.max(bends[0], axis=0, where=~zones[:, None], initial=FREE)
    root, quats = np.array(tries[0].root_positions), np.array(tries[0].local_quats)
    moving = tries[0].joint_translations
    moving = None if moving is None else np.array(moving)
    changed = np.zeros(len(root), dtype=np.bool_)
    for first, last in runs_of(zones):
        around = slice(max(first - 1, 0), last + 2)
        worst = [float((bend[around] / own).max()) for bend in bends]
        calm = [k for k in range(len(tries)) if worst[k] <= MORE]
        best = calm[-1] if calm else int(np.argmin(worst))
        if best == 0:
            continue
        taken, zone = tries[best], slice(first, last + 1)
        changed[zone] = True
        root[zone], quats[zone] = taken.root_positions[zone], taken.local_quats[zone]
        if moving is not None and taken.joint_translations is not None:
            moving[zone] = taken.joint_translations[zone]
    if not changed.any():
        return tries[0], changed
    return tries[0].replace(
        root_positions=root, local_quats=quat.make_continuous(quats), joint_translations=moving
    ), changed


def _accelerations(motion: Motion, joints: IntArray) -> FloatArray:
    """Second differences of joints, m/s2. (F, K)."""
    bends = np.zeros((motion.n_frames, len(joints)))
    second = np.diff(motion.world_positions()[:, joints], 2, axis=0)
    bends[1:-1] = motion.fps**2 * np.linalg.norm(second, axis=-1)
    return bends
