"""Legs: where they are, how far they reach, what holds their feet, and how they follow them.

A label of a plant reaches into the frames in which the foot still comes down or already leaves. To
stop a point there would need a jerk of the whole leg, so a hold leaves out such frames at the ends
of its plant, but never more than a stated part of it. Offsets that are needed in some frames run
out in the frames around them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import Record, kernel, maker
from motionloom.body.anatomy import SIDES, Knee
from motionloom.body.body_map import BodyMap
from motionloom.motion.motion import (
    LimbSolution,
    column_runs,
    solve_limb,
)
from motionloom.rotation.quat import ease

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


# --- Blend-off: how an offset that is needed in some frames runs out in the frames around them

_blend = kernel("ml_offset_blend")
_near = kernel("ml_offset_near")
_spread = kernel("ml_offset_spread")
_highest = kernel("ml_offset_highest")

LONGEST_HALF = 1000
"""Frames of half a window at most, where a clip has fewer."""


def blend_off(values: FloatArray, held: BoolArray, *, length: float, stop: float) -> FloatArray:
    """``values`` where they are held, and a smooth way to zero or to the next hold in other frames.

    Exactly zero from ``length`` frames beyond a hold on. Holds at most twice as far apart are
    joined directly. Value and slope are met at the edge of a hold, so that a foot comes to rest
    without a kick: the departure from Kovar, Schreiner and Gleicher, whose offsets start flat.

    Parameters
    ----------
    values : (F, C)
        Used in held frames only.
    held : (F,)
        Where ``values`` must be met.
    length
        Frames over which a value runs out.
    stop
        Frames over which a slope runs out: short, or the offset overshoots.
    """
    values = np.ascontiguousarray(values, dtype=np.float64)
    out = np.zeros(values.shape)
    _blend(*values.shape, values, np.ascontiguousarray(held), float(length), float(stop), out)
    return out


def nearness(held: BoolArray, length: float) -> FloatArray:
    """1 in held frames, falling smoothly to 0 at ``length`` frames from the nearest. Shape (F,)."""
    out = np.zeros(len(held))
    _near(len(held), np.ascontiguousarray(held), float(length), out)
    return out


def spread_smoothly(values: FloatArray, half: int) -> FloatArray:
    """Weighted mean over ``half`` frames to either side; beyond the ends the end value."""
    if half < 1:
        return np.array(values)
    half = bounded(half, len(values))
    values = np.ascontiguousarray(values, dtype=np.float64)
    out = np.zeros(values.shape)
    _spread(len(values), values.size // max(len(values), 1), values, half, weights_of(half), out)
    return out


@lru_cache(maxsize=32)
def weights_of(half: int) -> FloatArray:
    """Weights of a smooth window over ``half`` frames to either side, which sum to one."""
    weights = ease(np.abs(np.arange(-half, half + 1)) / (half + 1.0), nested=True)
    weights /= weights.sum()
    weights.flags.writeable = False
    return weights


def highest_nearby(values: FloatArray, half: int) -> FloatArray:
    """Largest value within ``half`` frames to either side. Shape (F,)."""
    half = bounded(half, len(values))
    out = np.zeros(len(values))
    values = np.ascontiguousarray(values, dtype=np.float64)
    _highest(len(values), values, half, np.zeros(len(values) + 2 * half), out)
    return out


def bounded(half: int, n_frames: int) -> int:
    """The half window, at most the clip or 1000 frames, whatever the frame rate is."""
    return min(half, max(n_frames, LONGEST_HALF))


# --- Holds: which frames of every plant are held, where, and how the feet are placed for it

FREE_M_S2 = 80.0
"""A knee may always accelerate this much, m/s2."""

_trim = kernel("ml_hold_trim")
_place = kernel("ml_hold_place")
_fill = kernel("ml_hold_fill")
_aim_foot = kernel("ml_foot_aim")

KEPT = 0.86
"""At least this part of every plant is held."""
NEAR_S = 0.12
"""Holds of one foot closer in time than this are placed together."""


@dataclass(frozen=True, slots=True)
class Hold:
    """One plant, and the frames of it that are held."""

    kind: int
    """Column in :attr:`Footplants.planted`: left heel, left toe, right heel, right toe."""
    label: tuple[int, int]
    """First and last frame of the plant as it was labelled."""
    span: tuple[int, int]
    """First and last frame held."""
    own_speed: float = 0.0
    """Fastest that the point moves in the label, without the plant's even slide, m/s."""

    @property
    def n_frames(self) -> int:
        """Number of frames held."""
        return self.span[1] - self.span[0] + 1


