"""Gait: how people step at a given speed, as one row of numbers read out of a table."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import finite
from motionloom._core import constant
from motionloom.errors import ArrayError

SWING_KEYS = (0.15, 0.4, 0.65, 0.87)
"""Parts of the swing at which the table gives the foot's pitch and lift."""


@dataclass(frozen=True, slots=True)
class Gait:
    """Everything that the step planner and the body curves read. Metres, seconds, radians.

    Parts (``stance``, ``flat_at``, ``heel_off``, ``under``) are of the whole cycle, from strike.
    """

    speed: float
    cadence: float
    """Steps per minute."""
    stance: float
    flat_at: float
    heel_off: float
    under: float
    """When the body passes over the ankle."""
    width: float
    """Between the ankles of both feet, across the path."""
    bob: float
    """Rise and fall of the pelvis in walking, peak to peak; running follows from gravity."""
    list: float
    """Pelvis dropping on the swing side, each way."""
    yaw: float
    """Pelvis turning with the leading leg, each way."""
    lean: float
    """Trunk forward."""
    arm: float
    """Shoulder swing, each way."""
    arm_mean: float
    """Middle of the swing, forward positive."""
    elbow: float
    elbow_swing: float
    strike_pitch: float
    """Heel up is positive, toes up negative."""
    off_pitch: float
    knee: float
    """Smallest knee flexion that the pelvis leaves to a leg."""
    swing_pitch: tuple[float, ...]
    swing_lift: tuple[float, ...]
    arrive: float = 0.0
    """Speed over the ground that a foot still has at strike, metres per second."""
    drop: float = 0.0
    toe_out: float = np.deg2rad(6.0)
    base_pitch: float = 0.0
    """Above 0 for walking on the toes."""
    rise: float = 0.0
    """Height of a stair step, metres; below 0 going down."""

    @property
    def frequency(self) -> float:
        """Cycles (two steps) per second."""
        return self.cadence / 120.0

    @property
    def flight(self) -> bool:
        """Whether there are moments with no foot on the ground."""
        return self.stance < 0.5


_DEGREES = (
    "list", "yaw", "lean", "arm", "arm_mean", "elbow", "elbow_swing", "strike_pitch", "off_pitch",
    "knee", "base_pitch", "toe_out",
)  # fmt: skip
_COLUMNS = (
    "speed", "cadence", "stance", "flat_at", "heel_off", "under", "width", "bob", "list",
    "yaw", "lean", "arm", "arm_mean", "elbow", "elbow_swing", "strike_pitch", "off_pitch", "knee",
)  # fmt: skip
# Textbook figures of adult gait at a stature of 1.75 m, degrees here, rows by speed; the last two
# entries of a row are the foot's pitch and the ball's lift at SWING_KEYS.
_TABLE: dict[str, tuple[tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]], ...]] = {
    "walk": (
        ((0.4, 62, .69, .10, .51, .270, .11, .012, 2, 2, 1, 7, -2, 14, 6, -10, 44, 5),
         (50, 24, 6, -8), (.032, .014, .002, .004)),
        ((0.8, 90, .64, .10, .41, .246, .10, .018, 3, 3, 1, 12, -3, 16, 8, -16, 55, 3),
         (61, 27, 5, -13), (.050, .007, -.002, .002)),
        ((1.3, 112, .61, .09, .38, .240, .09, .034, 4, 5, 2, 20, -4, 20, 14, -20, 64, 3),
         (72, 33, 5, -17), (.060, .010, -.006, .001)),
        ((1.8, 130, .58, .08, .36, .227, .08, .044, 5, 8, 3, 28, -5, 30, 15, -23, 70, 3),
         (78, 36, 5, -20), (.064, .014, -.006, .001)),
        ((2.2, 142, .56, .075, .34, .216, .08, .050, 5, 9, 4, 32, -5, 45, 15, -24, 72, 3),
         (80, 38, 6, -21), (.068, .018, -.005, .001)),
    ),
    "run": (
        ((1.6, 152, .44, .07, .22, .165, .06, 0, 4, 5, 5, 24, -8, 75, 10, -8, 50, 9),
         (68, 44, 6, -6), (.06, .065, .025, .01)),
        ((2.5, 163, .40, .06, .185, .145, .05, 0, 5, 7, 7, 30, -10, 82, 10, -8, 54, 9),
         (76, 56, 10, -6), (.08, .10, .045, .015)),
        ((4.0, 175, .30, .04, .13, .098, .03, 0, 6, 9, 10, 38, -12, 92, 10, -4, 58, 9),
         (88, 84, 26, -2), (.115, .21, .12, .04)),
        ((6.5, 205, .21, .03, .09, .066, .03, 0, 6, 11, 12, 48, -12, 95, 12, 6, 60, 9),
         (94, 104, 42, 4), (.16, .33, .22, .07)),
    ),
    "sneak": (
        ((0.45, 50, .70, .06, .60, .30, .15, .015, 2, 6, 20, 8, 12, 62, 14, 14, 36, 33),
         (52, 30, 10, 12), (.09, .16, .13, .05)),
    ),
    "tiptoe": (
        ((0.8, 112, .62, .06, .44, .27, .08, .018, 3, 4, 1, 9, 2, 34, 8, 31, 44, 13),
         (50, 34, 24, 29), (.030, .024, .020, .012)),
    ),
    "stairs": (
        ((0.42, 90, .62, .08, .46, .27, .12, .012, 4, 3, 12, 14, 2, 26, 10, 13, 36, 9),
         (52, 36, 18, 13), (.125, .205, .145, .045)),
    ),
    "stairs_down": (
        ((0.42, 90, .60, .10, .41, .24, .12, .010, 3, 3, 2, 10, 2, 30, 8, 27, 38, 9),
         (50, 30, 16, 25), (.07, .15, .17, .09)),
    ),
    "stand": (
        ((0.0, 0, 1.0, .0, 1.0, .5, .18, .0, 3, 0, 1, 0, -2, 14, 0, 0, 0, 5),
         (0, 0, 0, 0), (0, 0, 0, 0)),
    ),
}  # fmt: skip
_TABLE_OF = {"jog": "run"}
_RANGES = {
    "walk": (0.3, 2.0),
    "jog": (1.6, 3.4),
    "run": (2.6, 6.5),
    "sneak": (0.2, 0.8),
    "tiptoe": (0.3, 1.3),
    "stairs": (0.25, 0.65),
    "stairs_down": (0.25, 0.65),
}
_DEFAULT_SPEED = {
    "walk": 1.3, "jog": 2.5, "run": 4.0, "sneak": 0.45, "tiptoe": 0.8, "stairs": 0.45,
    "stairs_down": 0.45,
}  # fmt: skip
_EXTRA = {
    "sneak": {"toe_out": np.deg2rad(10.0)},
    "tiptoe": {"base_pitch": np.deg2rad(24.0)},
    "stairs": {"rise": 0.17},
    "stairs_down": {"rise": -0.17},
}
GRAVITY = constant("ML_GRAVITY")
"""Metres per second squared."""
GOING = 0.28
"""Depth of a stair step, metres."""
GAITS = tuple(_RANGES)


