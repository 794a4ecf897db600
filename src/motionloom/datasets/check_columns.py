"""Columns of a data set's summary: what is measured of every clip, and how much of it passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from motionloom._arrays import not_negative
from motionloom._records import FrozenMapping
from motionloom.errors import ArrayError


class Column(NamedTuple):
    """One figure of a clip."""

    name: str
    label: str
    unit: str
    limit: float
    """Larger values are faults."""
    about: str
    fix: str
    """What to do about it."""


COLUMNS = (
    Column(
        "slide",
        "slide",
        "cm/s",
        8.0,
        "speed of planted feet; 7.5 % of the body's always pass",
        "Check rate and unit, or hold the feet with motionloom clean.",
    ),
    Column(
        "penetration",
        "penetration",
        "cm",
        4.0,
        "deepest that feet go below their floor",
        "motionloom clean lifts feet that it holds.",
    ),
    Column(
        "floor_offset",
        "floor",
        "cm",
        6.0,
        "height of the floor over y = 0",
        "ml.ground(motion) brings it to y = 0.",
    ),
    Column(
        "glitches",
        "glitches",
        "",
        0.0,
        "places where a joint leaves its path for one frame",
        "Cut the frames out, or leave the clip out.",
    ),
    Column(
        "jitter",
        "jitter",
        "mm",
        1.8,
        "noise of the noisiest joint; more below 60 fps",
        "Smooth the clip, or leave it out.",
    ),
    Column(
        "backward_knees",
        "knees",
        "deg",
        5.0,
        "farthest that a knee bends backwards",
        "Functions that make motion repair it; repair_knees=False keeps it.",
    ),
    Column(
        "still_root",
        "still root",
        "m",
        0.5,
        "way that feet walk under a body in place",
        "Give the body its travel back, or leave the clip out.",
    ),
    Column(
        "frame_rate",
        "rate",
        "x",
        1.3,
        "how many times too fast or too slow it plays",
        "Pass the true rate as source_fps=.",
    ),
    Column(
        "contacts",
        "contacts",
        "s",
        1.0,
        "time in which nothing carries an upright body",
        "The height of the root drifts, or the body hangs on something that is not in the file.",
    ),
    Column(
        "duplicates", "duplicates", "", 0.0, "other clips with the same motion", "Keep one of them."
    ),
    Column("file", "file", "", 0.0, "other faults of the file", ""),
)
"""In the order in which summaries list them."""
NAMES = tuple(column.name for column in COLUMNS)
FIXES: Mapping[str, str] = FrozenMapping({column.name: column.fix for column in COLUMNS})
LIMITS: Mapping[str, float] = FrozenMapping({column.name: column.limit for column in COLUMNS})


def limits_of(given: Mapping[str, float] | None) -> dict[str, float]:
    """The usual limits with those that a caller gives; infinity switches a column off."""
    limits = dict(LIMITS)
    if given is None:
        return limits
    if not isinstance(given, Mapping):
        raise ArrayError(f"`limits` must be a mapping of columns to numbers, got {given!r}.")
    for name, value in given.items():
        if name not in limits:
            raise ArrayError(f"`limits` must name columns ({', '.join(NAMES)}), got {name!r}.")
        limits[name] = value if value == float("inf") else not_negative(value, f"limits[{name!r}]")
    return limits
