"""Broken BVH files: each raises a FormatError with place and remedy."""

from __future__ import annotations

import io
from typing import NamedTuple

import pytest

from motionloom.errors import FormatError
from motionloom.files.limits import Limits
from motionloom.formats import decimal_text as numbers
from motionloom.formats.bvh import bvh
from motionloom.formats.bvh.bvh_frames import _RowReader
from motionloom.formats.file_clip import FileClip, ReadOptions

HEAD = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Knee
  {
    OFFSET 0 -10 0
    CHANNELS 1 Xrotation
  }
}
"""
TEXT = HEAD + "MOTION\nFrames: 3\nFrame Time: 0.04\n" + "1 2 3 4 5 6 7\n" * 3


def parsed(text: str | bytes, limits: Limits | None = None) -> FileClip:
    data = text if isinstance(text, bytes) else text.encode()
    return bvh.read(io.BytesIO(data), ReadOptions(limits=limits or Limits()))


def fault(text: str | bytes, limits: Limits | None = None) -> FormatError:
    with pytest.raises(FormatError) as caught:
        parsed(text, limits)
    return caught.value


def with_row(row: str) -> str:
    """The file with its second row, on line 16, replaced."""
    first, _, rest = TEXT.partition("1 2 3 4 5 6 7\n")
    return first + "1 2 3 4 5 6 7\n" + row + "\n" + rest.partition("\n")[2]


@pytest.mark.parametrize("token", ["nan", "-nan", "inf", "1.#QNAN", "NaN", "-1.#IND", "1e999"])
def test_a_value_that_is_not_finite_is_named_with_its_channel(token: str) -> None:
    error = fault(with_row(f"1 2 3 4 5 6 {token}"))
    assert "Xrotation of 'Knee'" in error.problem
    assert error.where in ("line 16", "frame 1")
    assert error.fix


def test_a_row_that_begins_with_nan_is_no_end_of_the_frames() -> None:
    assert "Xposition of 'Hips'" in fault(with_row("nan 2 3 4 5 6 7")).problem


def test_text_inside_a_row_is_refused() -> None:
    error = fault(with_row("1 2 three 4 5 6 7"))
    assert error.where == "line 16"
    assert "'three' for Zposition of 'Hips'" in error.problem


def test_decimal_commas_are_named() -> None:
    error = fault(TEXT.replace("1 2 3", "1,5 2,5 3,5"))
    assert error.fix == "Write decimal points."


@pytest.mark.parametrize("row", ["1 2 3 4 5 6", "1 2 3 4 5 6 7 8", "1 2 3 4 5 6 7 8 9"])
def test_a_row_with_a_value_too_few_or_too_many_does_not_shift_the_rest(row: str) -> None:
    error = fault(with_row(row))
    assert "7 values" in error.problem
    assert error.where in ("line 16", "line 17")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "ends where HIERARCHY"),
        ("BVH\n", "must begin with HIERARCHY"),
        ("HIERARCHY\n", "ends where MOTION"),
        ("HIERARCHY\nMOTION\nFrames: 1\nFrame Time: 1\n1\n", "must have a ROOT"),
        (HEAD, "ends where MOTION"),
        (HEAD + "MOTION\nFrames: 0\nFrame Time: 0.1\n", "at least one whole frame"),
        (HEAD + "MOTION\nFrames: 5\nFrame Time: 0.1\n1 2 3\n", "at least one whole frame"),
        (HEAD + "MOTION\n", "at least one whole frame"),
        (TEXT.replace("OFFSET 0 -10 0", "OFFSET 0 nan 0"), "three finite numbers, got 'nan'"),
        (TEXT.replace("OFFSET 0 -10 0", "OFFSET 0 1e999 0"), "three finite numbers"),
        (TEXT.replace("OFFSET 0 -10 0", "OFFSET 0 -10"), "three finite numbers"),
        (TEXT.replace("Xrotation\n  }", "Wrotation\n  }"), "A channel must be one of"),
        (TEXT.replace("JOINT Knee\n  {", "JOINT Knee\n"), "must open with '{'"),
        (TEXT.replace("JOINT", "JIONT"), "must not have 'JIONT'"),
        (TEXT.replace("CHANNELS 1 Xrotation", "OFSET 1"), "must not have 'OFSET'"),
        (
            HEAD.replace("CHANNELS", "# CHANNELS") + "MOTION\nFrames: 1\nFrame Time: 1\n1\n",
            "must have channels",
        ),
        (
            TEXT.replace("CHANNELS 1 Xrotation", "End Site {\n CHANNELS 1 Xrotation\n }"),
            "must not have channels",
        ),
        (TEXT.replace("CHANNELS 1 ", "CHANNELS 10 " + 9 * "Xrotation "), "more than 9 channels"),
    ],
)
def test_a_broken_head_is_named(text: str, problem: str) -> None:
    error = fault(text)
    assert problem in error.problem
    assert error.where


def test_errors_name_the_line_whatever_the_newlines() -> None:
    for newline in ("\n", "\r\n", "\r"):
        text = with_row("1 2 x 4 5 6 7").replace("\n", newline)
        assert fault(text).where == "line 16"
        assert fault(TEXT.replace("JOINT", "JIONT").replace("\n", newline)).where == "line 6"


def test_utf16_is_refused_with_a_remedy() -> None:
    assert "UTF-8" in str(fault(TEXT.encode("utf-16")))


def test_a_million_nested_joints_are_refused() -> None:
    depth = 10**6
    text = b"HIERARCHY\nROOT a\n{\n" + b"JOINT a\n{\n" * depth
    assert "at most 4096 joints" in fault(text).problem


def test_a_million_end_sites_or_stray_braces_are_refused_or_bounded() -> None:
    ends = b"HIERARCHY\nROOT a\n{\n" + b"End Site\n{\n}\n" * 10**5
    assert "end sites" in fault(ends).problem
    head = HEAD.encode() + b"}\n" * 10**5
    clip = parsed(head + TEXT.removeprefix(HEAD).encode())
    assert len(clip.findings) < 50


def test_a_huge_frame_count_allocates_nothing() -> None:
    clip = parsed(TEXT.replace("Frames: 3", "Frames: 99999999999999"))
    assert clip.motion.n_frames == 3


def test_joints_without_channels_cannot_fill_the_memory() -> None:
    joints = "JOINT a\n{\n}\n" * 4000
    head = f"HIERARCHY\nROOT r\n{{\nCHANNELS 1 Xrotation\n{joints}}}\n"
    text = head + "MOTION\nFrames: 1\nFrame Time: 1\n"
    error = fault(text + "0\n" * 200_000)
    assert "4001 joints over" in error.problem


def test_limits_are_kept() -> None:
    assert "at most 1 joints" in fault(TEXT, Limits(max_joints=1)).problem
    assert "at most 2 frames" in fault(TEXT, Limits(max_frames=2)).problem
    assert "at most 20 bytes" in fault(TEXT, Limits(max_bytes=20)).problem


def test_a_token_without_end_is_refused() -> None:
    assert "must be a number" in fault(TEXT + "1" * 5_000_000).problem


def test_truncation_at_every_byte_gives_frames_or_a_clear_error() -> None:
    data = TEXT.encode()
    whole = 0
    for n_bytes in range(len(data)):
        try:
            clip = parsed(data[:n_bytes])
        except FormatError as error:
            assert str(error)
        else:
            whole += 1
            assert 1 <= clip.motion.n_frames <= 3
    assert 0 < whole < len(data)


@pytest.mark.parametrize("value", ["1e13", "-1e13", "-1e999"])
def test_an_offset_beyond_reason_is_refused_with_either_sign(value: str) -> None:
    for place in ("{} 0 0", "0 {} 0", "0 0 {}"):
        error = fault(TEXT.replace("OFFSET 0 -10 0", "OFFSET " + place.format(value)))
        assert f"three finite numbers, got '{value}'" in error.problem
    clip = parsed(TEXT.replace("OFFSET 0 -10 0", "OFFSET 1e12 -1e12 0"))
    assert clip.motion.skeleton.offsets[1].tolist() == [1e12, -1e12, 0.0]


class Rows(NamedTuple):
    """Poses that take rows and forget them."""

    owners: tuple[int, ...] = (0, 0)
    n_frames: int = 0

    def add(self, *_: object) -> None:
        pass


@pytest.mark.parametrize("n_bytes", [4, 63, 64, 127, 128])
def test_fifty_thousand_odd_numbers_and_one_for_64_bytes_may_be_read_slowly(n_bytes: int) -> None:
    text = b"1 2\n".ljust(n_bytes)
    most = 50_000 + n_bytes // 64
    for slow in (most, most + 1):
        reader = _RowReader(Rows(), 1, None, Limits(), 0)  # type: ignore[arg-type]
        reader.state[numbers.SLOW_NUMBERS] = slow
        if slow == most:
            reader.take(bytearray(text), n_bytes, at_end=True)
            assert reader.ended
        else:
            with pytest.raises(FormatError, match="below 1e-80 or above 1e80"):
                reader.take(bytearray(text), n_bytes, at_end=True)


def test_text_after_the_frames_is_quoted_up_to_its_first_blank() -> None:
    clip = parsed(TEXT + "Foot plants and more\n")
    assert "After 3 frames there is 'Foot';" in clip.findings[0].problem


@pytest.mark.parametrize(
    ("stated", "tail", "is_end"),
    [
        (3, "%5 x", True),  # all frames are there: anything may follow
        (5, "F2 plants", True),  # a word ends the frames although some lack
        (5, "%5 x", False),
        (5, "nan 2 3 4 5 6 7", False),
        (5, "-inf 2 3 4 5 6 7", False),
        (3, "nan 2 3 4 5 6 7", True),
        (3, "1 x", False),  # in the middle of a row
    ],
)
@pytest.mark.parametrize("more", [0, 20])
def test_a_word_or_anything_after_all_frames_ends_them(
    stated: int, tail: str, is_end: bool, more: int
) -> None:
    rows = "1 2 3 4 5 6 7\n" * more
    text = TEXT.replace("Frames: 3", f"Frames: {stated + more}") + rows + tail + "\n"
    if is_end:
        clip = parsed(text)
        assert clip.motion.n_frames == 3 + more
        assert f"there is '{tail.split()[0]}'; from there on" in clip.findings[0].problem
    else:
        assert "must be a finite number" in fault(text).problem


class Pieces:
    """A stream that gives the head of a file at once and its rows in ever longer pieces."""

    def __init__(self, data: bytes, first: int) -> None:
        self.data, self.at, self.size = data, data.index(b"MOTION") + 40, first
        self.head: bytes | None = data[: self.at]

    def read(self, n: int = -1) -> bytes:
        if self.head is not None:
            head, self.head = self.head, None
            return head
        piece = self.data[self.at : self.at + self.size]
        self.at, self.size = self.at + self.size, self.size + 13
        return piece


@pytest.mark.parametrize("first", [1, 5, 17, 40])
def test_rows_that_come_in_pieces_are_read_as_in_one(first: int) -> None:
    rows = "".join(" ".join(str(7 * i + k) for k in range(7)) + "\n" for i in range(30))
    text = HEAD + f"MOTION\nFrames: 30\nFrame Time: 0.04\n{rows}"
    whole = parsed(text).motion
    assert whole.root_positions[:, 0].tolist() == [7.0 * i for i in range(30)]
    for tail in ("", "Footplants\n" + rows):  # what comes after the frames is never read as some
        stream = Pieces((text + tail).encode(), first)
        clip = bvh.read(stream, ReadOptions())  # type: ignore[arg-type]
        assert clip.motion.root_positions.tolist() == whole.root_positions.tolist()
        assert clip.motion.local_quats.tolist() == whole.local_quats.tolist()
        assert len(clip.findings) == bool(tail)


def test_frames_may_have_as_many_bytes_as_the_limit() -> None:
    for most, is_read in ((8, True), (7, False)):
        reader = _RowReader(Rows(), 1, None, Limits(max_bytes=most), 0)  # type: ignore[arg-type]
        reader.take(bytearray(b"1 2\n"), 4, at_end=False)
        assert not reader.ended
        if is_read:
            reader.take(bytearray(b"1 2\n"), 4, at_end=True)
            assert reader.ended
        else:
            with pytest.raises(FormatError, match="at most 7 bytes"):
                reader.take(bytearray(b"1 2\n"), 4, at_end=True)


@pytest.mark.parametrize("value", ["1e13", "-1e13"])
def test_a_value_beyond_reason_is_named_with_either_sign(value: str) -> None:
    error = fault(with_row(f"1 2 3 4 {value} 6 7"))
    assert "Xrotation of 'Hips'" in error.problem
    assert error.where == "frame 1"
