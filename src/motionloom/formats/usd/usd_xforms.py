"""Transforms of prims: ``xformOpOrder`` and its operations as one matrix."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import FormatError
from motionloom.formats.usd.usd_prims import Prim, Property
from motionloom.formats.usd.usd_tokens import Numbers, Tokens, text_of
from motionloom.rotation import quat
from motionloom.rotation.euler import euler_to_quat

_RESET = "!resetXformStack!"
_WIDTHS = {"translate": 3, "scale": 3, "orient": 4, "transform": 16}
_TURNS = ("X", "Y", "Z", *("".join(each) for each in permutations("XYZ")))
MOST_OPS = 64


def flat_numbers(value: Any, tokens: Tokens, what: str) -> FloatArray:
    """The numbers of a value, however they are nested."""
    if isinstance(value, Numbers):
        return tokens.numbers(value, what)
    waiting, numbers = [value], []
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, list):
            waiting.extend(reversed(entry))
            continue
        if isinstance(entry, Numbers):
            numbers.extend(tokens.numbers(entry, what).tolist())
            continue
        try:
            numbers.append(float(entry))
        except (TypeError, ValueError):
            raise FormatError(f"{what}: numbers are needed, got {str(entry)[:40]!r}.") from None
    values = np.array(numbers, dtype=np.float64)
    if values.size and not np.abs(values).max() < 1e12:
        raise FormatError(f"{what}: numbers must be finite and below 1e12.")
    return values


def matrix_of(prim: Prim, tokens: Tokens) -> tuple[FloatArray, bool, bool]:
    """The local matrix for column vectors, whether it is reset, and whether it moves."""
    order = prim.properties.get("xformOpOrder")
    listed = order.value if order is not None and isinstance(order.value, list) else []
    names = [text_of(name) for name in listed if isinstance(name, str)]
    if len(names) > MOST_OPS:
        raise FormatError(f"A prim may have {MOST_OPS} transforms.", where=prim.path)
    matrix, moves = np.eye(4), False
    for name in names:
        if name == _RESET:
            continue
        inverted = name.startswith("!invert!")
        entry = prim.properties.get(name.removeprefix("!invert!"))
        if entry is None:
            continue
        value = _still(entry)
        moves = moves or (entry.samples is not None and len(entry.samples) > 1)
        if value is None:
            continue
        step = _operation(name.removeprefix("!invert!"), value, tokens, prim.path)
        if inverted:
            if abs(np.linalg.det(step[:3, :3])) < 1e-9:
                raise FormatError("A transform must be invertible.", where=prim.path)
            step = np.asarray(np.linalg.inv(step), dtype=np.float64)
        matrix = matrix @ step
    return matrix, _RESET in names, moves


def _still(entry: Property) -> Any:
    """The default value, else the first sample."""
    if entry.value is None and entry.samples:
        return entry.samples[min(entry.samples)]
    return entry.value


def _operation(name: str, value: Any, tokens: Tokens, where: str) -> FloatArray:
    kind = name.split(":")[1] if name.count(":") else name
    numbers = flat_numbers(value, tokens, f"{where}.{name}")
    width = _WIDTHS.get(kind, 1 if len(kind) == len("rotateX") else 3)
    if numbers.size != width:
        raise FormatError(
            f"{width} numbers are needed, got {numbers.size}.", where=f"{where}.{name}"
        )
    step = np.eye(4)
    if kind == "translate":
        step[:3, 3] = numbers
    elif kind == "scale":
        step[:3, :3] = np.diag(numbers)
    elif kind == "transform":
        step = numbers.reshape(4, 4).T.copy()
    elif kind == "orient":
        if not np.linalg.norm(numbers) > 1e-6:
            raise FormatError("A rotation must have a length.", where=f"{where}.{name}")
        step[:3, :3] = quat.to_matrix(quat.normalize(numbers))
    elif kind.startswith("rotate") and kind[6:] in _TURNS:
        # Numbers are those of X, Y and Z; rotateXYZ turns about X first.
        angles = dict(zip("XYZ" if width == 3 else kind[6:], np.radians(numbers), strict=True))
        order = kind[6:][::-1]
        turn = euler_to_quat(np.array([angles[axis] for axis in order]), order)
        step[:3, :3] = quat.to_matrix(turn)
    else:
        raise FormatError(f"The transform {name[:40]!r} is not known.", where=where)
    return step
