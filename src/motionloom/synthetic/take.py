"""Take: a planned performance, and the step that turns it into a motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import ArrayError
from motionloom.motion.contacts import Footplants
from motionloom.motion.kinematics import forward_kinematics
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.synthetic.curves import turned
from motionloom.synthetic.leg_poses import pose_leg
from motionloom.synthetic.pelvis import Carriage, settle
from motionloom.synthetic.rolling_feet import FootTrack
from motionloom.synthetic.synthetic_skeleton import Rig
from motionloom.synthetic.torso import Upper, pose_upper
from motionloom.synthetic.weight import body_centre

LOWEST = 0.4
"""The deepest crouch that still counts as stepping, hips over the ground in parts of stature."""
ROUNDS = 2
"""How often the pelvis is shifted to bring the centre of mass onto its way."""


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What all parts of a performance share."""

    rig: Rig
    fps: float
    rng: np.random.Generator
    """Of everything that differs from person to person and from step to step."""
    life: float
    """How much of that there is; 0 for none."""


@dataclass(slots=True, eq=False)
class Take:
    """What a body is to do in every frame, before it is solved. Actions may still change it."""

    rig: Rig
    times: FloatArray
    """Seconds. Shape (F,)."""
    ground: FloatArray
    """Planned path of the body on the ground, world. Shape (F, 3)."""
    heading: FloatArray
    phase: FloatArray
    """Gait cycles; not a number where there are none. Shape (F,)."""
    tracks: tuple[FootTrack, FootTrack]
    pelvis: FloatArray
    """Way of the centre of mass over the ground, up to a constant, and the heights of the pelvis
    (in flight: of the centre of mass), up to a constant. World. Shape (F, 3)."""
    pelvis_quats: FloatArray
    knee: FloatArray | float
    """Smallest knee flexion."""
    upper: Upper
    carriage: Carriage = "steady"

    def lean_pelvis(self, *, yaw: FloatArray | float = 0.0, tilt: FloatArray | float = 0.0) -> None:
        """Turns the pelvis about the vertical and tilts it forward, on top of what it does."""
        still = np.zeros_like(self.times)
        turned_more = quat.multiply(turned("Y", still + yaw), self.pelvis_quats)
        self.pelvis_quats = quat.multiply(turned_more, turned("X", still + tilt))


def perform(take: Take, *, fps: float, name: str) -> tuple[Motion, Footplants]:
    """The motion of a take, and its exact plants."""
    rig = take.rig
    local = np.tile(quat.IDENTITY, (len(take.times), rig.skeleton.n_joints, 1))
    local[:, 0] = take.pelvis_quats
    pose_upper(rig, local, take.pelvis_quats, take.heading, take.upper)
    wanted = take.pelvis
    for _ in range(ROUNDS):
        root = _pose_legs(take, local, wanted, fps)
        positions, _ = forward_kinematics(rig.skeleton, root, local)
        wanted = wanted + _correction(take, body_centre(rig, positions))
    root = _pose_legs(take, local, wanted, fps)
    left, right = take.tracks
    planted = np.stack(
        [left.heel_planted, left.toe_planted, right.heel_planted, right.toe_planted], axis=1
    )
    return Motion(rig.skeleton, root, local, fps, name=name), Footplants(planted)


def _pose_legs(take: Take, local: FloatArray, wanted: FloatArray, fps: float) -> FloatArray:
    """Root positions (F, 3) near the wanted ones; writes both legs into ``local``."""
    rig, quats, tracks = take.rig, take.pelvis_quats, take.tracks
    root = settle(rig, wanted, quats, tracks, take.knee, fps=fps, carriage=take.carriage)
    lowest = float((root - take.ground)[:, 1].min())
    if lowest < LOWEST * rig.height:
        raise ArrayError(
            f"The hips must stay {LOWEST * rig.height:.2f} m over the ground, and would have to "
            f"come down to {lowest:.2f} m for steps as long as these. Ask for a higher cadence, "
            "a lower speed or less of a turn."
        )
    for side, track in zip(("Left", "Right"), tracks, strict=True):
        miss = pose_leg(rig, side, local, root, quats, track)
        if float(miss.max()) > 1e-9:
            raise ArrayError(
                f"The {side.lower()} foot must stay within reach of the body, and is "
                f"{float(miss.max()):.2f} m beyond it at {take.times[miss.argmax()]:.2f} s. Ask "
                "for a higher cadence, a lower speed or less of a turn."
            )
    return root


def _correction(take: Take, centre: FloatArray) -> FloatArray:
    """How the pelvis must move (F, 3) for the centre of mass to take the way that it was given.

    The planned way is meant up to a constant: somebody who leans or carries has the centre of mass
    ahead of the pelvis all the time, and that is no fault.
    """
    sin, cos = np.sin(take.heading), np.cos(take.heading)
    off = centre - take.pelvis
    forward, left = off[:, 0] * sin + off[:, 2] * cos, off[:, 0] * cos - off[:, 2] * sin
    forward, left = forward - forward.mean(), left - left.mean()
    up = off[:, 1] - off[:, 1].mean()
    # Only in flight are heights given by gravity; otherwise they are the pelvis's own.
    up = -up if take.carriage == "clear" else np.zeros_like(up)
    return np.stack([-forward * sin - left * cos, up, -forward * cos + left * sin], axis=-1)
