"""Legs: where their joints are, how far they reach, and their rotations when an ankle is led."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import Record, kernel, maker
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import SIDES
from motionloom.body.knees import Knee
from motionloom.motion.limbs import LimbSolution, solve_limb

_read = kernel("ml_leg_read")
_damp = kernel("ml_knee_damp")
_damp_span = kernel("ml_knee_damp_span")
_soften_span = kernel("ml_knee_soften_span")
_aim = kernel("ml_leg_aim")
_leg = maker("ml_leg")

Pose = tuple[FloatArray, FloatArray]
"""World positions (F, J, 3) and rotations (F, J, 4)."""
NO_HOLDS: BoolArray = np.zeros((0, 2), dtype=bool)
NO_PLACES: FloatArray = np.zeros((0, 2, 3))


@dataclass(frozen=True, slots=True, eq=False)
class Foot:
    """Joints of a leg, where they are, and where heel and ball are held. Metres, world."""

    joints: tuple[int, int, int, int | None]
    """Hip, knee, ankle, and the toe joint where there is one."""
    hip: FloatArray
    knee: FloatArray
    ankle: FloatArray
    heel: FloatArray
    ball: FloatArray
    """Where these are in the motion that came in. Shapes (F, 3)."""
    bones: FloatArray
    """Length of thigh, of shank, and from hip to ankle. Shape (3, F)."""
    hinge: FloatArray
    """World axis about which the knee bends. Shape (F, 3)."""
    pole: FloatArray | None
    """World direction in which the knee points; None to keep the side it has. Shape (F, 3)."""
    held: BoolArray = dataclasses.field(default_factory=lambda: NO_HOLDS)
    """Heel, ball. Shape (F, 2)."""
    places: FloatArray = dataclasses.field(default_factory=lambda: NO_PLACES)
    """Where heel and ball are to be while they are held. Shape (F, 2, 3)."""

    def __getitem__(self, rows: slice) -> Foot:
        """The same foot in some frames."""
        return Foot(
            self.joints,
            self.hip[rows],
            self.knee[rows],
            self.ankle[rows],
            self.heel[rows],
            self.ball[rows],
            np.ascontiguousarray(self.bones[:, rows]),
            self.hinge[rows],
            None if self.pole is None else self.pole[rows],
            self.held[rows],
            self.places[rows],
        )

    @property
    def standing(self) -> BoolArray:
        """Whether either point is held. Shape (F,)."""
        return np.asarray(self.held[:, 0] | self.held[:, 1])


def read_feet(
    knees: tuple[Knee, Knee],
    body: BodyMap,
    pose: tuple[FloatArray, FloatArray],
    points: FloatArray,
    *,
    poles: bool = True,
) -> tuple[Foot, Foot]:
    """Left and right foot, nothing held yet.

    Parameters
    ----------
    knees
        Hinges of both knees.
    body
        Roles of the joints.
    pose
        World positions (F, J, 3) and rotations (F, J, 4).
    points : (F, 4, 3)
        Heels and balls.
    poles
        Whether knees stay on the side that anatomy gives them.
    """
    positions, quats = pose
    n = len(positions)

    def one(side: str, knee: Knee, at: int) -> Foot:
        hip, middle, ankle, hinge, pole = (np.zeros((n, 3)) for _ in range(5))
        bones, joints = np.zeros((3, n)), np.array(knee[:3], dtype=np.int64)
        axes = (np.ascontiguousarray(knee.axis), np.ascontiguousarray(knee.pole))
        _read(
            *positions.shape[:2], positions, quats, joints, *axes,
            hip, middle, ankle, bones, hinge, pole,
        )  # fmt: skip
        return Foot(
            (knee.hip, knee.knee, knee.ankle, getattr(body, f"{side}_toe")),
            hip,
            middle,
            ankle,
            np.ascontiguousarray(points[:, at]),
            np.ascontiguousarray(points[:, at + 1]),
            bones,
            hinge,
            pole if poles else None,
        )

    return one(SIDES[0], knees[0], 0), one(SIDES[1], knees[1], 2)


def leg_record(foot: Foot, reach: FloatArray) -> Record:
    """A leg as the core takes it, with how far its ankle may be from the hip (F,), metres."""
    made: Record = _leg(
        n_frames=len(foot.hip),
        hip=foot.hip,
        knee=foot.knee,
        ankle=foot.ankle,
        heel=foot.heel,
        ball=foot.ball,
        bones=foot.bones,
        reach=reach,
    )
    return made


# --- Reach: knees are damped near full stretch


def reach_of(foot: Foot) -> FloatArray:
    """How far from the hip the ankle may be taken, metres. Shape (F,).

    As far as the damped knee opens when asked for full stretch: never straight, and never less
    than the motion itself has in that frame.
    """
    upper, lower, span = foot.bones
    return damped_span(upper, lower, span, upper + lower)


def damped_angle(now: FloatArray, wanted: FloatArray) -> FloatArray:
    """Knee angle between the present and the wanted one that opens ever less near full stretch.

    Closed form of Kovar, Schreiner and Gleicher 2002, equations 10 and 11: the change is the
    integral of a weight that falls from 1 at 2.8 radians to 0 at pi. Shapes (F,), radians.
    """
    angles = np.zeros(len(now))
    _damp(len(now), now, wanted, angles)
    return angles


def damped_span(
    upper: FloatArray, lower: FloatArray, before: FloatArray, wanted: FloatArray
) -> FloatArray:
    """Distance of the bones' ends at the damped knee angle, metres. Shapes (F,)."""
    spans = np.zeros(len(wanted))
    _damp_span(len(wanted), upper, lower, before, wanted, spans)
    return spans


