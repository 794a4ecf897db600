"""Legs: thigh, shank, foot and toes solved onto the feet."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.motion.limbs import solve_limb
from motionloom.rotation import quat
from motionloom.rotation.planar import wrap_angle
from motionloom.synthetic.curves import turned
from motionloom.synthetic.rolling_feet import FootTrack
from motionloom.synthetic.synthetic_skeleton import Rig

LEFTWARD = np.array([1.0, 0.0, 0.0])


def pose_leg(
    rig: Rig,
    side: str,
    local: FloatArray,
    root: FloatArray,
    root_quats: FloatArray,
    track: FootTrack,
) -> FloatArray:
    """Writes one leg into ``local`` (F, J, 4) so that the foot follows its track.

    The knee points between pelvis and foot: two parts foot, one part pelvis, as hips do that
    turn out with the toes.

    Returns
    -------
    (F,)
        What the leg could not reach, metres.
    """
    names = [rig.at(side + part) for part in ("UpLeg", "Leg", "Foot", "ToeBase")]
    hip, knee, foot, toe = names
    offsets = rig.skeleton.offsets
    facing = quat.yaw(root_quats)
    knee_yaw = facing + 0.65 * wrap_angle(track.yaw - facing)
    frame = turned("Y", knee_yaw)
    top = root + quat.rotate(root_quats, offsets[hip])
    middle = top + quat.rotate(frame, offsets[knee])
    end = middle + quat.rotate(frame, offsets[foot])
    solved = solve_limb(top, middle, end, track.ankle, quat.rotate(frame, LEFTWARD))
    thigh = quat.multiply(solved.q_upper, frame)
    shank = quat.multiply(solved.q_lower, frame)
    local[:, hip] = quat.multiply(quat.conjugate(root_quats), thigh)
    local[:, knee] = quat.multiply(quat.conjugate(thigh), shank)
    local[:, foot] = quat.multiply(quat.conjugate(shank), track.quats)
    local[:, toe] = turned("X", -track.bend)
    return solved.miss
