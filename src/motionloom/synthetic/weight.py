"""The body's centre of mass, for the flights that must fall as bodies fall."""

from __future__ import annotations

from functools import lru_cache

from motionloom._arrays import FloatArray
from motionloom.body.body_map import BodyMap
from motionloom.body.proportions import Segments, mass_segments
from motionloom.synthetic.synthetic_skeleton import Rig


def body_centre(rig: Rig, positions: FloatArray) -> FloatArray:
    """Centre of mass (F, 3) of joint positions (F, J, 3), metres."""
    return _segments(rig).centre(positions)


@lru_cache(maxsize=16)
def _segments(rig: Rig) -> Segments:
    return mass_segments(rig.skeleton.n_joints, BodyMap.guess(rig.skeleton))
