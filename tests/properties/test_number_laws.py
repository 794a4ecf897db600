"""Laws of numbers in text, on whatever hypothesis thinks of."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from motionloom.formats import decimal_text as numbers
from motionloom.formats.decimal_text import rows_as_text
from tests.oracles import numbers as plain_numbers

HALF_DIGIT = 0.5000001e-6

plain = st.from_regex(r"\A[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?\Z")
short = st.from_regex(r"\A-?[0-9]{1,3}\.[0-9]{1,8}\Z")


def scanned(data: bytes) -> tuple[int, list[float]]:
    buffer = bytearray(data + b"\n")
    values = np.zeros(len(buffer) // 2 + 2)
    state = numbers.new_state(1)
    status = numbers.scan(buffer, len(buffer), values, state, width=1, expected=1 << 40)
    return status, values[: state[numbers.VALUES]].tolist()


@given(
    st.lists(plain | short | st.floats(allow_nan=False, allow_infinity=False).map(repr), min_size=1)
)
def test_a_scan_gives_what_float_gives(tokens: list[str]) -> None:
    assert scanned(" ".join(tokens).encode()) == (numbers.DONE, [float(t) for t in tokens])


@given(st.binary(max_size=60))
def test_any_bytes_are_numbers_or_bad(data: bytes) -> None:
    status, values = scanned(data)
    assert status in (numbers.DONE, numbers.BAD, numbers.MISPLACED)
    assert all(isinstance(value, float) for value in values)
    if status == numbers.DONE:
        try:
            plainly = plain_numbers.scan(
                bytes(byte if byte > 32 or byte in b"\r\n" else 32 for byte in data)
            )
        except ValueError:
            plainly = None
        assert plainly is None or plainly == values


@given(st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=30))
def test_what_is_written_is_read_within_half_a_digit(values: list[float]) -> None:
    status, back = scanned(rows_as_text(np.array([values])))
    assert status == numbers.DONE
    for value, again in zip(values, back, strict=True):
        assert abs(again - value) <= max(HALF_DIGIT, 1e-15 * abs(value))
