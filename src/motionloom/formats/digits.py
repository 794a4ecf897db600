"""Rows of numbers as text with six decimals, fast."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import FloatArray

__all__ = ["DECIMALS", "rows_as_text", "rows_as_text_plain"]

DECIMALS = 6
"""Digits after the point: a millionth of a degree or of the file's unit."""

_SCALE = 10.0**DECIMALS
_LARGEST = 9e12  # above it a scaled value does not fit 64 bits exactly enough
_WIDEST = 21  # sign, 13 digits, point, 6 decimals


@njit(cache=True, error_model="numpy", boundscheck=False)
def _write_rows(rows: FloatArray, out: npt.NDArray[np.uint8], carriage: bool) -> int:
    """Number of bytes put into ``out``."""
    at = 0
    for r in range(rows.shape[0]):
        for c in range(rows.shape[1]):
            value = rows[r, c]
            scaled = np.int64(abs(value) * _SCALE + 0.5)
            if c > 0:
                out[at] = 32
                at += 1
            if value < 0.0 and scaled > 0:
                out[at] = 45
                at += 1
            whole = scaled // 1000000
            part = scaled - whole * 1000000
            n_digits, power = 1, 10
            while whole >= power:
                n_digits += 1
                power *= 10
            for i in range(at + n_digits - 1, at - 1, -1):
                out[i] = 48 + whole % 10
                whole //= 10
            at += n_digits
            out[at] = 46
            for i in range(at + 6, at, -1):
                out[i] = 48 + part % 10
                part //= 10
            at += 7
        if carriage:
            out[at] = 13
            at += 1
        out[at] = 10
        at += 1
    return at


def rows_as_text(rows: FloatArray, *, newline: str = "\n") -> bytes:
    """``rows`` (R, C) as lines of text, blanks between the values."""
    if rows.size == 0 or np.abs(rows).max() > _LARGEST:
        return rows_as_text_plain(rows, newline=newline)
    room = rows.shape[0] * (rows.shape[1] * (_WIDEST + 1) + 2)
    out = np.zeros(room, dtype=np.uint8)
    n_bytes = _write_rows(np.ascontiguousarray(rows), out, newline == "\r\n")
    return out[:n_bytes].tobytes()


def rows_as_text_plain(rows: FloatArray, *, newline: str = "\n") -> bytes:
    """The plain form of :func:`rows_as_text`."""
    texts = (" ".join(f"{value:z.{DECIMALS}f}" for value in row) + newline for row in rows.tolist())
    return "".join(texts).encode("ascii")
