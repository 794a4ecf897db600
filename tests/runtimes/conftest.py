"""The amalgamation compiled once for all workers, and a file to play."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from motionloom.files.locks import lock
from motionloom.tables.runtime_file import save_runtime
from tests.runtimes.opened import small_table
from tests.support.tables import MemoryTable

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ("-std=c11", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


@pytest.fixture(scope="session")
def table() -> MemoryTable:
    return small_table()


@pytest.fixture(scope="session")
def runtime_path(table: MemoryTable, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runtime") / "lib.mlr"
    save_runtime(table, path)
    return path


@pytest.fixture(scope="session")
def amalgamation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with motionloom.c and motionloom.h."""
    folder = tmp_path_factory.mktemp("amalgamation")
    amalgamate(folder)
    return folder


def amalgamate(folder: Path) -> None:
    script = str(ROOT / "scripts" / "amalgamate.py")
    subprocess.run([sys.executable, script, str(folder)], check=True)


@pytest.fixture(scope="session")
def compile_program(
    amalgamation: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Path]:
    """Compiles a C program with the amalgamation, by a plain compiler and without a warning."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler here")
    folder = tmp_path_factory.mktemp("programs")

    def run(*words: str) -> None:
        done = subprocess.run(
            [compiler, *FLAGS, f"-I{amalgamation}", *words], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr

    library = object_of(amalgamation, compiler)
    with library.with_suffix(".lock").open("w") as stream:
        while not lock(stream):
            time.sleep(0.2)  # another worker compiles it
        if not library.is_file():
            part = library.with_suffix(f".{os.getpid()}.o")
            run("-c", str(amalgamation / "motionloom.c"), "-o", str(part))
            part.replace(library)

    def compiled(source: Path, *flags: str) -> Path:
        program = folder / source.stem
        run(str(source), str(library), "-lm", "-o", str(program), *flags)
        return program

    return compiled


def object_of(amalgamation: Path, compiler: str) -> Path:
    """Where the object of these sources, flags and compiler is, in this run and in later ones."""
    version = subprocess.run([compiler, "--version"], capture_output=True, check=True).stdout
    key = hashlib.sha256(" ".join((compiler, *FLAGS)).encode() + version)
    for name in ("motionloom.c", "motionloom.h"):
        key.update((amalgamation / name).read_bytes())
    folder = ROOT / "build" / "amalgamation"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{key.hexdigest()[:16]}.o"
