"""Take: a planned performance, and the solving of it into a motion.

The legs decide how high the pelvis can be; the pelvis is shifted until the centre of mass follows
its planned path.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from motionloom._arrays import FloatArray, running_mean, running_minimum
from motionloom.body.body_map import BodyMap
from motionloom.body.masses import Segments, mass_segments
from motionloom.errors import ArrayError
from motionloom.motion.motion import Footplants, Motion, forward_kinematics, solve_limb
from motionloom.rotation import quat
from motionloom.rotation.quat import wrap_angle
from motionloom.synthetic.curves import soft_minimum, turned
from motionloom.synthetic.rolling_feet import FootTrack
from motionloom.synthetic.synthetic_skeleton import Rig
from motionloom.synthetic.torso import Upper, pose_upper

LOWEST = 0.4
"""The deepest crouch that still counts as stepping, hips over the ground in parts of stature."""
ROUNDS = 2
"""How often the pelvis is shifted to bring the centre of mass onto its path."""
Carriage = Literal["steady", "clear", "follow"]
"""``steady``: at a constant height but for the bounce; a few frames may be pressed down by the
ceiling, because one odd step should not make a whole clip crouch. ``clear``: under the ceiling
everywhere, so that a planned fall is kept as it is. ``follow``: up and down with the ceiling,
slowly, as a body does that stands now with closed and now with spread feet."""
FOLLOW_S = 0.18
"""Seconds over which a body that follows the ceiling rises and sinks."""
ROUND_S = 0.04
"""Seconds over which a body rounds off the sharp bend of the ceiling when a leg is set down."""
SOFT_M = 0.004
"""Width of the rounding where the pelvis meets the reach of a leg."""
LEFTWARD = np.array([1.0, 0.0, 0.0])


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """Body, rate and liveliness, which all parts of a performance share."""

    rig: Rig
    fps: float
    rng: np.random.Generator
    """Of the differences from person to person and from step to step."""
    life: float
    """Size of these differences; 0 for none."""


@dataclass(slots=True, eq=False)
class Take:
    """The plan of a body in every frame, before it is solved. Actions may still change it."""

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
    """Path of the centre of mass over the ground, up to a constant, and the heights of the pelvis
    (in flight: of the centre of mass), up to a constant. World. Shape (F, 3)."""
    pelvis_quats: FloatArray
    knee: FloatArray | float
    """Smallest knee flexion."""
    upper: Upper
    carriage: Carriage = "steady"

    def lean_pelvis(self, *, yaw: FloatArray | float = 0.0, tilt: FloatArray | float = 0.0) -> None:
        """Turn the pelvis about the vertical and tilt it forward, on top of its planned turn."""
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


def settle(
    rig: Rig,
    wanted: FloatArray,
    quats: FloatArray,
    tracks: tuple[FootTrack, FootTrack],
    knee: FloatArray | float,
    *,
    fps: float,
    carriage: Carriage,
) -> FloatArray:
    """Pelvis positions (F, 3) along ``wanted``, as high as both legs allow.

    Parameters
    ----------
    rig
        The body.
    wanted : (F, 3)
        Where the pelvis should be; its heights are taken up to a constant, or, with ``"follow"``,
        up to a slow curve.
    quats : (F, 4)
        ``q_world_pelvis``.
    tracks
        Left and right foot.
    knee
        Smallest knee flexion, radians.
    fps
        Frames per second.
    carriage
        How the wanted heights meet the ceiling that the legs set.
    """
    ceilings = []
    for side, track in zip(("Left", "Right"), tracks, strict=True):
        arm = quat.rotate(quats, rig.skeleton.offsets[rig.at(f"{side}UpLeg")])
        ceilings.append(hip_ceiling(rig, track, wanted + arm, knee) - arm[:, 1])
    soft = SOFT_M * rig.height / 1.75
    ceiling = np.minimum(*ceilings)
    margin = ceiling - wanted[:, 1]
    if carriage == "clear":
        height = wanted[:, 1] + (float(margin.min()) - 3.0 * soft)
    elif carriage == "steady":
        height = wanted[:, 1] + float(np.quantile(margin, 0.05))
        # A leg that is set down bends the ceiling sharply; the body rounds that off.
        ceiling = _slow_floor(ceiling, round(ROUND_S * fps))
    else:
        height = wanted[:, 1] + _slow_floor(margin, round(FOLLOW_S * fps))
        soft *= 0.35  # the floor is smooth already
    out = np.array(wanted)
    out[:, 1] = soft_minimum(soft, height, ceiling)
    return out


def hip_ceiling(
    rig: Rig, track: FootTrack, hips: FloatArray, knee: FloatArray | float
) -> FloatArray:
    """Highest that a hip may be for the leg to stay bent by ``knee`` radians. Shape (F,).

    Parameters
    ----------
    rig
        The body.
    track
        The foot.
    hips : (F, 3)
        The hip joint; only its place over the ground is read.
    knee
        Smallest knee flexion, radians.
    """
    reach = np.sqrt(rig.thigh**2 + rig.shank**2 + 2 * rig.thigh * rig.shank * np.cos(knee))
    away = np.sum((hips - track.ankle)[:, [0, 2]] ** 2, axis=-1)
    # A foot beyond reach in the plane is a planning fault: let the pelvis sink instead of failing.
    return np.asarray(track.ankle[:, 1] + np.sqrt(np.maximum(reach**2 - away, 0.09 * reach**2)))


def _slow_floor(values: FloatArray, width: int) -> FloatArray:
    """A smooth curve on or under ``values`` (F,): the lowest nearby, then averaged twice."""
    lowest = running_minimum(values, width)
    for _ in range(2):  # each reaches half of the width to either side, so no value is exceeded
        lowest = running_mean(lowest, width // 2)
    return lowest


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
        Distance by which the leg misses the foot, metres.
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


def body_centre(rig: Rig, positions: FloatArray) -> FloatArray:
    """Centre of mass (F, 3) of joint positions (F, J, 3), metres."""
    return _segments(rig).centre(positions)


@lru_cache(maxsize=16)
def _segments(rig: Rig) -> Segments:
    return mass_segments(rig.skeleton.n_joints, BodyMap.guess(rig.skeleton))


def _correction(take: Take, centre: FloatArray) -> FloatArray:
    """How the pelvis must move (F, 3) for the centre of mass to follow its planned path.

    The planned path is meant up to a constant: somebody who leans or carries has the centre of mass
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
