"""Where tests find real clips, and what studies and tests agree on."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROTOCOLS = ROOT / "studies" / "protocols"
"""Clips, seconds and marks."""


def find_mocap() -> Path | None:
    """The folder of real clips: ``MOTIONLOOM_MOCAP``, else ``../shared/mocap``."""
    folder_name = os.environ.get("MOTIONLOOM_MOCAP")
    folder = Path(folder_name) if folder_name else ROOT.parent / "shared" / "mocap"
    return folder if (folder / "INDEX.csv").is_file() else None
