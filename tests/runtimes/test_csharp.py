"""The wrapper in C#, by mono: it plays the bits of the library, and mistakes are refused."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import motionloom as ml
from motionloom import _core
from tests.runtimes.conftest import ROOT
from tests.runtimes.opened import play_example

pytestmark = [pytest.mark.slow, pytest.mark.judge]
WRAPPER = ROOT / "runtimes" / "csharp" / "MotionLoom.cs"


@pytest.fixture(scope="module")
def run(mono: Path, tmp_path_factory: pytest.TempPathFactory):
    """Compiles a program with the wrapper, and runs it."""
    folder = tmp_path_factory.mktemp("csharp")
    _core.kernel("ml_version")  # the library is there
    environment = {**os.environ, "LD_LIBRARY_PATH": str(_core.FOLDER)}

    def compiled_and_run(source: Path, *words: object) -> subprocess.CompletedProcess[str]:
        program = folder / f"{source.stem}.exe"
        command = [str(mono.with_name("mcs")), "-warn:4", "-warnaserror", f"-out:{program}"]
        if not program.is_file():
            made = subprocess.run(
                [*command, str(WRAPPER), str(source)], capture_output=True, text=True, check=False
            )
            assert made.returncode == 0, made.stdout + made.stderr
        return subprocess.run(
            [str(mono), str(program), *map(str, words)],
            capture_output=True, text=True, check=False, env=environment,
        )  # fmt: skip

    return compiled_and_run


@pytest.mark.parametrize("labels", [(), ("running", "idle")], ids=["clips", "labels"])
def test_the_example_plays_the_bits_of_the_library(run, runtime_path, tmp_path, labels):
    poses = tmp_path / "poses.bin"
    program = WRAPPER.with_name("Program.cs")
    done = run(program, runtime_path, *labels, "--poses", poses)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 10
    _, wanted = play_example(runtime_path, labels)
    assert poses.read_bytes() == b"".join(part.tobytes() for pose in wanted for part in pose)


def test_mistakes_are_refused_and_memory_lives_as_long_as_it_must(run, runtime_path):
    done = run(ROOT / "tests" / "runtimes" / "Checks.cs", runtime_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip() == f"all is as it should be, version {ml.__version__}"


def test_what_cannot_be_played_is_named(run, runtime_path, tmp_path):
    program = WRAPPER.with_name("Program.cs")
    for words, message in (
        ((), "LIB.mlr"),
        ((tmp_path / "none.mlr",), "none.mlr"),
        ((runtime_path, "swimming"), "label: there is no such place"),
    ):
        done = run(program, *words)
        assert done.returncode == 1
        assert message in done.stderr
