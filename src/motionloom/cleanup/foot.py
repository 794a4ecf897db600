"""One foot of a motion with its leg, and what clean-up asks of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import Record, kernel, record
from motionloom.body.body_map import BodyMap
from motionloom.body.feet import SIDES
from motionloom.body.knees import Knee
from motionloom.cleanup.holds import Hold

_read = kernel("ml_leg_read")
_fill = kernel("ml_hold_fill")

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
    return record(
        "ml_leg",
        n_frames=len(foot.hip),
        hip=foot.hip,
        knee=foot.knee,
        ankle=foot.ankle,
        heel=foot.heel,
        ball=foot.ball,
        bones=foot.bones,
        reach=reach,
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
