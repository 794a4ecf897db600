"""The rows of a collection, checked before a kernel reads them: finite, bounded, unit rotations."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom.tables.collection.catalogue_check import FARTHEST_M

__all__ = ["fault_of_rows"]

BLOCK = 1 << 16
"""Values that are checked at a time: so many stay in the cache of a processor."""
SHORTEST, LONGEST = 0.5, 2.0
"""Length of a stored rotation, which is rounded to single precision: nearly 1."""


def fault_of_rows(name: str, rows: npt.NDArray[Any]) -> str:
    """What no motion can have among the rows of a column; empty where there is nothing.

    Parameters
    ----------
    name
        Of the column.
    rows
        All of its values.
    """
    if name == "planted":
        is_flag = not rows.size or int(rows.view(np.uint8).max()) <= 1
        return "" if is_flag else "flags that are neither true nor false"
    if name == "quats":
        return "" if _are_rotations(rows.reshape(-1, 4)) else "rotations that have no unit length"
    if _are_bounded(rows.reshape(-1)):
        return ""
    return f"values that are no numbers, or beyond {FARTHEST_M:g}"


def _are_bounded(values: npt.NDArray[Any]) -> bool:
    # Comparisons with what is no number are false.
    return all(
        values[k : k + BLOCK].min() >= -FARTHEST_M and values[k : k + BLOCK].max() <= FARTHEST_M
        for k in range(0, len(values), BLOCK)
    )


def _are_rotations(quats: npt.NDArray[Any]) -> bool:
    for first in range(0, len(quats), BLOCK):
        part = quats[first : first + BLOCK]
        squares = np.einsum("ij,ij->i", part, part)
        if not (squares.min() >= SHORTEST**2 and squares.max() <= LONGEST**2):
            return False
    return True
