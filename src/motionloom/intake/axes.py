"""Axes and units: the up axis and the unit of length of a file, stated or detected.

Whole clips are turned from the axes of a file to Y up and back, exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray, positive, unit_of_length
from motionloom.body.body_map import BodyMap
from motionloom.errors import ArrayError, FormatError
from motionloom.findings import Finding
from motionloom.motion.motion import Motion, Skeleton

# For every up axis of a file: which file component, with which sign, becomes our x, y and z.
# All are proper turns, so nothing is mirrored, and all keep as many axes in place as they can.
_COMPONENTS: dict[str, tuple[tuple[int, int, int], tuple[float, float, float]]] = {
    "y": ((0, 1, 2), (1.0, 1.0, 1.0)),
    "z": ((0, 2, 1), (1.0, 1.0, -1.0)),
    "x": ((1, 0, 2), (-1.0, 1.0, 1.0)),
    "-y": ((0, 1, 2), (-1.0, -1.0, 1.0)),
    "-z": ((0, 2, 1), (1.0, -1.0, 1.0)),
    "-x": ((1, 0, 2), (1.0, -1.0, 1.0)),
}
UP_AXES = tuple(_COMPONENTS)
"""Up axes that a file can have, the usual one first."""
_NEAR = np.cos(np.radians(40.0))
"""A body counts as standing along an axis when it is within this angle of it."""
_CUSTOMARY_SHARE = 0.15
"""Standing along +Y for this share of the frames settles it: bodies that lie down also stand up."""
_CLEAR_SHARE = 0.6


def checked_up(up: str) -> str:
    """``up`` in the form that :attr:`Source.up` has: ``"Z"`` and ``"+z"`` become ``"z"``."""
    axis = up.strip().lower().removeprefix("+") if isinstance(up, str) else ""
    if axis not in _COMPONENTS:
        raise ArrayError(f"`up` must be one of {', '.join(UP_AXES)}, got {up!r}.")
    return axis


def to_world(motion: Motion, *, up: str, unit_m: float) -> Motion:
    """A motion in a file's axes and unit, brought to Y up and metres.

    Every frame of every joint is turned along with the world (rotations are conjugated), so that
    components only change places and signs: :func:`from_world` gives back the same numbers.

    Examples
    --------
    >>> bone = Skeleton(["root", "tip"], [-1, 0], [[0, 0, 0], [0, 0, 50]])
    >>> z_up = Motion(bone, np.zeros((1, 3)), np.array([[[1.0, 0, 0, 0]] * 2]), fps=30)
    >>> to_world(z_up, up="z", unit_m=0.01).world_positions()[0, 1].tolist()
    [0.0, 0.5, 0.0]
    """
    return _converted(motion, _Change(*_COMPONENTS[up], unit_m))


def skeleton_to_world(skeleton: Skeleton, *, up: str, unit_m: float) -> Skeleton:
    """A skeleton in a file's axes and unit, brought to Y up and metres."""
    change = _Change(*_COMPONENTS[up], unit_m)
    if change.keeps_axes and unit_m == 1.0:
        return skeleton
    return _converted_skeleton(skeleton, change)


def from_world(motion: Motion, *, up: str, unit_m: float) -> Motion:
    """A motion in Y up and metres, put into a file's axes and unit."""
    order, sign = _COMPONENTS[up]
    # The inverse of "take component order[i] with sign[i]". All these orders swap at most two
    # components, so each is its own inverse; only the signs travel.
    back = (sign[order[0]], sign[order[1]], sign[order[2]])
    return _converted(motion, _Change(order, back, unit_m, divide=True))


def turn_to_world(up: str) -> FloatArray:
    """The matrix (3, 3) that brings a file's axes to Y up."""
    order, sign = _COMPONENTS[up]
    return np.asarray(np.eye(3)[list(order)] * np.array(sign)[:, None])


def turn_from_world(up: str) -> FloatArray:
    """The matrix (3, 3) that brings Y up to a file's axes."""
    return turn_to_world(up).T


