"""Values as USD text: the shortest decimals that give back the same number."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")


def quoted_text(text: str) -> str:
    """A string between double quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    for character, code in (("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"), ("\0", "")):
        escaped = escaped.replace(character, code)
    return f'"{escaped}"'


def quoted_list(texts: Iterable[str]) -> str:
    """A list of strings."""
    return f"[{', '.join(quoted_text(text) for text in texts)}]"


def tuples_of(rows: npt.NDArray[np.floating]) -> str:
    """Rows (N, K) as ``[(a, b), (c, d)]``: float32 in 9 digits at most, float64 in 17."""
    n_rows, width = rows.shape
    whole = rows + np.zeros(1, rows.dtype)  # -0.0 becomes 0.0
    if rows.dtype == np.float32:
        texts = whole.ravel().astype("U24").tolist()
    else:
        texts = [number(value) for value in whole.ravel().tolist()]
    starts = range(0, n_rows * width, width)
    rows_text = (", ".join(texts[at : at + width]) for at in starts)
    return f"[{', '.join(f'({row})' for row in rows_text)}]"


def matrices_of(matrices: FloatArray) -> str:
    """Matrices (N, 4, 4) for column vectors, as USD writes them: for row vectors."""
    rows = (tuples_of(matrix.T)[1:-1] for matrix in matrices)
    return f"[{', '.join(f'( {row} )' for row in rows)}]"


def number(value: float) -> str:
    """A double, whole numbers without a fraction."""
    whole = abs(value) < 1e15 and value == int(value)
    return str(int(value)) if whole else repr(float(value))


def identifiers(names: Iterable[str]) -> list[str]:
    """Unique names of prims: letters, digits and underscores."""
    taken: set[str] = set()
    result = []
    for index, name in enumerate(names):
        base = _NOT_IN_NAMES.sub("_", name) or f"joint_{index}"
        if base[0].isdigit():
            base = f"_{base}"
        unique, again = base, 2
        while unique in taken:
            unique, again = f"{base}_{again}", again + 1
        taken.add(unique)
        result.append(unique)
    return result
