"""Options NAME=VALUE that may be repeated: every name once."""

from __future__ import annotations

from collections.abc import Iterable

import motionloom as ml


def named_values(pairs: Iterable[tuple[str, float]], option: str) -> dict[str, float]:
    """The value of each name; an error where a name is given twice, also with the same value."""
    values: dict[str, float] = {}
    for name, value in pairs:
        if name in values:
            raise ml.ArrayError(
                f"{option} must give each name one value, got {name!r} twice: {values[name]:g} "
                f"and {value:g}. Leave one of them out."
            )
        values[name] = value
    return values


def named_number(text: str, option: str, kind: str, example: str) -> tuple[str, float]:
    """A name and a number from a text such as LeftHand=0."""
    name, _, number = text.rpartition("=")
    try:
        if name:
            return name, float(number)
    except ValueError:
        pass
    raise ml.ArrayError(f"{option} must be a {kind} and a number, such as {example}, got {text!r}.")