def gait_at(kind: str, *, speed: float | None, cadence: float | None, height: float) -> Gait:
    """The gait of a person of this stature at a speed, and at a given cadence, if any.

    Lengths grow with stature and times with its square root, so that tall and short people who
    walk alike walk alike here.

    Parameters
    ----------
    kind
        One of :data:`GAITS`.
    speed
        Metres per second; the kind's usual one by default.
    cadence
        Steps per minute; what people choose at this speed by default.
    height
        Stature, metres.
    """
    size = height / 1.75
    speed_scale = float(np.sqrt(size))
    speed = _DEFAULT_SPEED[kind] * speed_scale if speed is None else finite(speed, "speed")
    low, high = (bound * speed_scale for bound in _RANGES[kind])
    if not low <= speed <= high:
        raise ArrayError(
            f"`speed` of a {kind} must be {low:.2f} to {high:.2f} m/s at this height, "
            f"got {speed:g}. Choose another kind for other speeds."
        )
    gait = _row(_TABLE_OF.get(kind, kind), speed / speed_scale)
    usual = _usual_cadence(kind, gait, speed, speed_scale)
    steps = usual if cadence is None else finite(cadence, "cadence")
    low, high = (0.8 * usual, 1.35 * usual)
    if gait.rise and cadence is not None and abs(steps - usual) > 0.01 * usual:
        raise ArrayError(
            f"`cadence` on stairs follows from the speed ({usual:.0f} steps per minute at "
            f"{speed:.2f} m/s), got {steps:g}. Leave one of the two out."
        )
    if not gait.rise and not low <= steps <= high:
        raise ArrayError(
            f"`cadence` of a {kind} at {speed:.2f} m/s must be {low:.0f} to {high:.0f} steps "
            f"per minute, got {steps:g}."
        )
    return dataclasses.replace(
        gait,
        speed=speed,
        cadence=steps,
        width=gait.width * size,
        arrive=0.4 * speed,
        drop=0.25,
        bob=gait.bob * size,
        swing_lift=tuple(value * size for value in gait.swing_lift),
    )


def standing(height: float) -> Gait:
    """The posture of somebody who stands: nothing in it moves."""
    return dataclasses.replace(_row("stand", 0.0), width=0.18 * height / 1.75)


def _usual_cadence(kind: str, gait: Gait, speed: float, speed_scale: float) -> float:
    if gait.rise:
        return speed / GOING * 60.0
    if len(_TABLE[_TABLE_OF.get(kind, kind)]) > 1:
        return gait.cadence / speed_scale
    # One row only: both step length and cadence grow with the root of speed, as in walking.
    return gait.cadence / speed_scale * float(np.sqrt(speed / speed_scale / gait.speed))


def _row(table: str, speed: float) -> Gait:
    rows = _TABLE[table]
    speeds = [row[0][0] for row in rows]

    def read(values: list[float]) -> float:
        return float(np.interp(speed, speeds, values))

    numbers = {name: read([row[0][i] for row in rows]) for i, name in enumerate(_COLUMNS)}
    for name in _DEGREES:
        if name in numbers:
            numbers[name] = float(np.deg2rad(numbers[name]))
    pitch = tuple(float(np.deg2rad(read([row[1][i] for row in rows]))) for i in range(4))
    lift = tuple(read([row[2][i] for row in rows]) for i in range(4))
    extra = _EXTRA.get(table, {})
    return Gait(**{**numbers, **extra}, swing_pitch=pitch, swing_lift=lift)