def find_holds(
    velocities: FloatArray, planted: BoolArray, body_velocity: FloatArray
) -> tuple[Hold, ...]:
    """A hold for every plant of at least two frames, ordered by kind, then in time.

    Speeds count relative to the mean velocity in the middle half of the plant: a clip that skates
    as a whole slides through its plants at an even speed, and that is what clean-up is for.

    Parameters
    ----------
    velocities : (F, 4, 3)
        Of heels and balls, m/s.
    planted : (F, 4)
        The labels.
    body_velocity : (F, 3)
        Of the pelvis over the ground, m/s.
    """
    labels = [
        (kind, first, last)
        for kind, runs in enumerate(column_runs(planted))
        for first, last in runs
        if last > first
    ]
    if not labels:
        return ()
    spans, fastest = np.zeros((len(labels), 2), dtype=np.int64), np.zeros(len(labels))
    _trim(
        len(velocities),
        np.ascontiguousarray(velocities, dtype=np.float64),
        np.ascontiguousarray(body_velocity, dtype=np.float64),
        len(labels),
        np.array(labels, dtype=np.int64),
        KEPT,
        spans,
        fastest,
    )
    return tuple(
        Hold(kind, (first, last), (start, stop), own)
        for (kind, first, last), (start, stop), own in zip(
            labels, spans.tolist(), fastest.tolist(), strict=True
        )
    )


def fit_targets(
    holds: tuple[Hold, ...], points: FloatArray, velocities: FloatArray, fps: float
) -> tuple[FloatArray, FloatArray]:
    """One place per hold (N, 3), and how far its point strays from it (N,), metres.

    A place is the mean of the point over the whole hold, height included, where frames at rest
    count most: what stands already stays where it is. Heel and ball that are held together get
    places exactly as far apart as they are in the foot. Holds of one foot that follow each other
    within a short time are drawn towards the step between them that the motion has, so that the
    foot need not jump in the gap.

    Parameters
    ----------
    holds
        N of them, of both feet.
    points, velocities : (F, 4, 3)
        Heels and balls in the world, metres and metres a second.
    fps
        Frames per second.
    """
    if not holds:
        return np.zeros((0, 3)), np.zeros(0)
    spans = np.array([(hold.kind, *hold.span) for hold in holds], dtype=np.int64)
    foot = spans[:, 0] // 2
    order = np.lexsort((spans[:, 2], spans[:, 1], foot))  # by foot, then in time
    places, strays = np.zeros((len(holds), 3)), np.zeros(len(holds))
    _place(
        len(points),
        np.ascontiguousarray(points, dtype=np.float64),
        np.ascontiguousarray(velocities, dtype=np.float64),
        len(holds),
        spans,
        order,
        int(np.sum(foot == 0)),
        NEAR_S * fps,
        np.zeros(len(points)),
        places,
        strays,
    )
    return places, strays


def place_holds(
    holds: tuple[Hold, ...],
    points: FloatArray,
    velocities: FloatArray,
    feet: tuple[Foot, Foot],
    reach: tuple[FloatArray, FloatArray],
    *,
    fps: float,
    blend_s: float,
    farthest_m: float,
    own_paths: bool = False,
    roll: bool = True,
    lifts: FloatArray | None = None,
    spare: Placed | None = None,
) -> tuple[tuple[Hold, ...], Placed]:
    """The holds that are near enough to their places, and both feet placed for them.

    Parameters
    ----------
    holds, points, velocities, fps
        As in :func:`fit_targets`.
    feet
        Left and right, without holds.
    reach, blend_s, roll, lifts, spare
        As in :func:`place_feet`.
    farthest_m
        How far a point may stray from its place and be held, metres.
    own_paths
        Whether held points keep the paths that they have, instead of standing at one place.
    """
    places, farthest = fit_targets(holds, points, velocities, fps)
    near = np.flatnonzero(farthest <= farthest_m)
    near_holds = tuple(holds[i] for i in near)
    feet = hold_feet(feet, near_holds, places[near])
    feet = on_own_paths(feet) if own_paths else feet
    return near_holds, place_feet(
        feet, reach, fps=fps, blend_s=blend_s, roll=roll, lifts=lifts, spare=spare
    )


def hold_feet(
    feet: tuple[Foot, Foot], holds: tuple[Hold, ...], places: FloatArray
) -> tuple[Foot, Foot]:
    """The feet with these holds, at ``places`` (N, 3)."""
    n_frames = len(feet[0].hip)
    held, stood = np.zeros((2, n_frames, 2), dtype=bool), np.zeros((2, n_frames, 2, 3))
    spans = np.array([(hold.kind, *hold.span) for hold in holds], dtype=np.int64).reshape(-1, 3)
    _fill(n_frames, len(spans), spans, np.ascontiguousarray(places), held, stood)
    return (
        dataclasses.replace(feet[0], held=held[0], places=stood[0]),
        dataclasses.replace(feet[1], held=held[1], places=stood[1]),
    )