def soft_span(
    before: FloatArray, wanted: FloatArray, reach: FloatArray, part: FloatArray
) -> FloatArray:
    """Hip to ankle as ``wanted``, but easing into ``reach`` instead of passing it.

    The same damping as :func:`damped_angle`, of the distance: knee angles have an infinite slope at
    full stretch, and a foot in the air that runs into it would jerk its knee. A leg that is asked
    for the span it had keeps it. Shapes (F,), metres; damping sets in at ``part`` of the reach
    before it.
    """
    spans = np.zeros(len(wanted))
    _soften_span(len(wanted), before, wanted, np.ascontiguousarray(reach), part, spans)
    return spans


# --- Rotations


@dataclass(frozen=True, slots=True, eq=False)
class LegSolution:
    """Turns of the two bones, and their stretch."""

    limb: LimbSolution
    scale: FloatArray | None
    """Length of thigh and shank over what it was; None for rigid bones. Shape (F,)."""


def solve_leg(
    foot: Foot,
    leg: Record,
    root_shift: FloatArray,
    target: FloatArray,
    *,
    length: float,
    free_change: float,
    stretch: bool,
) -> LegSolution:
    """Rotations that take the ankle to ``target``.

    Where the foot is held the target is met. Where it is free, a leg that would come near full
    stretch is damped, and its ankle stays a little behind.

    Parameters
    ----------
    foot
        The leg as it is.
    leg
        The same as the core takes it.
    root_shift, target : (F, 3)
        Shift of the hip, and where the ankle is to be, metres.
    length
        Frames over which damping sets in around a hold.
    free_change
        What a knee may speed up by where a hold ends, metres per frame and frame.
    stretch
        Damp the knee everywhere, and let the bones change length to meet the target.
    """
    n = len(target)
    hip, knee, ankle, end = (np.zeros((n, 3)) for _ in range(4))
    _aim(
        n, leg, foot.held, root_shift, target, length, free_change, np.zeros(n, dtype=np.uint8),
        np.zeros((4, n)), hip, knee, ankle, end,
    )  # fmt: skip
    if stretch:
        way = target - hip
        wanted = np.sqrt(np.einsum("fc,fc->f", way, way))
        upper, lower, before = foot.bones
        span = damped_span(upper, lower, before, wanted)
        part = np.where(span == wanted, 1.0, span / np.maximum(wanted, 1e-12))
        end = hip + way * part[:, None]
    limb = solve_limb(hip, knee, ankle, end, foot.hinge, pole=foot.pole, straight=0.0, soft=0.0)
    if not stretch:
        return LegSolution(limb, None)
    got = np.sqrt(np.sum((limb.end - hip) ** 2, axis=-1))
    return LegSolution(limb, wanted / np.maximum(got, 1e-12))
