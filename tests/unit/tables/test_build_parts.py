"""Parts of a build on disk, in folders that are not there yet."""

import numpy as np
import pytest

from motionloom.errors import TableError
from motionloom.tables.table_file import Parts

ARRAYS = {"a": np.arange(3, dtype=np.int64)}


def anything(_):
    return None


def test_a_part_comes_back_under_its_name_and_inputs(tmp_path):
    parts = Parts(tmp_path / "deep" / "down" / "x.mlt")
    parts.save("first", "made of this", ARRAYS)
    parts.save("second", "made of this", {"a": ARRAYS["a"] + 1})
    parts.save("first", "made of this", ARRAYS)
    assert parts.load("first", "made of this", anything)["a"].tolist() == [0, 1, 2]
    assert parts.load("second", "made of this", anything)["a"].tolist() == [1, 2, 3]
    assert parts.load("first", "made of that", anything) is None
    assert parts.load("third", "made of this", anything) is None


def test_a_part_that_is_damaged_or_refused_is_not_there(tmp_path):
    def refuse(_):
        raise TableError("not this")

    parts = Parts(tmp_path / "x.mlt")
    parts.save("first", "inputs", ARRAYS)
    assert parts.load("first", "inputs", refuse) is None
    file = next(parts.folder.iterdir())
    data = bytearray(file.read_bytes())
    data[-64] ^= 1
    file.write_bytes(bytes(data))
    assert parts.load("first", "inputs", anything) is None


@pytest.mark.parametrize("strange", [False, True])
def test_parts_are_forgotten_and_what_others_put_there_stays(tmp_path, strange):
    parts = Parts(tmp_path / "x.mlt")
    parts.discard()  # nothing is there
    parts.save("first", "inputs", ARRAYS)
    (parts.folder / "left.new").write_bytes(b"half")
    if strange:
        (parts.folder / "notes.txt").write_text("mine")
    parts.discard()
    assert parts.folder.exists() is strange
    assert parts.load("first", "inputs", anything) is None
    if strange:
        assert [file.name for file in parts.folder.iterdir()] == ["notes.txt"]
