"""Fixtures for every test: the folder of real clips, and who was there to judge."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import Phase, settings

# Kernels compile on first use, so no deadline; the same examples every time, so that a failure
# here is a failure everywhere; no shrinking, which takes minutes where an example takes seconds.
settings.register_profile(
    "motionloom",
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
settings.load_profile("motionloom")

ROOT = Path(__file__).resolve().parent.parent


def find_mocap() -> Path | None:
    """The folder of real clips: ``MOTIONLOOM_MOCAP``, else ``../shared/mocap``."""
    said = os.environ.get("MOTIONLOOM_MOCAP")
    folder = Path(said) if said else ROOT.parent / "shared" / "mocap"
    return folder if (folder / "INDEX.csv").is_file() else None


@pytest.fixture(scope="session")
def mocap() -> Path:
    folder = find_mocap()
    if folder is None:
        pytest.skip("no motion-capture folder: set MOTIONLOOM_MOCAP to one with an INDEX.csv")
    return folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    folder = find_mocap()
    real = "used" if folder else "not found, real-data tests skipped (set MOTIONLOOM_MOCAP)"
    terminalreporter.write_line(f"real clips: {real}")
