"""The fuzzer itself runs, and its first cases are clean. Many more: ``python fuzz/run.py``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[3] / "fuzz" / "run.py"


def test_the_first_characters_are_clean() -> None:
    done = subprocess.run(
        [sys.executable, str(FUZZ), "--mutator", "skins", "--count", "200", "--seed", "4"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\nfbx " in done.stdout and "\nglb " in done.stdout
    assert " 0 failures" in done.stdout


@pytest.mark.parametrize("mutator", ["bytes", "grammar"])
def test_the_first_cases_are_clean_in_every_format(mutator: str) -> None:
    done = subprocess.run(
        [sys.executable, str(FUZZ), "--mutator", mutator, "--count", "300", "--seed", "4"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    names = ("bvh", "amc", "deepmimic", "glb", "archive", "arrays", "amass")
    for name in (*names, "fbx", "usd", "robot") if mutator == "bytes" else names:
        assert f"\n{name} " in f"\n{done.stdout}", name
    assert " 0 failures" in done.stdout
