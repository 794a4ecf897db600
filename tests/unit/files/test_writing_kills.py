"""Kills at random moments lose nothing. Many more: ``python fuzz/kills.py --count 1000``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = Path(__file__).resolve().parents[3] / "fuzz" / "kills.py"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_commands_that_are_killed_leave_old_or_new_files_and_are_resumed_to_the_same_bytes():
    done = subprocess.run(
        [sys.executable, str(KILLS), "--count", "20", "--seed", "4"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["failures"] == []
    assert report["kills"] >= 20
    assert len(report["by_command"]) >= 8
