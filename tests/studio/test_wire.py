"""Messages as bytes: what goes in comes out, aligned for the page's typed arrays."""

from __future__ import annotations

import json
import struct

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motionloom.studio.messages.answers import Answer, Body
from motionloom.studio.messages.messages import TransitionMake, decode_request
from motionloom.studio.messages.notices import encode_error
from motionloom.studio.messages.wire import encode_answer, encode_pose
from tests.studio.answers import decode_answer

ARRAYS = {
    "points": np.arange(12, dtype=np.float64).reshape(2, 2, 3),
    "planted": np.array([[True, False, True, False]] * 3),
    "path": np.array([[1, -2], [3, 4]]),
    "odd": np.arange(5, dtype=np.uint8),
}


class Words(Body, frozen=True, tag="words"):
    word: str


def test_an_answer_without_arrays_is_text() -> None:
    message = encode_answer(7, Answer(Words("ünïcode")))
    assert isinstance(message, str)
    assert json.loads(message) == {"type": "words", "id": 7, "word": "ünïcode"}


@given(st.text(max_size=20), st.permutations(sorted(ARRAYS)))
def test_arrays_come_back_as_they_went_in_whatever_the_head(word: str, names: list[str]) -> None:
    message = encode_answer(3, Answer(Words(word), {name: ARRAYS[name] for name in names}))
    assert isinstance(message, bytes)
    head, arrays = decode_answer(message)
    assert head == {"type": "words", "id": 3, "word": word}
    assert list(arrays) == names
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, ARRAYS[name])


def test_every_array_starts_on_a_multiple_of_four() -> None:
    message = encode_answer(3, Answer(Words("x"), ARRAYS))
    (length,) = struct.unpack_from("<I", message, 4)
    assert length % 4 == 0
    assert len(message) % 4 == 0


def test_a_pose_is_sixteen_bytes_and_its_points() -> None:
    points = np.arange(9, dtype=np.float64).reshape(3, 3)
    message = encode_pose(2, 41, np.array([True, False, False, True]), points)
    assert message[:4] == b"MLP1"
    assert struct.unpack_from("<III", message, 4) == (2, 41, 0b1001)
    np.testing.assert_array_equal(np.frombuffer(message, "<f4", offset=16), points.ravel())


def test_an_error_carries_its_words() -> None:
    assert json.loads(encode_error(4, "`weights` must be two."))["text"] == "`weights` must be two."


def test_requests_with_unknown_fields_or_types_are_refused() -> None:
    good = decode_request('{"type": "transition.make", "id": 1, "a": "x", "b": "y"}')
    assert isinstance(good, TransitionMake)
    for text in (
        '{"type": "transition.make", "id": 1, "a": "x", "b": "y", "path": "/etc/passwd"}',
        '{"type": "shell.run", "id": 1}',
        '{"type": "clip.open", "id": 1, "clip": 7}',
        "[]",
        "",
    ):
        with pytest.raises(msgspec.MsgspecError):
            decode_request(text)
