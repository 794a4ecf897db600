"""A digest of any result: of the arrays in it to the last bit, and of everything else as text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

import motionloom as ml

DEEPEST = 12


def digest(*values: Any) -> str:
    """Sixteen characters that change with any bit of the values."""
    found = hashlib.sha256()
    for value in values:
        _add(found.update, value, 0)
    return found.hexdigest()[:16]


def _add(update: Callable[[bytes], object], value: Any, depth: int) -> None:
    if depth > DEEPEST:
        raise ValueError("a result that contains itself has no digest")
    if callable(value) or isinstance(value, ml.QualityCheck):
        return  # how something was made or is judged, not what it is
    if isinstance(value, np.ndarray | np.generic):
        array = np.ascontiguousarray(value)
        update(f"{array.dtype}{array.shape}".encode())
        update(repr(array.tolist()).encode() if array.dtype == object else array.tobytes())
    elif isinstance(value, ml.Verification):
        update(value.describe().encode())
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            if each.init and not each.name.startswith("_"):  # others follow from these
                update(each.name.encode())
                _add(update, getattr(value, each.name), depth + 1)
    elif isinstance(value, Mapping):
        for key in value:
            update(repr(key).encode())
            _add(update, value[key], depth + 1)
    elif isinstance(value, list | tuple):
        update(f"[{len(value)}".encode())
        for each in value:
            _add(update, each, depth + 1)
    elif value is None or isinstance(value, str | bytes | bool | int | float | complex):
        update(repr(value).encode())
    else:
        raise TypeError(f"no digest of {type(value).__name__}: name the parts that count")
