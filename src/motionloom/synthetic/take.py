"""Take: a planned performance, and the step that turns it into a motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.synthetic.feet import FootTrack
from motionloom.synthetic.legs import pose_leg
from motionloom.synthetic.pelvis import settle
from motionloom.synthetic.rig import Rig
from motionloom.synthetic.torso import Upper, pose_upper

__all__ = ["Take", "perform"]


@dataclass(slots=True, eq=False)
class Take:
    """What a body is to do in every frame, before it is solved. Actions may still change it."""

    rig: Rig
    times: FloatArray
    """Seconds. Shape (F,)."""
    ground: FloatArray
    """Planned ground path of the body, world x and z. Shape (F, 2)."""
    heading: FloatArray
    phase: FloatArray
    """Gait cycles; not a number where there are none. Shape (F,)."""
    tracks: tuple[FootTrack, FootTrack]
    pelvis: FloatArray
    """Wanted, world; heights up to a constant. Shape (F, 3)."""
    pelvis_quats: FloatArray
    knee: FloatArray | float
    """Smallest knee flexion."""
    upper: Upper
    airborne: bool = False
    """Whether there is flight, in which the pelvis must fall as it is planned."""


def perform(take: Take, *, fps: float, name: str) -> tuple[Motion, Footplants]:
    """The motion of a take, and its exact plants."""
    rig = take.rig
    n = len(take.times)
    local = np.tile(quat.IDENTITY, (n, rig.skeleton.n_joints, 1))
    root = settle(rig, take.pelvis, take.pelvis_quats, take.tracks, take.knee, clear=take.airborne)
    local[:, 0] = take.pelvis_quats
    pose_upper(rig, local, take.pelvis_quats, take.heading, take.upper)
    for side, track in zip(("Left", "Right"), take.tracks, strict=True):
        miss = pose_leg(rig, side, local, root, take.pelvis_quats, track)
        assert float(miss.max()) < 1e-9, "the pelvis must leave both feet within reach"
    left, right = take.tracks
    planted = np.stack(
        [left.heel_planted, left.toe_planted, right.heel_planted, right.toe_planted], axis=1
    )
    return Motion(rig.skeleton, root, local, fps, name=name), Footplants(planted)
