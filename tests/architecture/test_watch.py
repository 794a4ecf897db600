"""./test always ends: what scripts/watched.py does with commands that end, hang and leave."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

WATCHED = Path(__file__).resolve().parents[2] / "scripts" / "watched.py"
ENDS_S = 50.0
STARTS_CHILD = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
print(child.pid, flush=True)
"""


def watched(seconds: float, script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, WATCHED, str(seconds), sys.executable, "-X", "faulthandler"]
    return subprocess.run(
        [*command, "-c", script], capture_output=True, text=True, timeout=ENDS_S, check=False
    )


def has_ended(pid: int) -> bool:
    until = time.monotonic() + ENDS_S
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").is_file() and " Z " in Path(f"/proc/{pid}/stat").read_text():
            return True  # ended, and nobody has asked
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("code", [0, 1, 5])
def test_a_command_that_ends_gives_its_code(code: int) -> None:
    assert watched(ENDS_S, f"raise SystemExit({code})").returncode == code


def test_a_command_that_hangs_is_ended_with_all_that_it_started_and_prints_where() -> None:
    done = watched(
        5.0, STARTS_CHILD + "lock = __import__('threading').Lock()\n" + 2 * "lock.acquire()\n"
    )
    assert done.returncode == 124
    assert "no test has ended for 5 s" in done.stderr
    assert "most recent call first" in done.stderr
    assert has_ended(int(done.stdout))


def test_what_a_command_leaves_behind_is_ended() -> None:
    done = watched(ENDS_S, STARTS_CHILD)
    assert done.returncode == 0
    assert has_ended(int(done.stdout))