@dataclass(frozen=True, slots=True)
class _Change:
    order: tuple[int, int, int]
    sign: tuple[float, float, float]
    unit_m: float
    divide: bool = False

    @property
    def keeps_axes(self) -> bool:
        return self.order == (0, 1, 2) and self.sign == (1.0, 1.0, 1.0)

    def lengths(self, values: FloatArray) -> FloatArray:
        turned = values if self.keeps_axes else values[..., self.order] * self.sign
        # Dividing undoes multiplying to the last bit or nearly so; by the reciprocal it would not.
        return turned / self.unit_m if self.divide else turned * self.unit_m

    def turns(self, quats: FloatArray) -> FloatArray:
        if self.keeps_axes:
            return quats
        turned = np.zeros_like(quats)
        turned[..., 0] = quats[..., 0]
        for to, (component, sign) in enumerate(zip(self.order, self.sign, strict=True), start=1):
            turned[..., to] = quats[..., 1 + component] * sign
        return turned


def _converted_skeleton(skeleton: Skeleton, change: _Change) -> Skeleton:
    return Skeleton(
        skeleton.names,
        skeleton.parents,
        change.lengths(skeleton.offsets),
        change.turns(skeleton.rest_quats),
        skeleton.end_parents,
        change.lengths(skeleton.end_offsets),
    )


def _converted(motion: Motion, change: _Change) -> Motion:
    if change.keeps_axes and change.unit_m == 1.0:
        return motion
    arrays = {"root_positions": change.lengths(motion.root_positions)}
    if motion.joint_translations is not None:
        arrays["joint_translations"] = change.lengths(motion.joint_translations)
    if not change.keeps_axes:
        arrays["local_quats"] = change.turns(motion.local_quats)
    for array in arrays.values():
        # No other object holds these arrays, so the new Motion may take them without a copy.
        array.flags.writeable = False
    return motion.replace(skeleton=_converted_skeleton(motion.skeleton, change), **arrays)


def detect_up(positions: FloatArray, body: BodyMap) -> tuple[str, Finding]:
    """The axis along which the body stands in most frames, and the finding that says so.

    +Y, the custom, wins unless the body hardly ever stands along it and clearly stands along
    another axis: someone who crawls through a whole clip must not be set on their feet.

    Parameters
    ----------
    positions : (F, J, 3)
        Joints in the file's axes, some frames of the clip.
    body
        Which joint is which.
    """
    top = next((j for j in (body.head, body.neck, *reversed(body.spine)) if j is not None), None)
    feet = [j for j in (body.left_ankle, body.right_ankle) if j is not None]
    if not feet:
        feet = [j for j in (body.left_knee, body.right_knee) if j is not None]
    if top is None or not feet:
        return "y", Finding(
            "note",
            "up axis",
            "y is assumed: no body was recognised that shows it.",
            'Pass up= (such as up="z") if that is wrong.',
        )
    along = positions[:, top] - positions[:, feet].mean(axis=1)  # (F, 3)
    length = np.linalg.norm(along, axis=1, keepdims=True)
    along = along / np.where(length > 0.0, length, 1.0)
    shares = {up: float(np.mean(along @ _axis(up) > _NEAR)) for up in UP_AXES}
    best = max(shares, key=lambda up: shares[up])
    if best != "y" and shares["y"] < _CUSTOMARY_SHARE and shares[best] >= _CLEAR_SHARE:
        return best, Finding(
            "note",
            "up axis",
            f"{best}, by how the body stands in {shares[best]:.0%} of the frames; turned to y up.",
            'Pass up="y" to leave it as it is.',
        )
    return "y", Finding(
        "note", "up axis", f"y; the body stands along it in {shares['y']:.0%} of the frames."
    )


def _axis(up: str) -> FloatArray:
    axis = np.zeros(3)
    axis["xyz".index(up[-1])] = -1.0 if up.startswith("-") else 1.0
    return axis


# --- The unit of length: stated, or detected from how tall the character stands

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
