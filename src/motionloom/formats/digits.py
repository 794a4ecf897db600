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
_LARGEST = 1e9  # above it a scaled value has no bits left to be rounded well
_WIDEST = 18  # sign, 10 digits, point, 6 decimals
_0, _1, _7, _10, _48, _100, _MILLION = (np.uint64(n) for n in (0, 1, 7, 10, 48, 100, 1000000))
_PAIRS = np.array([ord(f"{n:02}"[0]) | ord(f"{n:02}"[1]) << 8 for n in range(100)], dtype=np.uint16)


@njit(cache=True, error_model="numpy", boundscheck=False)
def _write_rows(rows: FloatArray, out: npt.NDArray[np.uint8], carriage: bool) -> int:
    """Number of bytes put into ``out``."""
    at = _0
    for r in range(rows.shape[0]):
        for c in range(rows.shape[1]):
            value = rows[r, c]
            scaled = np.uint64(abs(value) * _SCALE + 0.5)
            if c > 0:
                out[at] = 32
                at += _1
            if value < 0.0 and scaled > _0:
                out[at] = 45
                at += _1
            whole = scaled // _MILLION
            part = scaled - whole * _MILLION
            n_digits = _1
            power = _10
            while whole >= power:
                n_digits += _1
                power *= _10
            i = at + n_digits
            at = i + _7
            while whole >= _10:
                i -= _1
                rest = whole // _10
                out[i] = _48 + whole - rest * _10
                whole = rest
            out[i - _1] = _48 + whole
            out[at - _7] = 46
            for pair in range(1, 4):
                rest = part // _100
                two = _PAIRS[part - rest * _100]
                out[at - np.uint64(2 * pair)] = two & 255
                out[at - np.uint64(2 * pair - 1)] = two >> 8
                part = rest
        if carriage:
            out[at] = 13
            at += _1
        out[at] = 10
        at += _1
    return int(at)


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
