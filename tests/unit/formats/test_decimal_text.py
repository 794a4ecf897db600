"""Numbers from text: the same as `float`, token by token, in blocks."""

from __future__ import annotations

import ctypes
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from motionloom import _core
from motionloom.errors import ArrayError
from motionloom.formats import decimal_text as numbers
from tests.oracles import numbers as plain

FIVES = Path(__file__).parents[3] / "core" / "src" / "format_text" / "powers_of_five.h"


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


def plain_tokens(n: int) -> list[str]:
    """Numbers with up to twenty digits and a point anywhere, or none, or a sign too many."""
    rng = np.random.Generator(np.random.PCG64(8))
    tokens = []
    for length, point, sign in zip(
        rng.integers(1, 21, n), rng.integers(-2, 21, n), rng.integers(0, 3, n), strict=True
    ):
        digits = "".join(map(str, rng.integers(0, 10, length)))
        token = digits if point < 0 else f"{digits[:point]}.{digits[point:]}"
        tokens.append(("", "-", "+")[sign] + token)
    return tokens


@pytest.mark.parametrize("gap", [" ", "\t", "  ", " \t", "\n", "\r\n", " # 1.5 2.5\n", "\x00"])
@pytest.mark.parametrize("width", [1, 7, 200, 100_000])
def test_rows_of_numbers_are_exact_whatever_stands_between_them(gap: str, width: int) -> None:
    tokens = plain_tokens(3000)
    status, values = scanned(gap.join(tokens).encode(), width=width)
    if status == numbers.MISPLACED:  # rows of seven lines each, on lines of one
        assert "\n" not in gap
        return
    assert status == numbers.DONE
    assert list(map(str, values)) == [str(float(token)) for token in tokens]


@pytest.mark.parametrize("odd", ["1.2.3", "1.5x", "-", "1.-5", "1..5", "é.5", "1.5\x7f", ".", "-."])
@pytest.mark.parametrize("at", [1, 40, 97])
def test_a_bad_number_inside_a_row_is_found_where_it_stands(odd: str, at: int) -> None:
    tokens = [f"{k}.{k:04d}" for k in range(100)]
    tokens[at] = odd
    data = bytearray(" ".join(tokens).encode() + b" ")
    values, state = np.zeros(len(data)), numbers.new_state(1)
    expected = (numbers.BAD, data.index(f" {odd} ".encode()) + 1, at)
    if odd == "1.-5":  # two numbers whose space was lost
        expected = (numbers.DONE, 0, 101)
    status = numbers.scan(data, len(data), values, state, width=1000, expected=1)
    assert (status, state[numbers.TOKEN_START], state[numbers.VALUES]) == expected


def test_both_libraries_of_a_platform_read_the_same_numbers() -> None:
    names = [path for path in _core.FOLDER.iterdir() if path.suffix in (".so", ".dylib", ".dll")]
    text = np.frombuffer((" ".join(plain_tokens(5000)) + " ").encode(), dtype=np.uint8)
    found = []
    for path in names:
        values, state = np.zeros(len(text)), numbers.new_state(1)
        scan = ctypes.CDLL(str(path)).ml_numeral_scan
        size, to, counts = ctypes.c_int64(len(text)), values.ctypes, state.ctypes
        given = (size, ctypes.c_void_p(text.ctypes.data), size, ctypes.c_int64(1 << 40))
        rest = (ctypes.c_int64(1), size, ctypes.c_void_p(to.data), ctypes.c_void_p(counts.data))
        if "avx2" in path.stem and not ctypes.CDLL(str(path)).ml_processor_has_avx2():
            continue
        while scan(*given, *rest) == numbers.SLOW:
            pass
        found.append((values.tobytes(), state.tobytes()))
    assert found
    assert all(one == found[0] for one in found)


def test_the_plain_form_agrees() -> None:
    text = b"0.0-7.5 1e5+3 .5 5. # a comment 1 2\n-2 // more 3\r\n\t3e-1"
    assert scanned(text)[1] == plain.scan(text)


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
    rows = re.findall(r"\{0x([0-9a-f]{16}), 0x([0-9a-f]{16})\}", FIVES.read_text(encoding="utf-8"))
    assert len(rows) == 161
    for k, (high, low) in enumerate(rows):
        power = Fraction(5) ** (k - 80)
        while power < 2**127:
            power *= 2
        while power >= 2**128:
            power /= 2
        # Cut off, but reciprocals down to 5**-27 are rounded up.
        wanted = math.ceil(power) if -27 <= k - 80 < 0 else math.floor(power)
        assert int(high + low, 16) == wanted


def test_every_power_of_ten_is_exact_with_any_number_of_digits() -> None:
    rng = np.random.Generator(np.random.PCG64(11))
    tokens = [
        f"{rng.integers(1, 10**n)}e{power}"
        for power in range(-85, 86)
        for n in range(1, 19)
        for _ in range(3)
    ]
    status, values = scanned(" ".join(tokens).encode())
    assert status == numbers.DONE
    assert values == [float(token) for token in tokens]


TEXT = b"1.5 -2.25e3\n\t.5-7. # more 9 /\r\n//\n 123456789012345678901 /1 1e-300 0x"


def test_a_text_may_end_anywhere() -> None:
    for n in range(len(TEXT) + 1):
        buffer = bytearray(TEXT[:n] + b" ")
        state, values = numbers.new_state(1), np.zeros(n + 1)
        numbers.scan(buffer, len(buffer), values, state, width=2, expected=1)
        assert 0 <= state[numbers.POSITION] <= len(buffer)
        assert 0 <= state[numbers.VALUES] <= n // 2 + 1


def test_bytes_after_the_end_are_not_looked_at() -> None:
    state, values = numbers.new_state(1), np.zeros(9)
    assert numbers.scan(bytearray(b"1 2 345"), 4, values, state, width=1, expected=9) == 0
    assert state[numbers.VALUES] == 2
    assert not values[2:].any()


@pytest.mark.parametrize(
    ("stop", "n_values", "position", "n_before"),
    [
        *((3, 9, 0, 0), (6, 9, 0, 0), (-1, 9, 0, 0)),
        *((4, 1, 0, 0), (4, 0, 0, 0), (4, 9, 0, 9)),
        *((4, 9, 5, 0), (4, 9, -1, 0), (4, 9, 0, -1)),
    ],
)
def test_places_that_do_not_fit_are_refused(
    stop: int, n_values: int, position: int, n_before: int
) -> None:
    state = numbers.new_state(1)
    state[numbers.POSITION], state[numbers.VALUES] = position, n_before
    with pytest.raises(ArrayError, match="follow a separator"):
        numbers.scan(bytearray(b"1 2 3"), stop, np.zeros(n_values), state, width=1, expected=9)
