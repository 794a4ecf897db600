"""The body's centre of mass, for the flights that must fall as bodies fall."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.synthetic.rig import Rig

__all__ = ["body_centre"]

# Winter 2009, after Dempster: part of body mass, and where its centre lies between two joints.
_LIMBS = (
    (0.028, 0.436, "Arm", "ForeArm"),
    (0.016, 0.430, "ForeArm", "Hand"),
    (0.006, 1.2, "ForeArm", "Hand"),
    (0.100, 0.433, "UpLeg", "Leg"),
    (0.0465, 0.433, "Leg", "Foot"),
    (0.0145, 0.5, "Foot", "ToeBase"),
)
_TRUNK = (0.497, 0.497)
_HEAD = (0.081, 1.2)


def body_centre(rig: Rig, positions: FloatArray) -> FloatArray:
    """Centre of mass (F, 3) of joint positions (F, J, 3), metres."""
    return np.asarray(np.einsum("j,fjc->fc", _weights(rig), positions))


@lru_cache(maxsize=16)
def _weights(rig: Rig) -> FloatArray:
    unit = np.eye(rig.skeleton.n_joints)

    def joint(name: str) -> FloatArray:
        return np.asarray(unit[rig.at(name)])

    hips = 0.5 * (joint("LeftUpLeg") + joint("RightUpLeg"))
    shoulders = 0.5 * (joint("LeftArm") + joint("RightArm"))
    total = np.zeros(rig.skeleton.n_joints)
    segments = [(*_TRUNK, hips, shoulders), (*_HEAD, shoulders, joint("Head"))]
    segments += [
        (mass, part, joint(side + start), joint(side + end))
        for side in ("Left", "Right")
        for mass, part, start, end in _LIMBS
    ]
    for mass, part, start, end in segments:
        total += mass * ((1.0 - part) * start + part * end)
    return total
