"""Numbers from text: the same as `float`, token by token, in blocks."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from motionloom.formats import numbers


def scanned(data: bytes, *, width: int = 1) -> tuple[int, list[float]]:
    buffer = bytearray(data + b" ")
    values = np.zeros(len(buffer) // 2 + 2)
    state = numbers.new_state(1)
    expected = 1 << 40
    status = numbers.scan(buffer, len(buffer), values, state, width=width, expected=expected)
    return status, values[: state[numbers.VALUES]].tolist()


HARD = [
    b"0.1",
    b"9007199254740993",  # 2**53 + 1 lies halfway between two doubles
    b"9007199254740993.0000000000000000001",
    b"571939981474005.4375",  # halfway, with a reciprocal power
    b"2.2250738585072011e-308",
    b"1.7976931348623157e308",
    b"4.9e-324",
    b"123456789012345678901234567890",
    b"0.000000000000000000000000000000000000000000000000000000000012345678901234567",
    b"-0.0",
    b"1e23",
    b"8.5e-17",
    b"0." + b"3" * 400,
    b"1" + b"0" * 400 + b"e-400",
]


@pytest.mark.parametrize("token", HARD)
def test_hard_numbers_are_exact_to_the_last_bit(token: bytes) -> None:
    status, values = scanned(token)
    assert status == numbers.DONE
    assert values == [float(token)]
    assert str(values[0]) == str(float(token))  # the sign of zero too


def test_random_numbers_of_every_length_are_exact() -> None:
    rng = np.random.Generator(np.random.PCG64(7))
    bits = rng.integers(0, 2**63, 20000, dtype=np.uint64).view(np.float64)
    tokens = [repr(float(x)) for x in bits if np.isfinite(x)]
    tokens += [
        f"{x:.{d}f}" for x, d in zip(rng.normal(0, 300, 20000), np.arange(20000) % 24, strict=True)
    ]
    status, values = scanned("\n".join(tokens).encode())
    assert status == numbers.DONE
    assert values == [float(token) for token in tokens]


def test_the_plain_form_agrees() -> None:
    text = b"0.0-7.5 1e5+3 .5 5. # a comment 1 2\n-2 // more 3\r\n\t3e-1"
    assert scanned(text)[1] == numbers.scan_plain(text)


@pytest.mark.parametrize(
    "token",
    [b".", b"1e", b"--1", b"nan", b"inf", b"1.2.3", b"1,2", b"-", b"+", b"1e+", b"0x1", b"1_0"],
)
def test_what_is_no_number_is_bad(token: bytes) -> None:
    assert scanned(token)[0] == numbers.BAD


def test_rows_may_wrap_only_from_line_break_to_line_break() -> None:
    assert scanned(b"1 2\n3\n4 5\n6\n", width=3)[0] == numbers.DONE
    assert scanned(b"1 2 3 4 5 6\n", width=3)[0] == numbers.DONE
    assert scanned(b"1 2\n3 4 5\n6\n", width=3)[0] == numbers.MISPLACED
    assert scanned(b"1 2 3 4\n5 6\n", width=3)[0] == numbers.MISPLACED


def test_a_scan_goes_on_over_blocks() -> None:
    state = numbers.new_state(5)
    values = np.zeros(20)
    for block in (b"1 2\n", b"3 4\n", b"5 6 \n"):
        state[numbers.POSITION] = 0
        status = numbers.scan(bytearray(block), len(block), values, state, width=4, expected=9)
        assert status == numbers.DONE
    assert values[:6].tolist() == [1, 2, 3, 4, 5, 6]
    assert state[numbers.LINE] == 8
    assert (state[numbers.ROWS], state[numbers.COLUMN]) == (1, 2)


def test_powers_of_five_have_128_bits() -> None:
    upper, lower = numbers._powers_of_five()
    assert len(upper) == len(lower) == 161
    for k, (high, low) in enumerate(zip(upper.tolist(), lower.tolist(), strict=True)):
        power = Fraction(5) ** (k - 80)
        while power < 2**127:
            power *= 2
        while power >= 2**128:
            power /= 2
        # Cut off, but reciprocals down to 5**-27 are rounded up.
        wanted = math.ceil(power) if -27 <= k - 80 < 0 else math.floor(power)
        assert (high << 64) + low == wanted
    assert upper.tolist() == numbers._FIVES_UPPER.tolist()
    assert lower.tolist() == numbers._FIVES_LOWER.tolist()
