"""Where each foot stood and whether it slid, and the balance of the body over the feet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import BoolArray, FloatArray
from motionloom.body.anatomy import foot_points, stature, tip_points
from motionloom.body.body_map import BodyMap
from motionloom.drawing.canvas import PLANTED, SLIDING, Rgb
from motionloom.drawing.figure import Part
from motionloom.errors import ArrayError, MotionLoomError, SkeletonMismatchError
from motionloom.features.balance import (
    HALF_WIDTH,
    centre_of_mass,
    support_corners,
    zero_moment_point,
)
from motionloom.motion.motion import KINDS, Footplants, Motion, velocities

SLIDE_SPEED = 0.25
"""A planted point faster than this, in metres per second, is drawn as sliding.

Raw captures move 0.02 to 0.11 m/s in stance, which the eye forgives."""
SLIDE_SHARE = 0.12
"""In a fast clip this part of the body's own speed is allowed: captured runs move 0.4 m/s."""
STEP_HEIGHT = 0.06
"""What a sole must be above the floor to stand on something, metres: captured floors are uneven."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """One plant of one heel or ball."""

    kind: str
    first: int
    last: int
    """First and last planted frame."""
    place: tuple[float, float, float]
    """Mean world position of the point, metres."""
    heading: float
    """Way the foot points on the ground, radians."""
    slides: bool

    def ground(self, floor: float, height: float) -> float:
        """Height of the ground under the print, metres, for a figure ``height`` tall on a floor.

        A plant on a stair is drawn where it is, one on the ground in the ground's plane.
        """
        sole = self.place[1] - 0.02 * height
        return floor if sole - floor < STEP_HEIGHT else sole


@dataclass(frozen=True, slots=True, eq=False)
class FootTrack:
    """The four foot points of a clip over time."""

    points: FloatArray
    """Left heel, left ball, right heel, right ball. Shape (F, 4, 3), metres."""
    speeds: FloatArray
    """Metres per second. Shape (F, 4)."""
    planted: BoolArray
    """Shape (F, 4)."""
    prints: tuple[Footprint, ...]


def track_feet(
    motion: Motion, footplants: Footplants | None = None, *, body: BodyMap | None = None
) -> FootTrack | None:
    """The feet of a clip with their plants (detected where not given); None without feet."""
    from motionloom.features.footplants.detect import detect_footplants

    try:
        points = foot_points(motion, body=body)
        plants = detect_footplants(motion, body=body) if footplants is None else footplants
    except SkeletonMismatchError:
        return None
    if plants.n_frames != motion.n_frames:
        raise ArrayError(
            f"`footplants` must have the motion's {motion.n_frames} frames, got {plants.n_frames}."
        )
    speeds = np.linalg.norm(velocities(points, motion.fps), axis=-1)  # (F, 4)
    speed = np.linalg.norm(
        velocities(motion.root_positions, motion.fps)[:, [0, 2]], axis=-1
    )  # (F,)
    prints: list[Footprint] = []
    for kind, spans in plants.intervals().items():
        column = KINDS.index(kind)
        heel, ball = (column // 2) * 2, (column // 2) * 2 + 1
        for first, last in spans:
            here = slice(first, last + 1)
            x, y, z = points[here, column].mean(axis=0)
            along = (points[here, ball] - points[here, heel]).mean(axis=0)
            heading = float(np.arctan2(along[0], along[2]))
            # Only what the point does between its planted frames: what it did just before the
            # plant, which a central difference sees, is no slide.
            steps = np.linalg.norm(np.diff(points[here, column], axis=0), axis=-1) * motion.fps
            allowed = max(SLIDE_SPEED, SLIDE_SHARE * float(speed[here].mean()))
            slides = bool(steps.size and np.median(steps) > allowed)
            prints.append(
                Footprint(kind, first, last, (float(x), float(y), float(z)), heading, slides)
            )
    return FootTrack(points, speeds, plants.planted, tuple(prints))


def foot_colour(part: Part, track: FootTrack | None, frame: int, colour: Rgb) -> Rgb:
    """Green for a foot that stands in this frame, red for one that slides, else ``colour``."""
    if track is None or part.name not in ("foot", "toes"):
        return colour
    kinds = (
        [f"{part.side}_toe"] if part.name == "toes" else [f"{part.side}_heel", f"{part.side}_toe"]
    )
    now = [p for p in track.prints if p.kind in kinds and p.first <= frame <= p.last]
    if not now:
        return colour
    return SLIDING if any(p.slides for p in now) else PLANTED


@dataclass(frozen=True, slots=True, eq=False)
class BalanceTrack:
    """Balance, one row a frame; ``nan`` where there is nothing."""

    com: FloatArray
    """Centre of mass, metres. Shape (F, 3)."""
    zmp: FloatArray
    """Zero moment point on the ground (x, z). Shape (F, 2)."""
    support: FloatArray
    """Corners (x, z) of the soles that carry. Shape (F, 16, 2)."""


def track_balance(
    motion: Motion, feet: FootTrack, *, body: BodyMap, floor: float
) -> BalanceTrack | None:
    """The balance of a clip that stands on ``floor``; None where the body lacks parts."""
    try:
        com = centre_of_mass(motion, body=body)
        zmp = zero_moment_point(motion, body=body, floor=floor).points
        tips = tip_points(motion, body=body)
        width = HALF_WIDTH * stature(motion.skeleton, body)
    except MotionLoomError:
        return None
    corners, used = support_corners(feet.points, tips, feet.planted, width)
    return BalanceTrack(com, zmp, np.where(used[..., None], corners, np.nan))