def on_own_paths(feet: tuple[Foot, Foot]) -> tuple[Foot, Foot]:
    """The feet with held points where they are in the motion that came in."""
    left, right = (
        dataclasses.replace(foot, places=np.stack([foot.heel, foot.ball], axis=1)) for foot in feet
    )
    return left, right


# --- Feet placed: turned and shifted so that their held points stand

STOP_S = 0.05
"""A foot that is let go takes up its own speed over this long, seconds."""
LIFT_S = 0.04
"""What lifts a foot out of the ground is smoothed over this long to either side."""


@dataclass(frozen=True, slots=True, eq=False)
class AnkleTarget:
    """What is done to one foot in every frame."""

    q_foot: FloatArray
    """Turn of the whole foot in the world. Shape (F, 4)."""
    q_toes: FloatArray
    """Turn of the toes in the world: that of the foot without its roll about the ball. (F, 4)"""
    shift: FloatArray
    """Way of the ankle, metres. Shape (F, 3)."""
    roll: FloatArray
    """Turn about the ball until the ankle is in reach, heel up, radians. Shape (F,)."""
    levers: FloatArray
    """From the ankle to heel and ball, turned, metres. Shape (F, 2, 3)."""


def no_target(n: int) -> AnkleTarget:
    """Zeros for ``n`` frames."""
    return AnkleTarget(
        np.zeros((n, 4)), np.zeros((n, 4)), np.zeros((n, 3)), np.zeros(n), np.zeros((n, 2, 3))
    )


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Where both feet are to be, before the body is made to follow."""

    feet: tuple[Foot, Foot]
    legs: tuple[Record, Record]
    """As the core takes them."""
    reach: tuple[FloatArray, FloatArray]
    """How far free ankles may be from their hips, metres. Shapes (F,)."""
    held_reach: FloatArray
    """How far held ankles may be. Shape (F, 2)."""
    pull: FloatArray
    """1 where a foot is held, falling to 0 around. Shape (F, 2)."""
    ankles: tuple[AnkleTarget, ...]
    ground: FloatArray
    """Height of the ground under heels and balls, metres. Shape (F, 4)."""
    targets: FloatArray
    """Of the ankles. Shape (F, 2, 3)."""
    points: FloatArray
    """Heels and balls as they will be where ankles meet their targets. Shape (F, 4, 3)."""


def place_feet(
    feet: tuple[Foot, Foot],
    reach: tuple[FloatArray, FloatArray],
    *,
    fps: float,
    blend_s: float,
    roll: bool,
    lifts: FloatArray | None = None,
    spare: Placed | None = None,
) -> Placed:
    """Both feet with their held points in place. See :class:`Placed`.

    Parameters
    ----------
    feet
        Left and right, with their holds.
    reach : (F,) each
        As of :func:`reach_of`.
    fps
        Frames per second.
    blend_s
        Time over which a foot leaves the place where it was held, seconds.
    roll
        Whether feet may roll over their balls.
    lifts : (F, 2)
        How much higher each foot passes, metres.
    spare
        What is no longer needed of other holds: its arrays are written to.
    """
    length, stop = max(blend_s * fps, 1.0), max(STOP_S * fps, 1.0)
    n, half = len(feet[0].hip), bounded(round(LIFT_S * fps), len(feet[0].hip))
    lifts = np.zeros((n, 2)) if lifts is None else np.ascontiguousarray(lifts)
    placed = (
        dataclasses.replace(spare, feet=feet)
        if spare is not None
        else Placed(
            feet,
            (leg_record(feet[0], reach[0]), leg_record(feet[1], reach[1])),
            reach,
            np.zeros((n, 2)),
            np.zeros((n, 2)),
            (no_target(n), no_target(n)),
            np.zeros((n, 4)),
            np.zeros((n, 2, 3)),
            np.zeros((n, 4, 3)),
        )
    )
    flags, work = np.zeros((2, n), dtype=np.uint8), np.zeros(10 * n + 2 * half)
    for side, (foot, ankle) in enumerate(zip(feet, placed.ankles, strict=True)):
        _aim_foot(
            n, side, placed.legs[side], foot.held, foot.places, lifts, length, stop,
            FREE_M_S2 / fps**2, roll, half, weights_of(half), flags, work,
            ankle.q_foot, ankle.q_toes, ankle.shift, ankle.roll, ankle.levers,
            placed.held_reach, placed.pull, placed.ground, placed.targets, placed.points,
        )  # fmt: skip
    return placed
