"""What all text formats share: encodings, quotes, unique names, bounds."""

from __future__ import annotations

import io

import pytest

from motionloom.errors import FormatError
from motionloom.files.limits import Limits
from motionloom.formats.text import decoded, quoted, read_bounded, unique_names


def test_text_is_utf8_and_else_latin1() -> None:
    assert decoded("Hüfte".encode()) == "Hüfte"
    assert decoded("Hüfte".encode("latin-1")) == "Hüfte"
    assert decoded(b"\xef\xbb\xbfa") == "a"
    with pytest.raises(FormatError, match="UTF-16"):
        decoded("a".encode("utf-16"))


def test_quotes_are_short_and_printable() -> None:
    assert quoted(b"a\x00\n") == "'a\\x00\\n'"
    assert len(quoted("x" * 1000)) < 50


def test_names_are_made_unique_without_taking_those_that_are_stated() -> None:
    names, changed = unique_names(["a", "a", "a_2", "", "a", "joint_3"])
    assert len(set(names)) == len(names)
    assert (names[0], names[2], names[5]) == ("a", "a_2", "joint_3")
    assert [index for index, _ in changed] == [1, 3, 4]


def test_many_equal_names_become_distinct() -> None:
    names, changed = unique_names(["x"] * 4000)
    assert len(set(names)) == 4000
    assert len(changed) == 3999


def test_a_bounded_read_refuses_more() -> None:
    assert read_bounded(io.BytesIO(b"abc"), Limits(max_bytes=3)) == b"abc"
    with pytest.raises(FormatError, match="at most 2 bytes"):
        read_bounded(io.BytesIO(b"abc"), Limits(max_bytes=2))
