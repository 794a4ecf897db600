"""Binary USD: what happens where usd-core is missing, crashes or fails."""

from __future__ import annotations

from pathlib import Path

import pytest

import motionloom as ml
from motionloom.formats.usd import usd_flatten

CRATE = b"PXR-USDC" + bytes(100)


@pytest.fixture
def pretend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts other code in the place of usd-core."""

    def put(code: str) -> Path:
        packages = tmp_path / "packages"
        packages.mkdir()
        (packages / "pxr.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(packages))
        file = tmp_path / "clip.usdc"
        file.write_bytes(CRATE)
        return file

    return put


def test_without_the_extra_the_error_names_it_and_its_command(pretend) -> None:
    file = pretend("raise ImportError('no such package')")
    with pytest.raises(ml.FormatError, match=r"clip\.usdc") as caught:
        ml.load(file)
    text = str(caught.value)
    assert "needs the extra `usd`, which is not installed" in text
    assert "pip install 'motionloom[usd]'" in text


def test_the_text_of_usd_core_is_the_reason(pretend) -> None:
    file = pretend(
        "class Sdf: pass\n"
        "class Usd:\n"
        "    class Stage:\n"
        "        def Open(path): raise RuntimeError('at line 1 : bad bootstrap')\n"
    )
    with pytest.raises(ml.FormatError, match=r"usd-core cannot read the file \(bad bootstrap\)"):
        ml.load(file)


def test_a_crash_of_usd_core_is_an_error_of_the_file(pretend) -> None:
    file = pretend("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    with pytest.raises(ml.FormatError, match=r"crashed on the file \(signal 11\).*2 GB of memory"):
        ml.load(file)


def test_memory_beyond_the_limit_ends_the_process_and_not_the_caller(
    pretend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usd_flatten, "MOST_MEMORY", 1 << 30)
    file = pretend("bytearray(2 << 30)\n")
    with pytest.raises(ml.FormatError, match="MemoryError"):
        ml.load(file)
