"""The core as one file: compiled by a plain compiler, it gives the bits of the library."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import motionloom as ml
from tests.runtimes.conftest import ROOT, amalgamate
from tests.runtimes.opened import OpenedTable


def test_it_is_the_same_bytes_each_time(amalgamation: Path, tmp_path: Path) -> None:
    amalgamate(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["motionloom.c", "motionloom.h"]
    for name in names:
        assert (tmp_path / name).read_bytes() == (amalgamation / name).read_bytes()


def test_it_needs_nothing_but_its_header_and_names_version_and_license(amalgamation: Path) -> None:
    text = (amalgamation / "motionloom.c").read_text(encoding="utf-8")
    assert re.findall(r'^#include "(.*)"$', text, re.MULTILINE) == ["motionloom.h"]
    assert text.startswith(f"/* motionloom {ml.__version__}: ")
    assert "Permission is hereby granted, free of charge" in text
    assert "_H\n" not in re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def test_it_has_every_file_of_the_core_once(amalgamation: Path) -> None:
    text = (amalgamation / "motionloom.c").read_text(encoding="utf-8")
    found = re.findall(r"^/\* ==== (\S+) =+ \*/$", text, re.MULTILINE)
    assert sorted(found) == sorted(path.name for path in (ROOT / "core" / "src").rglob("*.[ch]"))


@pytest.mark.slow
def test_a_program_with_it_gives_the_bits_of_the_library(compile_program, runtime_path) -> None:
    program = compile_program(ROOT / "tests" / "runtimes" / "steps.c")
    done = subprocess.run([program, runtime_path], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    opened = OpenedTable(runtime_path.read_bytes())
    live, made, wanted = opened.live(20), opened.frames(), []
    for frame in range(300):
        if frame % 25 == 10:
            live.call("go_to_row", 61 * frame % 1100)
        wanted += live.step()
    for k in range(20):
        opened.call("transition", 53 * k, 1100 - 47 * k, made)
        for frame in range(made.n_frames):
            wanted += opened.pose("ml_frames_pose", made, frame)
    assert done.stdout == b"".join(part.tobytes() for part in wanted)


@pytest.mark.slow
def test_flags_that_change_results_are_refused(amalgamation: Path, compile_program) -> None:
    """Compiling with -Ofast ends in an error, for compilers that tell sources of it."""
    with pytest.raises(AssertionError, match="without -ffast-math and -Ofast"):
        compile_program(amalgamation / "motionloom.c", "-Ofast", "-fsyntax-only")
