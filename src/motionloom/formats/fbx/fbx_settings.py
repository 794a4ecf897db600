"""GlobalSettings of an FBX file: axes, unit of length and frame rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.findings import Finding
from motionloom.formats.fbx.fbx_document import FbxDocument
from motionloom.formats.fbx.fbx_objects import Properties, table_of

TICKS = 46186158000
"""Units of FBX time in a second."""
RATES: dict[int, float] = {
    **{1: 120.0, 2: 100.0, 3: 60.0, 4: 50.0, 5: 48.0, 6: 30.0, 7: 30.0, 10: 25.0, 11: 24.0},
    **{8: 30000 / 1001, 9: 30000 / 1001, 12: 1000.0, 13: 24000 / 1001, 15: 96.0, 16: 72.0},
    **{17: 60000 / 1001, 18: 120000 / 1001},
}
"""Frames per second of every TimeMode that has a fixed rate."""
CUSTOM_MODE = 14
FASTEST = 2e4


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """What the file states about its world."""

    unit_m: float | None
    """Metres per unit, None where the file states none."""
    up: str | None
    fps: float | None
    mirror: int | None
    """The axis to mirror where the axes are left-handed."""
    findings: tuple[Finding, ...]


def settings_of(document: FbxDocument) -> Settings:
    """The global settings of a file."""
    element = document.top.child("GlobalSettings")
    if element is None:
        return Settings(None, None, None, None, ())
    table = table_of(element, document.place(element))
    up, front, right = (_axis(table, name) for name in ("Up", "Front", "Coord"))
    mirror: int | None = None
    findings = []
    if up is not None and front is not None and right is not None:
        turn = float(np.dot(np.cross(right, up), front))
        mirror = int(np.abs(right).argmax()) if turn < 0.0 else None
        if turn == 0.0:
            raise FormatError(
                "UpAxis, FrontAxis and CoordAxis must be three different axes.",
                where="GlobalSettings",
                fix="Export the file again.",
            )
        text = f"up is {_letter(up)}, front is {_letter(front)}, right is {_letter(right)}"
        if mirror is not None:
            findings.append(
                Finding("note", "axes", f"{text}: left-handed; read mirrored, as right-handed.")
            )
        else:
            findings.append(Finding("note", "axes", f"{text}."))
    return Settings(
        _unit_m(table),
        None if up is None else _letter(up),
        _rate(table),
        mirror,
        tuple(findings),
    )


def _axis(table: Properties, name: str) -> FloatArray | None:
    """A direction, or None where the file states none."""
    number = table.whole(f"{name}Axis", -1)
    if number not in (0, 1, 2):
        return None
    axis = np.zeros(3)
    axis[number] = -1.0 if table.number(f"{name}AxisSign", 1.0) < 0.0 else 1.0
    return axis


def _letter(axis: FloatArray) -> str:
    number = int(np.abs(axis).argmax())
    return ("-" if axis[number] < 0.0 else "") + "xyz"[number]


def _unit_m(table: Properties) -> float | None:
    centimetres = table.number("UnitScaleFactor", 0.0)
    if centimetres == 0.0:
        return None
    if not 1e-6 <= centimetres <= 1e6:
        raise FormatError(
            f"UnitScaleFactor must be centimetres per unit, got {centimetres:g}.",
            where="GlobalSettings",
            fix="Export the file with a unit of length.",
        )
    return centimetres / 100.0


def _rate(table: Properties) -> float | None:
    mode = table.whole("TimeMode", 0)
    if mode != CUSTOM_MODE:
        return RATES.get(mode)
    fps = table.number("CustomFrameRate", 0.0)
    return fps if 0.0 < fps < FASTEST else None
