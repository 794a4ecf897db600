"""The command line run in this process, and a few clips to run it on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import motionloom as ml
from motionloom.cli.main import main
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import FailedCheck, Verification


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["motionloom", *map(str, arguments)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as leaving:
            main()
        out, err = capfd.readouterr()
        code = leaving.value.code
        return Outcome(code if isinstance(code, int) else 0, out, err)

    return call


@pytest.fixture(scope="session")
def walk() -> ml.Motion:
    return ml.synthetic.clip("walk", duration_s=1.5).motion


@pytest.fixture
def walk_bvh(tmp_path: Path, walk: ml.Motion) -> Path:
    path = tmp_path / "walk.bvh"
    ml.save(walk, path)
    return path


@pytest.fixture
def flawed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every result fails its quality check."""
    flaw = FailedCheck("rotation speed", "LeftLeg", 7, 900.0, 300.0, "deg/s")
    monkeypatch.setattr(
        QualityCheck, "verify", lambda *_, **__: Verification(False, (flaw,))
    )  # fmt: skip
