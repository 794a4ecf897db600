"""Table files: arrays come back as they were, and nothing else passes for a table."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motionloom.errors import TableError
from motionloom.tables import table_file as tablefile
from motionloom.tables.table_file import (
    ALIGNED,
    FRONT,
    MAGIC,
    open_table_file,
    write_table_file,
)

ARRAYS = {
    "ids": np.arange(12, dtype=np.uint16).reshape(3, 4),
    "costs": np.linspace(0.0, 1.0, 7, dtype=np.float32),
    "none": np.zeros((0, 5), dtype=np.int8),
    "flags": np.array([True, False]),
}


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "a.mlt"
    write_table_file(file, {"length": 60}, ARRAYS)
    return file


def test_arrays_and_header_come_back(path):
    file = open_table_file(path)
    assert file.header["length"] == 60
    for name, array in ARRAYS.items():
        assert file.arrays[name].dtype == array.dtype
        assert np.array_equal(file.arrays[name], array)
    assert file.find_damage() == []


def test_the_same_contents_give_the_same_bytes(path, tmp_path):
    write_table_file(tmp_path / "b.mlt", {"length": 60}, ARRAYS)
    assert (tmp_path / "b.mlt").read_bytes() == path.read_bytes()


def test_arrays_lie_on_whole_cache_lines(path):
    file = open_table_file(path)
    for array in file.arrays.values():
        assert array.size == 0 or array.ctypes.data % ALIGNED == 0


def test_writing_to_an_array_does_not_reach_the_file(path):
    before = path.read_bytes()
    open_table_file(path).arrays["ids"][:] = 9
    assert path.read_bytes() == before


@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_no_flipped_bit_goes_unseen(tmp_path_factory, place, bit):
    path = tmp_path_factory.mktemp("flipped") / "a.mlt"
    write_table_file(path, {"length": 60}, ARRAYS)
    whole = path.read_bytes()
    data = bytearray(whole)
    data[place % len(whole)] ^= 1 << bit
    path.write_bytes(bytes(data))
    with pytest.raises(TableError):
        open_table_file(path)


@pytest.mark.parametrize("part", [0.0, 0.02, 0.1, 0.5, 0.99])
def test_a_file_that_was_cut_short_is_refused(path, part):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(TableError):
        open_table_file(path)


def test_a_header_that_reaches_beyond_its_file_is_damage(path, monkeypatch):
    whole = path.read_bytes()
    size = len(whole) - FRONT
    for length in (size + ALIGNED, 1 << 40, 2**64 - 1):
        path.write_bytes(MAGIC + length.to_bytes(8, "little") + whole[len(MAGIC) + 8 :])
        with pytest.raises(TableError, match="ends within its header"):
            open_table_file(path)
    path.write_bytes(whole)
    length = int.from_bytes(whole[len(MAGIC) : len(MAGIC) + 8], "little")
    monkeypatch.setattr(tablefile, "LONGEST_HEADER", length)
    open_table_file(path)
    monkeypatch.setattr(tablefile, "LONGEST_HEADER", length - 1)
    with pytest.raises(TableError, match="ends within its header"):
        open_table_file(path)


def test_a_file_without_arrays_is_a_table(tmp_path):
    write_table_file(tmp_path / "a.mlt", {"length": 1}, {})
    file = open_table_file(tmp_path / "a.mlt")
    assert file.arrays == {} and file.size == len((tmp_path / "a.mlt").read_bytes())


def test_an_array_is_asked_for_by_kind_and_shape(path):
    file = open_table_file(path)
    assert file.array("ids", "<u2", (3, None)).tolist() == ARRAYS["ids"].tolist()
    assert file.array("none", "|i1", (0, 5)).shape == (0, 5)
    for name, kind, shape, why in (
        ("rows", "<u2", (3, 4), "is missing"),
        ("ids", "<u4", (3, 4), "of kind <u4, got <u2"),
        ("ids", "<u2", (3,), r"shape \(3\), got \(3, 4\)"),
        ("ids", "<u2", (3, 4, None), r"shape \(3, 4, any\)"),
        ("ids", "<u2", (4, None), r"shape \(4, any\)"),
    ):
        with pytest.raises(TableError, match=why):
            file.array(name, kind, shape)


def test_other_files_are_distinguished_from_tables(tmp_path):
    path = tmp_path / "other.mlt"
    for data in (b"HIERARCHY\nROOT hips\n", pickle.dumps({"a": 1}), b"PK\x03\x04" + bytes(99)):
        path.write_bytes(data)
        with pytest.raises(TableError, match="no motionloom table"):
            open_table_file(path)
    with pytest.raises(TableError, match="is not there"):
        open_table_file(tmp_path / "none.mlt")
    with pytest.raises(TableError, match="cannot be opened"):
        open_table_file(tmp_path)


def forged(path: Path, header: dict) -> None:
    """A file whose digest fits its header, whatever the header holds."""
    import hashlib

    text = json.dumps(header).encode()
    text += b" " * (-(FRONT + len(text)) % ALIGNED)
    digest = hashlib.blake2b(text, digest_size=16).digest()
    path.write_bytes(MAGIC + len(text).to_bytes(8, "little") + digest + text + bytes(256))


@pytest.mark.parametrize(
    "section",
    [
        {"kind": "O", "shape": [1], "at": 0},
        {"kind": "<f4", "shape": [1 << 40], "at": 0},
        {"kind": "<f4", "shape": [-1], "at": 0},
        {"kind": "<f4", "shape": [4], "at": 1 << 50},
        {"kind": "<f4", "shape": [4], "at": 3},
        {"kind": "<f4", "shape": "x", "at": 0},
        {},
    ],
)
def test_a_header_that_asks_for_what_is_not_there_is_refused(tmp_path, section):
    path = tmp_path / "a.mlt"
    entry = {"name": "a", "digest": "", **section}
    forged(path, {"format": "motionloom table", "schema": 1, "sections": [entry]})
    with pytest.raises(TableError, match="damaged"):
        open_table_file(path)


def test_another_schema_is_refused(tmp_path):
    path = tmp_path / "a.mlt"
    forged(path, {"format": "motionloom table", "schema": 99, "sections": []})
    with pytest.raises(TableError, match="schema 99"):
        open_table_file(path)


def test_a_file_that_cannot_be_written_leaves_the_old_one(path, monkeypatch):
    import errno
    import os

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TableError, match="the disk is full"):
        write_table_file(path, {"length": 61}, ARRAYS)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]
