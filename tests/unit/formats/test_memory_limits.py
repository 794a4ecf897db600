from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import motionloom as ml
from motionloom.errors import ArrayError, FormatError
from motionloom.files.limits import FREE_MEMORY, VARIABLE, Budget, Limits, memory_of
from motionloom.files.reading import parse_json, parsed_size

FUZZ = Path(__file__).resolve().parents[3] / "fuzz"
sys.path.insert(0, str(FUZZ))

from bomb_files import BOMBS  # noqa: E402


def test_a_budget_is_64_mb_and_8_times_the_file() -> None:
    budget = Budget(Limits(), 1000)
    assert budget.total == FREE_MEMORY + 8000
    budget.take(FREE_MEMORY, "the first half")
    budget.take(8000, "the second half")
    with pytest.raises(FormatError, match=r"64 MB and 8 times its size.*a byte.*max_memory="):
        budget.check(1, "a byte")
    budget.give_back(1)
    budget.check(1, "a byte")


def test_a_number_of_hundreds_of_digits_is_refused_as_damage() -> None:
    with pytest.raises(FormatError, match=r"more than 1,000,000 GB.*damaged"):
        Budget(Limits(), 1000).check(10**5000, "its points")


def test_files_that_belong_to_the_first_are_counted() -> None:
    budget = Budget(Limits(), 0)
    budget.add_file(100)
    assert budget.total == FREE_MEMORY + 800


def test_the_caller_can_set_another_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Budget(Limits(max_memory=7), 1000).total == 7
    monkeypatch.setenv(VARIABLE, "3 MB")
    assert Budget(Limits(), 1000).total == 3 << 20
    assert Budget(Limits(max_memory=7), 1000).total == 7


@pytest.mark.parametrize("wrong", ["", "x", "0", 0, -1, True, 1.5, None, "-1GB", "1e9"])
def test_what_is_no_size_of_memory_is_refused(wrong: object) -> None:
    with pytest.raises(ArrayError, match="max_memory"):
        memory_of(wrong, "max_memory")


def test_poses_must_be_in_proportion_to_the_file() -> None:
    Budget(Limits(), 500_000_000).check_poses(500_000, 30)
    Budget(Limits(), 1000).check_poses(1000, 1000)
    with pytest.raises(FormatError, match="4000 joints over 200000 frames"):
        Budget(Limits(), 400_000).check_poses(200_000, 4000)
    Budget(Limits(), 0).check_poses(1000, 500)
    with pytest.raises(FormatError):
        Budget(Limits(), 0).check_poses(1000, 500, sliding=True)


@pytest.mark.parametrize(
    "part", ["[],", "[0],", "{},", '{"a":1},', '"ab",', "1.5,", "123456,", '["ab","cd"],']
)
def test_parsed_json_takes_no_more_than_estimated(part: str) -> None:
    data = f"[{part * 20000}0]".encode()
    tracemalloc.start()
    json.loads(data.decode())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= 1.05 * parsed_size(data)


@pytest.mark.parametrize("text", [r'"\ud800"', r'{"\udfff": 1}', r'[["a\ud83dx"]]'])
def test_half_a_surrogate_pair_is_refused(text: str) -> None:
    with pytest.raises(FormatError, match="surrogate"):
        parse_json(text.encode(), Budget(Limits(), 0), where="JSON")


def test_a_whole_surrogate_pair_is_read() -> None:
    assert parse_json(rb'"\ud83d\ude00"', Budget(Limits(), 0), where="JSON") == "\U0001f600"


SMALL = {
    "mlm header of empty lists": 0.005,
    "mlm header of many names": 0.02,
    "amass of packed zeros": 0.01,
    "npz of packed quaternions": 0.02,
    "npz of packed bytes as quaternions": 0.02,
    "npz of long packed names": 0.005,
    "npz of many members": 0.05,
    "deepmimic list of numbers": 0.02,
    "deepmimic empty lists": 0.02,
    "deepmimic keys": 0.02,
    "glb nodes that share one key array": 0.02,
    "glb keys that ask for many frames": 0.5,
    "gltf of many nodes": 0.05,
    "gltf of empty lists": 0.01,
    "gltf of strings": 0.02,
    "gltf of many animations": 0.1,
    "bvh joints without channels": 0.002,
    "bvh sliding joints of short rows": 0.02,
    "bvh long name": 0.01,
    "amc lines of no bone": 0.002,
    "amc empty frames": 0.01,
    "asf of short lines": 0.01,
    "mlr of packed motions": 0.1,
    "mlr of packed sliding motions": 0.1,
    "mlr of many joints": 0.1,
    "mlr of packed plants": 0.1,
    "npz of one packed array below the limit": 0.05,
}
"""Bombs, and the part of their size at which they are above a limit of 4 MB."""


