"""Rows of numbers as text with six decimals, fast."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray
from motionloom._core import kernel

_write_rows = kernel("ml_digits_write")

DECIMALS = 6
"""Digits after the point: a millionth of a degree or of the file's unit."""

_WIDEST = 18  # sign, 10 digits, point, 6 decimals


def rows_as_text(rows: FloatArray, *, newline: str = "\n") -> bytes:
    """``rows`` (R, C) as lines of text, blanks between the values."""
    out = np.zeros(rows.shape[0] * (rows.shape[1] * (_WIDEST + 1) + 2), dtype=np.uint8)
    given = np.ascontiguousarray(rows, dtype=np.float64)
    n_bytes = _write_rows(*given.shape, given, newline == "\r\n", out)
    if n_bytes < 0:  # numbers too large for the kernel, which are rare
        texts = (" ".join(f"{value:z.{DECIMALS}f}" for value in row) for row in rows.tolist())
        return "".join(text + newline for text in texts).encode("ascii")
    return out[:n_bytes].tobytes()
