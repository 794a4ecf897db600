"""Limits: how fast, how low and how far the sources of a result go, joint by joint.

Sources and results are measured by the same kernels. Every sole point is measured on its own:
rigs draw heels and balls at different heights, and a heel that lands is not a ball that drags.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom import _core
from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import constant, integer, kernel
from motionloom._records import record
from motionloom.features.checks.series import CheckRig, Series

N_SPANS = integer("ML_CHECK_SPANS")
"""Slides are compared over equally long contacts: of a fifteenth of a second, twice, four times
..., and any."""
N_HEIGHTS = integer("ML_CHECK_HEIGHTS")
"""Drags are compared 1, 2 and 3 cm over the floor."""

_measure = _core.kernel("ml_limits_measure")

EDGE_S, LONG_S = 0.06, 1.0
"""The first and last 0.06 s of a clip longer than 1 s set no limits."""


@record
class Limits(NamedTuple):
    """Largest values of the sources, captured glitches excluded."""

    turn: FloatArray
    """Rotation speed of judged joints, rad/s. (N,)"""
    speed: FloatArray
    """Relative to their parents, m/s. (N,)"""
    bend: FloatArray
    """Second difference of world positions, m/s2. (N,)"""
    carried: FloatArray
    """Rotation speed of joints above the pelvis, rad/s. (A,)"""
    least_flexion: FloatArray
    """Of both knees, radians. (2,)"""
    most_flexion: FloatArray
    """(2,)"""
    sole: FloatArray
    """Lowest heel and ball of each foot, metres. (4,)"""
    floor: FloatArray
    """Height below which each is on the floor, in the source with the lowest floor, metres. (4,)"""
    highest: FloatArray
    """Height at which each stands, in the source with the highest floor, metres. (4,)"""
    slide: FloatArray
    """Farthest that heels, balls and pads of heels get within a contact, by the contact's length;
    see ``contact_slides``, metres. (4 * N_SPANS,)"""
    drag: FloatArray
    """Farthest that heels, balls and pads of heels are dragged along the floor, by the height over
    it; see ``drag_lengths``, metres. (4 * N_HEIGHTS,)"""
    body: FloatArray
    """See ``BODY``. (4,)"""
    quick: FloatArray
    """Speed relative to its parent that each judged joint may always have, m/s. (N,)"""


BODY = ("head", "travel", "brake", "hover")
"""95th percentile of the head's rotation speed, rad/s; ground speed of the pelvis, m/s;
deceleration, m/s2; farthest off free fall where nothing supports the body, metres."""
HEAD, TRAVEL, BRAKE, HOVER = range(len(BODY))
LOWS = frozenset({"least_flexion", "sole", "floor"})
"""Fields of which the lower value is the wider limit."""


def no_limits(rig: CheckRig) -> Limits:
    """Limits of no source: nothing moves, soles may be anywhere."""
    n = len(rig.checked)
    return Limits(
        np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(len(rig.carriers)),
        np.full(2, np.inf), np.full(2, -np.inf), np.full(4, np.inf), np.full(4, np.inf),
        np.full(4, -np.inf), np.zeros(4 * N_SPANS), np.zeros(4 * N_HEIGHTS), np.zeros(len(BODY)),
        rig.quick,
    )  # fmt: skip


def merged(limits: Sequence[Limits]) -> Limits:
    """Limits of several sources together."""
    if len(limits) == 1:
        return limits[0]
    out = {}
    for name in Limits._fields:
        values = np.stack([getattr(each, name) for each in limits])
        out[name] = values.min(axis=0) if name in LOWS else values.max(axis=0)
    return Limits(**out)


def measure_limits(
    rig: CheckRig, series: Series, planted: BoolArray, fps: float, glitched: BoolArray
) -> Limits:
    """Limits of one clip.

    Parameters
    ----------
    rig, series
        The body, and what was measured of the clip.
    planted : (F, 4)
        Its contacts.
    fps
        Frames per second.
    glitched : (F,)
        Frames to leave out: capture glitches and their neighbours.
    """
    good = ~glitched
    edge = round(EDGE_S * fps)
    if len(good) > LONG_S * fps:  # takes often begin and end in the middle of a correction
        good[:edge] = good[len(good) - edge :] = False
    if not good.any():
        good = np.ones_like(good)

    n, has_legs = len(rig.checked), len(rig.legs) > 0
    turn, speed, bend, carried = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(len(rig.carriers))
    flexion, slide, drag = np.zeros((2, 2)), np.zeros(4 * N_SPANS), np.zeros(4 * N_HEIGHTS)
    sole, floor, highest, body = (np.zeros(4) for _ in range(4))
    _measure(
        series.core, fps, np.ascontiguousarray(planted, dtype=np.bool_), good,
        np.zeros((len(good), 4)), turn, speed, bend, carried, flexion, sole, floor, highest,
        slide, drag, body,
    )  # fmt: skip
    return Limits(
        turn,
        speed,
        bend,
        carried,
        flexion[0] if has_legs else np.full(2, np.inf),
        flexion[1] if has_legs else np.full(2, -np.inf),
        sole if has_legs else np.full(4, np.inf),
        floor,
        highest,
        slide,
        drag,
        body,
        rig.quick,
    )


@_core.kept
def limits_record(limits: Limits) -> _core.Record:
    """Limits as the core takes them."""
    return _core.record(
        "ml_check_limits",
        n_checked=len(limits.turn),
        n_carriers=len(limits.carried),
        **limits._asdict(),
    )


def limits_without_sources(rig: CheckRig) -> Limits:
    """Limits that no real body exceeds: nothing is known of how fast this one moves."""
    n = len(rig.checked)
    free = no_limits(rig)
    body = np.full_like(free.body, np.inf)
    return free._replace(
        turn=np.full(n, np.inf),
        speed=np.full(n, np.inf),
        bend=np.full(n, np.inf),
        carried=np.full(len(rig.carriers), np.inf),
        sole=np.full(4, -np.inf),
        floor=np.full(4, -np.inf),
        highest=np.full(4, np.inf),
        body=body,
    )


# --- Soles: floors, slides, drags and hovering of heels and balls

_slides = kernel("ml_sole_slides")
_drags = kernel("ml_sole_drags")
_hover = kernel("ml_sole_hover")
_floors = kernel("ml_sole_floors")

DRAG_SPEED = constant("ML_CHECK_DRAG_SPEED")
"""A sole point on the floor and faster than this is dragged, m/s."""
STANDS, LANDS = constant("ML_CHECK_STANDS"), constant("ML_CHECK_LANDS")
"""Parts of the planted heights of a point below which it stands, and below which it is on the
floor whatever it does: toes that push off go deeper than feet stand."""


def floor_heights(
    soles: FloatArray, lowest: FloatArray, planted: BoolArray, part: float = STANDS
) -> FloatArray:
    """Height at which each sole point stands, metres (4,); the lowest of all where it does not.

    Parameters
    ----------
    soles : (F, 4, 3)
        Sole points in the world.
    lowest : (F,)
        Height of the lowest point of the body.
    planted : (F, 4)
        Contacts.
    part
        Part of a point's planted heights that is lower.
    """
    out = np.zeros(4)
    soles, lowest = (np.ascontiguousarray(each, dtype=np.float64) for each in (soles, lowest))
    planted = np.ascontiguousarray(planted, dtype=np.bool_)
    _floors(len(soles), soles, lowest, planted, part, np.zeros(len(soles)), out)
    return out


def contact_slides(soles: FloatArray, planted: BoolArray, fps: float) -> FloatArray:
    """Farthest that points (F, 4, 3) get over the ground within a contact, metres (4 * S,).

    Of heels, balls and the pads of heels, then zeros; entry ``s`` of each is measured over parts of
    contacts as long as span ``s``. The pad of a heel, a fifth of the way to the ball, is where it
    carries the body. Both feet have that of the farther: a short clip shows few steps, and people
    walk with both feet alike.
    """
    n, out = len(soles), np.zeros(4 * N_SPANS)
    soles = np.ascontiguousarray(soles, dtype=np.float64)
    planted = np.ascontiguousarray(planted, dtype=np.bool_)
    _slides(n, soles, planted, fps, np.zeros((n, 4)), out)
    return out


def drag_lengths(soles: FloatArray, floor: FloatArray, fps: float) -> FloatArray:
    """Longest way along the floor of heels, balls, pads of heels, and zeros, metres (4 * H,).

    Of each 1, 2 and 3 cm over the floor: a foot that swings by at 2 cm does not license one that
    wipes the floor.
    """
    out = np.zeros(4 * N_HEIGHTS)
    soles = np.ascontiguousarray(soles, dtype=np.float64)
    _drags(len(soles), soles, np.ascontiguousarray(floor, dtype=np.float64), fps, out)
    return out


def free_fall_gap(
    soles: FloatArray,
    lowest: FloatArray,
    mass: FloatArray,
    floor: FloatArray,
    fps: float,
    out: npt.NDArray[np.float32] | None = None,
) -> float:
    """How far a body that nothing supports leaves the path of free fall at most, metres.

    ``out`` (F,) is filled with the gap of the run of frames that each frame is in, else 0.
    """
    soles, lowest, mass, floor = (
        np.ascontiguousarray(each, dtype=np.float64) for each in (soles, lowest, mass, floor)
    )
    return float(_hover(len(soles), soles, lowest, mass, floor, fps, out))
