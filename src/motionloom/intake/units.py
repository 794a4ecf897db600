"""The unit of length of a file: stated, or detected from how tall the character stands."""

from __future__ import annotations

import math

import numpy as np

from motionloom._arrays import positive, unit_of_length
from motionloom.errors import ArrayError, FormatError
from motionloom.findings import Finding
from motionloom.motion.motion import Motion

UNITS: dict[str, float] = {
    "m": 1.0,
    "cm": 0.01,
    "mm": 0.001,
    "in": 0.0254,
    "cmu": 0.0254 / 0.45,
    "dm": 0.1,
    "ft": 0.3048,
}
"""Metres per unit. ``cmu`` is that of the CMU database, whose ASF files say ``length 0.45``."""
HUMAN_M = (1.4, 2.1)
"""Statures that are taken for a grown person's, metres."""
_TITLES = {
    "m": "metres",
    "cm": "centimetres",
    "mm": "millimetres",
    "in": "inches",
    "cmu": "CMU units (5.644 cm)",
    "dm": "decimetres",
    "ft": "feet",
}
_USUAL_M = 1.72
_CHILD_M = 0.9
LONGEST = 1e9
"""Longest length in any unit: a path of a thousand kilometres in millimetres."""
RATES = (0.01, 1e5)
"""Frame rates that a clip can have."""


def unit_metres(unit: str | float) -> float:
    """Metres per unit, from a name (``"cm"``) or a number.

    Examples
    --------
    >>> unit_metres("cm"), unit_metres(0.0254)
    (0.01, 0.0254)
    """
    if isinstance(unit, str):
        name = unit.strip().lower()
        if name in UNITS:
            return UNITS[name]
        try:
            unit = float(name)
        except ValueError:
            raise ArrayError(
                f"`unit` must be one of {', '.join(UNITS)}, or metres per unit, got {unit!r}."
            ) from None
    return unit_of_length(unit, "unit")


def named_unit(unit_m: float) -> str:
    """Name of a unit of ``unit_m`` metres: ``"centimetres"``, ``"units of 0.02 m"``.

    Returns
    -------
    str
        The name.

    Examples
    --------
    >>> named_unit(0.01)
    'centimetres'
    """
    unit_m = positive(unit_m, "unit_m")
    for name, metres in UNITS.items():
        if math.isclose(metres, unit_m, rel_tol=1e-4):
            return _TITLES[name]
    return f"units of {unit_m:g} m"


def detect_unit(stature: float | None) -> tuple[float, Finding]:
    """The known unit in which a character this tall is a grown person, and the finding.

    Parameters
    ----------
    stature
        Standing height in the file's unit; None where no body was made out.
    """
    if stature is None or not math.isfinite(stature) or stature <= 0.0:
        return 1.0, Finding(
            "note",
            "unit",
            "no person was recognised, so lengths are read as metres.",
            'Pass unit= (such as unit="cm") if they are not.',
        )
    # Known units lie a factor of 1.7 and more apart and people less than 1.5, so only a
    # child or a giant can be taken for the wrong one.
    name = min(UNITS, key=lambda key: abs(math.log(stature * UNITS[key] / _USUAL_M)))
    height = stature * UNITS[name]
    reason = "no known unit makes the character 1.4 to 2.1 m tall"
    fix = 'Pass unit= (such as unit="cm") to say the unit.'
    if HUMAN_M[0] <= height <= HUMAN_M[1]:
        text = f"{_TITLES[name]}, by a stature of {height:.2f} m."
        return UNITS[name], Finding("note", "unit", text)
    if _CHILD_M <= height < HUMAN_M[0]:
        text = f"{reason}; {_TITLES[name]} make it {height:.2f} m, as a child may be."
        return UNITS[name], Finding("warning", "unit", text, fix)
    # A rig scaled by hand fits no known unit, so it is read at a person's size.
    unit_m = float(f"{_USUAL_M / stature:.2g}")
    text = (
        f"{reason} ({_TITLES[name]} come nearest, with {height:.2f} m); 1 unit was taken for "
        f"{100 * unit_m:g} cm, which makes it {stature * unit_m:.2f} m."
    )
    return unit_m, Finding("warning", "unit", text, fix)


def stature_finding(stature: float | None, unit_m: float, *, stated_by: str) -> Finding:
    """A note on a stated unit; a warning where it makes the character a dwarf or a giant."""
    text = f"{named_unit(unit_m)}, as the {stated_by} says"
    if stature is None or not math.isfinite(stature) or stature <= 0.0:
        return Finding("note", "unit", f"{text}.")
    height = stature * unit_m
    # Stated units are believed over wider bounds: children and stylised figures are real.
    if 0.5 <= height <= 3.0 or stated_by == "caller":
        return Finding("note", "unit", f"{text}: a stature of {height:.2f} m.")
    better, _ = detect_unit(stature)
    return Finding(
        "warning",
        "unit",
        f"{text}, but that makes the character {height:.3g} m tall.",
        f"Pass unit={better:g} if it should be {stature * better:.2f} m.",
    )


def refuse_absurd(motion: Motion, fps: float | None = None, *, longest: float = LONGEST) -> None:
    """Refuse lengths and rates beyond all sense, whose squares would overflow.

    Parameters
    ----------
    motion
        In the unit of its file.
    fps
        The rate where the file's own is not to be used.
    longest
        Longest length, in that unit.
    """
    lengths = {
        "root positions": motion.root_positions,
        "offsets": motion.skeleton.offsets,
        "end sites": motion.skeleton.end_offsets,
        "joint positions": motion.joint_translations,
    }
    for name, values in lengths.items():
        if values is None or not values.size:
            continue
        largest = float(np.abs(values).max())
        if largest > longest:
            raise FormatError(
                f"The {name} must stay below {longest:g} units, got {largest:g}.",
                fix="Repair the numbers, or choose a larger unit.",
            )
    rate = motion.fps if fps is None else fps
    if not RATES[0] <= rate <= RATES[1]:
        raise FormatError(
            f"The frame rate must lie between {RATES[0]:g} and {RATES[1]:g} per second, "
            f"got {rate:g}.",
            fix="Say the true one with fps=.",
        )
