"""Files of the run time: what is written is what the core reads, and nothing else is read."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as some

import motionloom as ml
from motionloom._core import CoreError, kernel
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.collection.labels import Label
from motionloom.tables.runtime_file import HEAD, packed_quats, runtime_bytes, save_runtime
from motionloom.tables.score.natural import NATURAL
from tests.oracles.packed_quats import unpacked_quats
from tests.runtimes.opened import FILE_AT, LENGTH, OpenedTable, memory_at, small_table
from tests.support.tables import table_in_memory

DAMAGED, OTHER_VERSION, UNALIGNED = 3, 5, 6
PACKED = 4e-6
"""Of each part of a rotation of clips."""
KEPT, LARGEST = 2.7e-6, 8.1e-6
"""Of any rotation: half a step of 18 bits for the three parts that are kept, and up to three times
as much for the largest, which is found from them."""
NEAR_M = 2e-4
AS_BAD = 1.001
"""Badness of two candidates that rounding may exchange, one over the other."""
PAIRS = 25
REAL_CLIPS = ("143_01", "143_11", "143_23", "143_32")


@pytest.fixture(scope="module")
def table():
    return small_table()


@pytest.fixture(scope="module")
def data(table):
    return runtime_bytes(table)


def memory_of(data):
    """What the core answers to a file: bytes of memory, or minus a status."""
    file = memory_at(len(data), FILE_AT)
    file[:] = np.frombuffer(data, dtype=np.uint8)
    return kernel("ml_table_memory")(len(file), file)


def assert_same_transitions(table, length):
    """Those of the file are those of the table, from many rows to many others.

    Where nothing passes the quality check the one that fails least is made, and rounded rotations
    may decide between two that fail alike: then it is another candidate that is as bad.
    """
    opened, frames = OpenedTable(runtime_bytes(table)), table.frames
    rng = np.random.Generator(np.random.PCG64(22))
    for a, b in rng.choice(frames.windows(length), (PAIRS, 2)):
        src, dst = int(a), int(b) + length - 1
        made = opened.transition(frames.skeleton, "transition", src, dst)
        # Run-times blend recipes alone: they neither pin captured windows nor play on.
        engine = table.query_engine
        choice = engine.choose(src, np.array([dst - length + 1]), rescore=32)
        best = engine.synthesize_best(choice)
        alike = [best]
        if not best.checked.passed:
            others = (best.choice.only(n) for n in range(len(best.choice.rows)))
            bests = [engine.synthesize_best(other) for other in others]
            most = AS_BAD * best.checked.badness
            alike += [each for each in bests if each.checked.badness < most]
        motions = (each.synthesis.motion(frames) for each in alike)
        apart = [np.abs(made.world_positions() - own.world_positions()).max() for own in motions]
        assert min(apart) < NEAR_M, (src, dst)


def parts_apart(p, q):
    """Of rotations, whichever signs they have as a whole. (..., 4)."""
    return np.abs(p - np.where(np.sum(p * q, axis=-1, keepdims=True) < 0.0, -q, q))


def assert_packed(q):
    packed = packed_quats(q)
    found = unpacked_quats(packed)
    assert (packed.shape, packed.dtype) == ((7,), np.uint8)
    assert abs(np.linalg.norm(found) - 1.0) < 1e-12
    apart = np.sort(parts_apart(found, q))
    assert apart[2] < KEPT
    assert apart[3] < LARGEST


@given(some.lists(some.floats(-1.0, 1.0), min_size=4, max_size=4))
def test_packed_rotations_come_back(parts):
    assume(np.linalg.norm(parts) > 1e-3)
    assert_packed(np.array(parts) / np.linalg.norm(parts))


def test_rotations_that_have_two_largest_parts_are_packed():
    half = np.sqrt(0.5)
    equal = [half, half, 0, 0], [0, -half, 0, half], [0.5, 0.5, -0.5, 0.5]
    for q in (*np.eye(4), *equal):
        assert_packed(np.array(q))


def test_rotations_are_those_that_the_core_unpacks(table, data):
    opened, frames = OpenedTable(data), table.frames
    for row in range(0, int(frames.starts[-1]), 97):
        _, quats, _ = opened.pose("ml_table_pose", opened.record, row)
        captured = frames.motion(row, row).local_quats[0]
        assert parts_apart(quats, captured)[1:].max() < PACKED


def test_transitions_are_those_of_the_table(table):
    assert_same_transitions(table, LENGTH)


def test_transitions_between_captured_clips_are_those_of_the_table(mocap):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the headers' rate is wrong, and 60 is given
        paths = [mocap / "cmu_bvh" / f"{name}.bvh" for name in REAL_CLIPS]
        motions = [ml.load(path, fps=60).replace(name=path.stem) for path in paths]
    labels = [Label("143_01", "run", 0, motions[0].n_frames - 1)]
    frames = frames_of(motions)
    made = table_in_memory(frames, length=60, clusters=4, ranking=NATURAL, labels=labels)
    assert_same_transitions(made, 60)


def test_a_file_is_the_same_bytes_each_time(table, data, tmp_path):
    path = tmp_path / "lib.mlr"
    assert save_runtime(table, path) == len(data)
    assert path.read_bytes() == data


def test_every_damaged_byte_of_the_head_is_refused(data):
    assert memory_of(data) > 0
    for place in range(HEAD):
        for bit in (1, 128):
            damaged = bytearray(data)
            damaged[place] ^= bit
            wanted = OTHER_VERSION if 8 <= place < 12 else DAMAGED
            assert memory_of(damaged) == -wanted, place


def test_damage_anywhere_is_refused(data):
    rng = np.random.Generator(np.random.PCG64(3))
    for place in [HEAD, len(data) - 1, *rng.integers(HEAD, len(data), 60)]:
        damaged = bytearray(data)
        damaged[place] ^= 1 << int(rng.integers(8))
        assert memory_of(damaged) == -DAMAGED, place


@pytest.mark.parametrize("size", [0, 1, 8, HEAD - 1, HEAD, HEAD + 8, -8, -1])
def test_a_file_that_is_cut_is_refused(data, size):
    assert memory_of(data[:size]) == -DAMAGED


def test_a_file_that_goes_on_is_refused(data):
    assert memory_of(data + bytes(8)) == -DAMAGED


@pytest.mark.parametrize("version", [0, 2, 4, 2**31])
def test_a_file_of_another_version_is_named_as_one(data, version):
    other = data[:8] + version.to_bytes(4, "little") + data[12:]
    assert memory_of(other) == -OTHER_VERSION
    with pytest.raises(CoreError, match="another version: export it again"):
        OpenedTable(other)


def test_a_file_that_is_not_aligned_is_named_as_one(data):
    for odd in (1, 4):
        file = memory_at(len(data), FILE_AT, odd)
        file[:] = np.frombuffer(data, dtype=np.uint8)
        assert kernel("ml_table_memory")(len(file), file) == -UNALIGNED


def test_labels_of_which_no_frame_can_be_reached_are_left_out(table):
    labels = [Label("walk", "start", 0, 3), Label("run", "läuft", 100, 120)]
    made = table_in_memory(table.frames, length=LENGTH, clusters=4, keep=6, labels=labels)
    opened = OpenedTable(runtime_bytes(made))
    names = [opened.call("label_name", k).decode() for k in range(opened.call("n_labels"))]
    assert opened.find("label", "läuft") == names.index("läuft")
    assert len(names) == 1
