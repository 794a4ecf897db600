"""Soles: floors, slides, drags and hovering of heels and balls.

Sources and results are measured by the same kernels. Every sole point is measured on its own:
rigs draw heels and balls at different heights, and a heel that lands is not a ball that drags.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from motionloom._arrays import BoolArray, FloatArray
from motionloom._core import kernel

_slides = kernel("ml_sole_slides")
_drags = kernel("ml_sole_drags")
_hover = kernel("ml_sole_hover")
_floors = kernel("ml_sole_floors")

DRAG_SPEED = 0.25
"""A sole point on the floor and faster than this is dragged, m/s; as in core/src/checks/check.h."""
N_SPANS = 7
"""Slides are compared over equally long contacts: of a fifteenth of a second, twice, four times
..., and any."""
N_HEIGHTS = 3
"""Drags are compared 1, 2 and 3 cm over the floor; as in core/src/checks/check.h."""
STANDS, LANDS = 0.25, 0.10
"""Parts of the planted heights of a point below which it stands, and below which it is on the
floor whatever it does: toes that push off go deeper than feet stand; as in
core/src/checks/check_limits.c."""


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
