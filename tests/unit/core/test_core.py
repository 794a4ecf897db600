"""The binding: what does not fit is refused before the core sees it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from motionloom import _core
from motionloom._core import kernel
from motionloom.errors import ArrayError

A, B = np.ones((5, 4)), np.full((5, 4), 2.0)


@pytest.mark.parametrize(
    "wrong",
    [
        (6, A, B, np.zeros((5, 4))),
        (-1, A, B, np.zeros((5, 4))),
        (5, A.astype(np.float32), B, np.zeros((5, 4))),
        (5, A[::-1], B, np.zeros((5, 4))),
        (5, A, B, np.zeros((5, 3))),
        (5, A, B, np.zeros((5, 4), dtype=">f8")),
    ],
    ids=["more rows", "no size", "other numbers", "strides", "small output", "other bytes"],
)
def test_arrays_that_do_not_fit_are_refused(wrong: tuple[object, ...]) -> None:
    with pytest.raises(ArrayError, match=r"of ml_quaternion_multiply must be an array"):
        kernel("ml_quaternion_multiply")(*wrong)


def test_an_output_that_cannot_be_written_is_refused() -> None:
    out = np.zeros((5, 4))
    out.flags.writeable = False
    with pytest.raises(ArrayError, match="array to write to"):
        kernel("ml_quaternion_multiply")(5, A, B, out)


def test_an_array_that_is_not_aligned_is_refused() -> None:
    odd = np.frombuffer(bytearray(8 * 20 + 1), dtype=np.uint8)[1:].view(np.float64).reshape(5, 4)
    with pytest.raises(ArrayError, match="C order"):
        kernel("ml_quaternion_multiply")(5, odd, B, np.zeros((5, 4)))


def test_a_status_becomes_an_error() -> None:
    with pytest.raises(ArrayError, match="sizes do not fit"):
        kernel("ml_quaternion_turns")(3, 2, np.zeros((3, 2, 4)), 1, np.array([7]), np.zeros((2, 1)))


def test_flags_are_taken_for_bytes() -> None:
    flips = np.zeros(1, dtype=bool)
    q = np.array([[[1.0, 0, 0, 0]], [[-1.0, 0, 0, 0]]])
    assert kernel("ml_quaternion_check")(2, 1, q, flips) == 0.0
    assert flips[0]


def test_every_array_in_the_header_has_a_shape_and_every_function_is_in_the_library() -> None:
    for name, declared in _core._functions().items():
        assert kernel(name)
        for field in declared.fields:
            assert not (field.is_pointer and field.type in _core.NUMBERS) or field.shape, name
    for name, declared in _core._structs().items():
        for field in declared.fields:
            assert not (field.is_pointer and field.type in _core.NUMBERS) or field.shape, name


def test_the_header_declares_nothing_that_is_not_read() -> None:
    text = re.sub(r"/\*.*?\*/", "", _core._header(), flags=re.DOTALL)
    assert set(re.findall(r"\b(ml_\w+)\s*\(", text)) == set(_core._functions())


def test_a_record_is_refused_where_an_array_does_not_fit_or_a_field_is_missing() -> None:
    none = np.zeros((0, 0, 0), dtype=np.float32)
    sizes = {"n_sources": 0, "n_targets": 0, "n_between": 0}
    made = _core.record("ml_spreads", **sizes, ends=none, sources=none, targets=none, middle=none)
    assert made.n_between == 0
    with pytest.raises(ArrayError, match="`middle` of ml_spreads must be an array"):
        _core.record("ml_spreads", **{**sizes, "n_between": 2}, ends=none, sources=none,
                     targets=none, middle=none)  # fmt: skip
    with pytest.raises(TypeError, match="middle"):
        _core.record("ml_spreads", **sizes, ends=none, sources=none, targets=none)


def test_a_function_takes_no_record_of_another_kind() -> None:
    none = np.zeros((0, 0, 0), dtype=np.float32)
    other = _core.record("ml_spreads", n_sources=0, n_targets=0, n_between=0, ends=none,
                         sources=none, targets=none, middle=none)  # fmt: skip
    with pytest.raises(ArrayError, match="`source` of ml_window_terms must be a record"):
        kernel("ml_window_terms")(other, other, 0, 0)


def test_the_core_says_what_it_was_built_from() -> None:
    assert re.fullmatch(r"[0-9a-f]{64}", _core.built_from())
