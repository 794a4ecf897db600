"""Decimal numbers in text: read to the last bit, and written with six decimals.

``scan`` reads a block of bytes into an array of float64. It gives the very number that
``float(token)`` gives, which is asked for the few that the kernel leaves to it.
"""

from __future__ import annotations

import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import integer, kernel
from motionloom.errors import ArrayError

DONE = integer("ML_SCAN_DONE")
SLOW = integer("ML_SCAN_SLOW")
BAD = integer("ML_SCAN_BAD")
MISPLACED = integer("ML_SCAN_MISPLACED")
_REFUSED = integer("ML_SCAN_REFUSED")
"""How ``scan`` ended: all read; a number left to ``float``; no number; a line break amiss."""
POSITION = integer("ML_SCAN_POSITION")
VALUES = integer("ML_SCAN_VALUES")
LINE = integer("ML_SCAN_LINE")
TOKEN_START = integer("ML_SCAN_TOKEN_START")
TOKEN_STOP = integer("ML_SCAN_TOKEN_STOP")
ROW_LINE = integer("ML_SCAN_ROW_LINE")
ROWS = integer("ML_SCAN_ROWS")
COLUMN = integer("ML_SCAN_COLUMN")
SLOW_NUMBERS = integer("ML_SCAN_SLOW_NUMBERS")
_STATE_SIZE = integer("ML_SCAN_STATE")
_scan = kernel("ml_numeral_scan")
_write_rows = kernel("ml_digits_write")
DECIMALS = 6
"""Digits after the point: a millionth of a degree or of the file's unit."""
_WIDEST = 18  # sign, 10 digits, point, 6 decimals


def new_state(line: int) -> IntArray:
    """State of a scan that begins at byte 0 of its first block, inside line ``line``."""
    state = np.zeros(_STATE_SIZE, dtype=np.int64)
    state[LINE] = state[ROW_LINE] = line
    return state


def scan(
    data: bytearray, stop: int, values: FloatArray, state: IntArray, *, width: int, expected: int
) -> int:
    """How it ended, after numbers of ``data[:stop]`` were put into ``values``.

    Parameters
    ----------
    data
        Text; separators are blanks, control characters, and a sign after a digit. ``#`` and
        ``//`` begin a comment that ends with its line.
    stop
        End of the text; a separator must stand before it, so that no token is cut in two.
    values : (N,)
        Filled from ``state[VALUES]`` on; must have space for ``stop / 2 + 1`` more.
    state
        From :func:`new_state`. ``POSITION`` is the next byte, ``VALUES`` how many numbers are
        there, ``LINE`` the line, ``ROW_LINE`` the line on which the current row begins, ``ROWS``
        and ``COLUMN`` how many rows and values of the next one there were in all blocks; after
        ``BAD``, ``TOKEN_START`` is where the offending token begins. ``SLOW_NUMBERS`` counts those
        left to ``float``.
    width
        Numbers per row.
    expected
        Rows beyond this many must be on one line each, if all before them were.
    """
    text = np.frombuffer(data, dtype=np.uint8)
    given = (len(text), text, stop, width, expected, len(values), values, state)
    while (status := int(_scan(*given))) == SLOW:
        token = bytes(data[state[TOKEN_START] : state[TOKEN_STOP]])
        values[state[VALUES] - 1] = float(token)
    if status == _REFUSED:
        raise ArrayError(
            "`stop` must be within `data` and follow a separator, and `values` must be long enough."
        )
    return status


def rows_as_text(rows: FloatArray, *, newline: str = "\n") -> bytes:
    """``rows`` (R, C) as lines of text, blanks between the values."""
    out = np.zeros(rows.shape[0] * (rows.shape[1] * (_WIDEST + 1) + 2), dtype=np.uint8)
    given = np.ascontiguousarray(rows, dtype=np.float64)
    n_bytes = _write_rows(len(given), given.shape[1], given, newline == "\r\n", out)
    if n_bytes < 0:  # numbers too large for the kernel, which are rare
        texts = (" ".join(f"{value:z.{DECIMALS}f}" for value in row) for row in rows.tolist())
        return "".join(text + newline for text in texts).encode("ascii")
    return out[:n_bytes].tobytes()
