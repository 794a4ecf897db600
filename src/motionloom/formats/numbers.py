"""Decimal numbers in text, read to the last bit and written fast.

``scan`` reads a block of bytes into an array of float64. It gives the very number that
``float(token)`` gives: short tokens by one exact division (Clinger 1990), longer ones by a 128-bit
product (Lemire 2021), and the few that neither can settle are handed back to the caller.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import FloatArray, IntArray

__all__ = [
    "BAD",
    "COLUMN",
    "DONE",
    "LINE",
    "MISPLACED",
    "POSITION",
    "ROWS",
    "ROW_LINE",
    "SLOW",
    "SLOW_NUMBERS",
    "TOKEN_START",
    "TOKEN_STOP",
    "VALUES",
    "new_state",
    "scan",
    "scan_plain",
]

ByteArray = npt.NDArray[np.uint8]

DONE, SLOW, BAD, MISPLACED = 0, 1, 2, 3
"""How ``scan`` ended: all read; a number left to ``float``; no number; a line break amiss."""

POSITION, VALUES, LINE, TOKEN_START, TOKEN_STOP, ROW_LINE, ROWS, COLUMN = range(8)
_ON_LINE, _STARTS_INSIDE, _STRADDLES, _WRAPPED = range(8, 12)
SLOW_NUMBERS = 12

_LARGEST_POWER = 80  # beyond it `float` is asked, so that no result is subnormal or infinite
_EXACT_POWERS: FloatArray = np.array([10.0**n for n in range(23)])


def _powers_of_five() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Upper and lower halves of the 128-bit significands of 5**q, q from -80 to 80."""
    significands = []
    for q in range(-_LARGEST_POWER, _LARGEST_POWER + 1):
        power = 5 ** abs(q)
        bits = power.bit_length()
        if q >= 0:
            significands.append(power << (128 - bits) if bits <= 128 else power >> (bits - 128))
        else:
            # Down to -27 the reciprocal is rounded up at its 128th bit: the proof for numbers that
            # lie halfway between two doubles needs it.
            wide = (1 << (bits + 127 if q >= -27 else 2 * bits + 128)) // power + 1
            significands.append(wide >> (wide.bit_length() - 128))
    mask = (1 << 64) - 1
    upper = np.array([s >> 64 for s in significands], dtype=np.uint64)
    lower = np.array([s & mask for s in significands], dtype=np.uint64)
    return upper, lower


_FIVES_UPPER, _FIVES_LOWER = _powers_of_five()

_32, _63 = np.uint64(32), np.uint64(63)
_U0, _U1, _U3, _U9, _U10, _U48 = (np.uint64(n) for n in (0, 1, 3, 9, 10, 48))
_MASK32 = np.uint64(0xFFFFFFFF)
_ALL_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_MASK9 = np.uint64(0x1FF)
_TWO53 = np.uint64(1 << 53)
_MANY = np.uint64(10**18)
_0, _1, _FEW = np.uintp(0), np.uintp(1), np.uintp(18)


@njit(cache=True, inline="always")
def _wide_product(a: Any, b: Any) -> Any:
    """Upper and lower halves of the 128-bit product of two 64-bit numbers."""
    a_low, a_high = a & _MASK32, a >> _32
    b_low, b_high = b & _MASK32, b >> _32
    low = a_low * b_low
    middle = a_high * b_low + (low >> _32)
    other = a_low * b_high + (middle & _MASK32)
    return a_high * b_high + (middle >> _32) + (other >> _32), (other << _32) | (low & _MASK32)


@njit(cache=True)
def _scaled(digits: Any, power: int) -> float:
    """``digits * 10**power`` rounded to nearest, or NaN where 128 bits cannot tell."""
    shift = 0
    w = digits
    while (w >> _63) == _U0:
        w = w << _U1
        shift += 1
    upper, lower = _wide_product(w, _FIVES_UPPER[power + _LARGEST_POWER])
    if (upper & _MASK9) == _MASK9:
        carry, _ = _wide_product(w, _FIVES_LOWER[power + _LARGEST_POWER])
        lower = lower + carry
        if carry > lower:
            upper = upper + _U1
    if lower == _ALL_ONES and (power < -27 or power > 55):
        return math.nan
    top = upper >> _63
    drop = top + np.uint64(9)
    mantissa = upper >> drop
    exponent = ((217706 * power) >> 16) + 63 + np.int64(top) - shift
    halfway = lower <= _U1 and -4 <= power <= 23 and (mantissa & _U3) == _U1
    if halfway and (mantissa << drop) == upper:
        mantissa = mantissa - _U1  # exactly between two doubles: to the even one
    mantissa = (mantissa + (mantissa & _U1)) >> _U1
    return math.ldexp(np.float64(mantissa), exponent - 52)  # type: ignore[arg-type]


