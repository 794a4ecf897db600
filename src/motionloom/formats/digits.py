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
_0, _1, _2, _7, _8, _10, _48, _100 = (np.uint64(n) for n in (0, 1, 2, 7, 8, 10, 48, 100))
_3, _4, _5, _6, _10000, _MILLION = (np.uint64(n) for n in (3, 4, 5, 6, 10000, 1000000))
_PAIRS = np.array([ord(f"{n:02}"[0]) | ord(f"{n:02}"[1]) << 8 for n in range(100)], dtype=np.uint16)


@njit(cache=True, error_model="numpy", boundscheck=False)
def _write_rows(rows: FloatArray, out: npt.NDArray[np.uint8], carriage: bool) -> int:
    """Number of bytes put into ``out``, -1 where a value is too large for this way."""
    at = _0
    for r in range(rows.shape[0]):
        for c in range(rows.shape[1]):
            value = rows[r, c]
            if not abs(value) <= _LARGEST:
                return np.int64(-1)  # type: ignore[return-value]
            scaled = np.uint64(abs(value) * _SCALE + 0.5)
            if c > 0:
                out[at] = 32
                at += _1
            if value < 0.0 and scaled > _0:
                out[at] = 45
                at += _1
            whole = scaled // _MILLION
            part = scaled - whole * _MILLION
            if whole < _10:
                out[at] = _48 + whole
                at += _8
            else:
                n_digits, power = _2, _100
                while whole >= power:
                    n_digits += _1
                    power *= _10
                at += n_digits + _7
                i = at - _7
                while whole > _0:
                    i -= _1
                    rest = whole // _10
                    out[i] = _48 + whole - rest * _10
                    whole = rest
            out[at - _7] = 46
            high, low = part // _10000, part % _100
            middle = (part - high * _10000) // _100
            two = _PAIRS[high]
            out[at - _6], out[at - _5] = two & 255, two >> 8
            two = _PAIRS[middle]
            out[at - _4], out[at - _3] = two & 255, two >> 8
            two = _PAIRS[low]
            out[at - _2], out[at - _1] = two & 255, two >> 8
        if carriage:
            out[at] = 13
            at += _1
        out[at] = 10
        at += _1
    return np.int64(at)  # type: ignore[return-value]


def rows_as_text(rows: FloatArray, *, newline: str = "\n") -> bytes:
    """``rows`` (R, C) as lines of text, blanks between the values."""
    room = rows.shape[0] * (rows.shape[1] * (_WIDEST + 1) + 2)
    out = np.zeros(room, dtype=np.uint8)
    n_bytes = _write_rows(np.ascontiguousarray(rows), out, newline == "\r\n")
    if n_bytes < 0:
        return rows_as_text_plain(rows, newline=newline)
    return out[:n_bytes].tobytes()


def rows_as_text_plain(rows: FloatArray, *, newline: str = "\n") -> bytes:
    """The plain form of :func:`rows_as_text`."""
    texts = (" ".join(f"{value:z.{DECIMALS}f}" for value in row) + newline for row in rows.tolist())
    return "".join(texts).encode("ascii")
