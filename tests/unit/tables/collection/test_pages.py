"""Pages of mapped rows are given back, and read again as they were."""

import sys
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of, release_arrays, release_frames

BYTES = 1 << 25


def resident_of_files() -> int:
    """Bytes of mapped files that this process holds."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssFile:"):
            return 1024 * int(line.split()[1])
    raise AssertionError("no RssFile")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what is resident is read there")
def test_pages_of_a_mapped_array_leave_the_memory_and_come_back(tmp_path):
    np.arange(BYTES // 8).tofile(tmp_path / "rows")
    mapped = np.asarray(np.memmap(tmp_path / "rows", dtype=np.int64, mode="c"))[5:]
    before = resident_of_files()
    total = int(mapped.sum())
    held = resident_of_files() - before
    release_arrays(mapped)
    assert held > BYTES // 2
    assert resident_of_files() - before < held // 4
    assert int(mapped.sum()) == total


def test_frames_in_memory_are_left_as_they_are():
    frames = frames_of([ml.synthetic.clip("walk").motion])
    body = np.array(frames.body)
    release_frames(frames)
    assert np.array_equal(frames.body, body)


def test_an_array_that_owns_its_numbers_is_left_as_it_is():
    array = np.ones(10)
    release_arrays(array, array[2:])
    assert array.sum() == 10.0
