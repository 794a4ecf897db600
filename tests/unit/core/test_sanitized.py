"""The C tests, and a few mutated run-time files, under AddressSanitizer and UBSan."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
RUN = ROOT / "core" / "tests" / "run.py"


@pytest.mark.slow
@pytest.mark.judge
def test_c_tests_pass_and_mutated_files_do_no_harm() -> None:
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, str(RUN), "--files", "300", "--jobs", "1"],
        capture_output=True,
        text=True,
        env=bare,
    )
    if done.returncode and "has no AddressSanitizer" in done.stderr:
        pytest.skip("the compiler has no AddressSanitizer or no UBSan")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "test_runtime passed" in done.stdout
    assert '"failures": []' in done.stdout