@njit(cache=True, error_model="numpy", boundscheck=False)
def _any_number(data: ByteArray, i: Any) -> tuple[int, Any, float]:
    """Status, end and value of the token at ``i``, whatever its length and exponent."""
    negative = data[i] == 45
    if negative or data[i] == 43:
        i += _1
    digits, power, n_digits, dropped = _U0, 0, 0, False
    digit = np.uint64(data[i]) - _U48
    while digit <= _U9:
        if digits < _MANY:
            digits = digits * _U10 + digit
        else:
            power += 1
            dropped = True
        n_digits += 1
        i += _1
        digit = np.uint64(data[i]) - _U48
    if data[i] == 46:
        i += _1
        digit = np.uint64(data[i]) - _U48
        while digit <= _U9:
            if digits < _MANY:
                digits = digits * _U10 + digit
                power -= 1
            else:
                dropped = True
            n_digits += 1
            i += _1
            digit = np.uint64(data[i]) - _U48
    valid = n_digits > 0
    if valid and (data[i] == 101 or data[i] == 69):
        i += _1
        down = data[i] == 45
        if down or data[i] == 43:
            i += _1
        exponent, n_digits = 0, 0
        while np.uint64(data[i]) - _U48 <= _U9:
            if exponent < 100000:
                exponent = exponent * 10 + int(data[i]) - 48
            n_digits += 1
            i += _1
        valid = n_digits > 0
        power += -exponent if down else exponent
    # `0.0-7.5` is two numbers whose space was lost; any other ending spoils the token.
    if not valid or (data[i] > 32 and data[i] != 45 and data[i] != 43):
        return BAD, i, math.nan
    number = math.nan
    if digits == _U0:
        number = 0.0
    elif digits <= _TWO53 and -22 <= power <= 22 and not dropped:
        if power < 0:
            number = np.float64(digits) / _EXACT_POWERS[-power]
        else:
            number = np.float64(digits) * _EXACT_POWERS[power]
    elif -_LARGEST_POWER <= power <= _LARGEST_POWER:
        number = _scaled(digits, power)
        if dropped and number != _scaled(digits + _U1, power):
            number = math.nan
    return DONE if number == number else SLOW, i, -number if negative else number


@njit(cache=True, error_model="numpy", boundscheck=False)
def _scan(
    data: ByteArray, stop: Any, width: int, expected: int, values: FloatArray, state: IntArray
) -> int:
    # Unsigned indices: signed ones are tested for Python's counting from the end at every byte.
    i, at, line = np.uintp(state[POSITION]), np.uintp(state[VALUES]), state[LINE]
    on_line, column, rows = state[_ON_LINE], state[COLUMN], state[ROWS]
    row_line, starts_inside, straddles = state[ROW_LINE], state[_STARTS_INSIDE], state[_STRADDLES]
    status = DONE
    while True:
        while i < stop and data[i] <= 32:
            if data[i] == 10 or (data[i] == 13 and not (i + _1 < stop and data[i + _1] == 10)):
                line += 1
                on_line = 0
            i += _1
        if i >= stop:
            break
        if data[i] == 35 or (data[i] == 47 and data[i + _1] == 47):  # '#' or '//'
            while i < stop and data[i] != 10 and data[i] != 13:
                i += _1
            continue
        # A frame is a row. It may go over several lines, if line breaks stand at both its ends:
        # anything else means a value too few or too many, and all later frames would be shifted.
        if column == 0:
            if straddles == 1 and on_line > 0:
                status = MISPLACED
                break
            straddles = 0
            starts_inside = 1 if on_line > 0 else 0
            row_line = line
        elif line != row_line and straddles == 0:
            if starts_inside == 1 or (rows >= expected and state[_WRAPPED] == 0):
                status = MISPLACED
                break
            straddles = 1
            state[_WRAPPED] = 1

        start = i
        negative = data[i] == 45
        if negative:
            i += _1
        digits, decimals, n_digits, first = _U0, _0, _0, i
        digit = np.uint64(data[i]) - _U48
        while digit <= _U9:
            digits = digits * _U10 + digit
            i += _1
            digit = np.uint64(data[i]) - _U48
        n_digits = i - first
        if data[i] == 46:
            i += _1
            point = i
            digit = np.uint64(data[i]) - _U48
            while digit <= _U9:
                digits = digits * _U10 + digit
                i += _1
                digit = np.uint64(data[i]) - _U48
            decimals = i - point
            n_digits += decimals
        # Nearly all tokens are like -12.3456 and need one exact division.
        if _0 < n_digits <= _FEW and digits <= _TWO53 and data[i] <= 32:
            number = np.float64(digits) / _EXACT_POWERS[decimals]
            values[at] = -number if negative else number
        else:
            status, i, values[at] = _any_number(data, start)
            if status != DONE:
                state[TOKEN_START], state[TOKEN_STOP] = start, i
                if status == BAD:
                    break
        at += _1
        on_line += 1
        column += 1
        if column == width:
            column = 0
            rows += 1
        if status == SLOW:
            break
    state[POSITION], state[VALUES], state[LINE] = i, at, line
    state[_ON_LINE], state[COLUMN], state[ROWS] = on_line, column, rows
    state[ROW_LINE], state[_STARTS_INSIDE], state[_STRADDLES] = row_line, starts_inside, straddles
    return status


def new_state(line: int) -> IntArray:
    """State of a scan that begins at byte 0 of its first block, inside line ``line``."""
    state = np.zeros(13, dtype=np.int64)
    state[LINE] = state[ROW_LINE] = line
    return state


def scan(
    data: bytearray,
    stop: int,
    values: FloatArray,
    state: IntArray,
    *,
    width: int,
    expected: int,
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
        Filled from ``state[VALUES]`` on; must have room for ``stop / 2 + 1`` more.
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
    view = np.frombuffer(data, dtype=np.uint8)
    while (status := int(_scan(view, np.uintp(stop), width, expected, values, state))) == SLOW:
        token = bytes(data[state[TOKEN_START] : state[TOKEN_STOP]])
        values[state[VALUES] - 1] = float(token)
        state[SLOW_NUMBERS] += 1
    return status


def scan_plain(data: bytes) -> list[float]:
    """The numbers in ``data`` by ``float``, one token at a time: the oracle of :func:`scan`."""
    text = re.sub(rb"(#|//)[^\r\n]*", b"", data)
    text = re.sub(rb"(?<=[0-9.])([+-])", rb" \1", text)
    return [float(token) for token in text.split()]