@pytest.mark.parametrize("name", SMALL)
def test_a_small_bomb_is_read_or_refused_within_its_memory(name: str, tmp_path: Path) -> None:
    path = BOMBS[name](tmp_path, SMALL[name])
    size = sum(file.stat().st_size for file in tmp_path.iterdir())
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ml.load(path, max_memory=4 << 20)
    except FormatError as error:
        assert len(error.problem) > 10
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= (8 << 20) + 8 * size, f"{peak / 1e6:.1f} MB for {size / 1e6:.2f} MB"


def test_a_larger_limit_reads_what_the_default_refuses(tmp_path: Path) -> None:
    n, stream = 100_000, io.BytesIO()
    np.savez_compressed(
        stream,
        local_quats=np.tile(np.array([1, 0, 0, 0], np.int8), (n, 12, 1)),
        root_positions=np.zeros((n, 3), np.int8),
        parents=np.arange(-1, 11),
        offsets=np.ones((12, 3)),
        fps=30.0,
    )
    path = tmp_path / "still.npz"
    path.write_bytes(stream.getvalue())
    with pytest.raises(FormatError, match="max_memory=") as caught:
        ml.load(path)
    advised = int(str(caught.value).split("max_memory=")[1].split()[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert ml.load(path, max_memory=4 * advised).n_frames == n


def test_the_limit_of_a_curve_can_be_raised(tmp_path: Path) -> None:
    path = BOMBS["mlr of packed motions"](tmp_path, 0.1)
    with pytest.raises(FormatError, match="max_memory="):
        ml.RegistrationCurve.load(path, max_memory="4MB")
    with pytest.raises(FormatError, match="array called 'times' is needed"):
        ml.RegistrationCurve.load(path, max_memory="1GB")  # read up to what it lacks
    with pytest.raises(ArrayError, match="max_memory"):
        ml.RegistrationCurve.load(path, max_memory=-1)


def test_a_long_directory_of_a_zip_is_refused_unread(tmp_path: Path) -> None:
    path = BOMBS["npz of many members"](tmp_path, 0.1)
    with pytest.raises(FormatError, match="directory of a zip"):
        ml.load(path)


PIPE = """
import os, sys, warnings
import motionloom as ml
try:
    ml.load(sys.argv[1])
except ml.FormatError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_without_a_writer_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.bvh"
    os.mkfifo(pipe)
    done = subprocess.run(
        [sys.executable, "-c", PIPE, str(pipe)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "nothing is written to it" in done.stdout, done.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_skeleton_that_is_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.asf")
    (tmp_path / "a.amc").write_bytes(b":DEGREES\n1\nroot 1 2 3\n")
    with pytest.raises(FormatError, match="a pipe"):
        ml.load(tmp_path / "a.amc")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices here")
def test_a_device_is_refused() -> None:
    with pytest.raises(FormatError, match="a device"):
        ml.load("/dev/zero")


def archive_with(tmp_path: Path, **source: object) -> Path:
    """An archive whose source says something else."""
    motion = ml.synthetic.clip("walk").motion[:2]
    stream = io.BytesIO()
    ml.save(motion, stream, format="mlm")
    path = tmp_path / "a.mlm"
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename == "motionloom.json":
                header = json.loads(data)
                header["source"] |= source
                data = json.dumps(header).encode()
            new.writestr(entry.filename, data)
    return path


@pytest.mark.parametrize(
    "source",
    [
        {"unit_m": 0},
        {"unit_m": -1.0},
        {"up": "q"},
        {"fps": 0},
        {"skipped_frames": -1},
        {"path": "\ud800"},
        {"detail": {"names": ["a"], "channels": []}},
        {"detail": {"names": ["a"], "channels": [["Wrotation"]]}},
        {"detail": {"names": ["a"], "channels": 3}},
    ],
    ids=str,
)
def test_a_source_that_no_file_can_have_is_refused(tmp_path: Path, source: dict) -> None:
    with pytest.raises(FormatError):
        ml.load(archive_with(tmp_path, **source))


def test_a_name_with_half_a_surrogate_pair_is_refused(tmp_path: Path) -> None:
    text = '{"asset":{"version":"2.0"},"nodes":[{"name":"\\ud800"}],"skins":[{"joints":[0]}]}'
    body = text.encode() + b" " * (-len(text) % 4)
    chunk = struct.pack("<II", len(body), 0x4E4F534A) + body
    path = tmp_path / "a.glb"
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunk)) + chunk)
    with pytest.raises(FormatError, match="surrogate"):
        ml.load(path)


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}'])
def test_numbers_that_are_no_json_are_read_only_where_asked(text: str) -> None:
    with pytest.raises(FormatError, match="must be JSON"):
        parse_json(text.encode(), Budget(Limits(), 0), where="JSON")
    found = parse_json(text.encode(), Budget(Limits(), 0), where="JSON", constants=True)
    assert str(found) in ("nan", "[inf]", "{'a': -inf}")
