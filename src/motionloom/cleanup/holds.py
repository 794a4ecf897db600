"""Holds: which frames of every labelled plant are held, where, and how the feet are placed for it.

A label reaches into the frames in which the foot still comes down or already leaves. To stop a
point there would need a jerk of the whole leg, so a hold leaves out such frames at the ends of its
plant, but never more than a stated part of it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import Record, kernel
from motionloom.cleanup.blend_off import bounded, weights_of
from motionloom.cleanup.legs import Foot, leg_record
from motionloom.cleanup.smooth_legs import FREE_M_S2
from motionloom.motion.contacts import column_runs

_trim = kernel("ml_hold_trim")
_place = kernel("ml_hold_place")
_fill = kernel("ml_hold_fill")
_aim = kernel("ml_foot_aim")

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
        _aim(
            n, side, placed.legs[side], foot.held, foot.places, lifts, length, stop,
            FREE_M_S2 / fps**2, roll, half, weights_of(half), flags, work,
            ankle.q_foot, ankle.q_toes, ankle.shift, ankle.roll, ankle.levers,
            placed.held_reach, placed.pull, placed.ground, placed.targets, placed.points,
        )  # fmt: skip
    return placed
