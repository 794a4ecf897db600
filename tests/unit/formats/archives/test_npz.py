"""Zips of arrays from strangers: every lie about a size is caught before memory is filled."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest

from motionloom.errors import FormatError
from motionloom.files.limits import Limits
from motionloom.formats.archives.npz import (
    Bundle,
    bounded,
    first_member,
    pack_array,
    unpack_array,
    write_members,
)


def zipped(members: dict[str, bytes], *, method: int = zipfile.ZIP_STORED) -> io.BytesIO:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    stream.seek(0)
    return stream


def npy(header: str, payload: bytes = b"") -> bytes:
    text = header.encode("latin-1") + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + payload


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4),
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.array(2.5),
        np.zeros((0, 3)),
        np.arange(5, dtype=">i4"),
        np.array([True, False]),
        np.array(["hips", "Ärmel", ""]),
        np.array([b"ab", b"c"]),
        np.arange(4, dtype=np.float16),
    ],
    ids=lambda array: f"{array.dtype} {array.shape}",
)
def test_arrays_come_back_as_numpy_wrote_them(array: np.ndarray) -> None:
    stream = io.BytesIO()
    np.save(stream, array)
    back = unpack_array(stream.getvalue(), where="x")
    assert back.shape == array.shape
    assert np.array_equal(back, array)
    assert np.array_equal(np.load(io.BytesIO(pack_array(array))), array)


def test_numpy_opens_what_is_written() -> None:
    stream = io.BytesIO()
    write_members(stream, {"a.npy": np.eye(3), "b.npy": np.array(["x"])})
    stream.seek(0)
    with np.load(stream) as loaded:
        assert np.array_equal(loaded["a"], np.eye(3))
        assert loaded["b"].tolist() == ["x"]


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999999), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f8', 'fortran_order': __import__('os'), 'shape': (1,), }",
        "{'descr': '<V8', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (99999999,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }",
        "",
    ],
)
def test_headers_that_lie_or_want_more_than_numbers_are_refused(header: str) -> None:
    with pytest.raises(FormatError) as caught:
        unpack_array(npy(header, b"\0" * 8), where="array 'a'")
    assert caught.value.where == "array 'a'"


def test_pickled_objects_are_named_as_such() -> None:
    stream = io.BytesIO()
    np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(FormatError, match="pickled"):
        unpack_array(stream.getvalue(), where="x")


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    stream = zipped({"a.npy": b"\0" * 90_000_000}, method=zipfile.ZIP_DEFLATED)
    with pytest.raises(FormatError, match="64 MB and 8 times its size"):
        Bundle(stream, Limits()).member("a.npy")


def test_declared_sizes_are_added_up() -> None:
    stream = zipped({f"{k}.npy": b"x" * 600 for k in range(4)})
    with pytest.raises(FormatError, match="unpack to at most 2000 bytes"):
        Bundle(stream, Limits(max_bytes=2000))


def test_members_beyond_count_are_refused() -> None:
    with pytest.raises(FormatError, match="at most 1024 members"):
        Bundle(zipped({f"{k}.npy": b"" for k in range(1025)}), Limits())


def test_a_member_smaller_than_it_declares_is_refused() -> None:
    data = bytearray(zipped({"a.npy": b"x" * 50}).getvalue())
    at = data.rindex(b"PK\x01\x02")
    struct.pack_into("<II", data, at + 20, 5000, 5000)
    with pytest.raises(FormatError):
        Bundle(io.BytesIO(bytes(data)), Limits()).member("a.npy")


def test_a_changed_byte_is_noticed() -> None:
    data = bytearray(zipped({"a.npy": b"x" * 50}).getvalue())
    data[60] ^= 1
    with pytest.raises(FormatError, match="cannot be unpacked"):
        Bundle(io.BytesIO(bytes(data)), Limits()).member("a.npy")


def test_a_missing_array_is_named_with_those_that_are_there() -> None:
    bundle = Bundle(zipped({"a.npy": b"", "b.npy": b""}), Limits())
    with pytest.raises(FormatError, match="called 'c' is needed; there are: a, b"):
        bundle.array("c")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e13, -1e13])
def test_numbers_beyond_all_bounds_are_placed(bad: float) -> None:
    array = np.zeros((3, 2))
    array[1, 0] = bad
    bundle = Bundle(zipped({"a.npy": pack_array(array)}), Limits())
    with pytest.raises(FormatError, match=r"at \(1, 0\)"):
        bundle.numbers("a", (3, 2))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint64])
def test_numbers_of_every_kind_are_read(dtype: type[np.generic]) -> None:
    bundle = Bundle(zipped({"a.npy": pack_array(np.array([0, 1, 2], dtype))}), Limits())
    assert bundle.numbers("a", (3,)).tolist() == [0, 1, 2]


def test_text_that_is_none_is_refused() -> None:
    payload = struct.pack("<I", 0x7FFFFFFF)
    data = npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", payload)
    with pytest.raises(FormatError, match="no character"):
        Bundle(zipped({"a.npy": data}), Limits()).texts("a")


def test_the_first_member_is_seen_in_the_first_bytes() -> None:
    assert first_member(zipped({"x.npy": b"", "y": b""}).getvalue()[:64]) == "x.npy"
    assert first_member(b"PK\x03\x04") is None
    assert first_member(b"HIERARCHY" * 10) is None


def test_a_signalling_nan_is_refused_without_a_warning():
    """Converted to float64 it raises the processor's flag for invalid operations."""
    signalling = np.array([0x7F800001], dtype=np.uint32).view(np.float32)
    with pytest.raises(FormatError, match="finite"):
        bounded(signalling, where="array 'a'")


def test_arrays_have_at_most_eight_dimensions() -> None:
    assert unpack_array(pack_array(np.zeros((1,) * 8)), where="a").shape == (1,) * 8
    with pytest.raises(FormatError, match="beyond all bounds"):
        unpack_array(pack_array(np.zeros((1,) * 9)), where="a")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_numbers_up_to_the_bound_come_back_as_they_are(dtype: type[np.generic]) -> None:
    largest = 1e12 if dtype is np.float64 else 6e4
    array = np.array([largest, -largest, 0.0], dtype)
    assert bounded(array, where="a") is array
    assert bounded(array[:0], where="a").size == 0
    array[1] = -np.inf
    with pytest.raises(FormatError, match=r"within 1e\+12, got -inf at \(1,\)"):
        bounded(array, where="a")
