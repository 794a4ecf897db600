"""Run tests, and end them where they hang: watched.py SECONDS COMMAND...

The command gets the name of a file in MOTIONLOOM_TEST_BEAT, which it touches after every test (see
tests/conftest.py). Where it has not for so many SECONDS, in a test, in compiled code, at the start
or after the last test, all its processes print where they are and are ended. What it leaves behind
is ended, too.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import FrameType

LOOK_S = 0.5
PRINT_S = 10.0
"""Time to print where they are."""
HANGS = 124
"""Exit code, that of the command `timeout`."""


def main(longest: float, command: list[str]) -> int:
    """Exit code of the command, or :data:`HANGS`."""
    with tempfile.TemporaryDirectory() as folder:
        beat = Path(folder) / "beat"
        beat.touch()
        child = subprocess.Popen(
            command, start_new_session=True, env={**os.environ, "MOTIONLOOM_TEST_BEAT": str(beat)}
        )

        def forward(number: int, frame: FrameType | None) -> None:
            send(child, number)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, forward)
        try:
            return watch(child, beat, longest)
        finally:
            send(child, signal.SIGKILL)


def watch(child: subprocess.Popen[bytes], beat: Path, longest: float) -> int:
    """Exit code of the child, which is ended where nothing happens for too long."""
    while True:
        with suppress(subprocess.TimeoutExpired):
            return child.wait(LOOK_S)
        if time.time() - beat.stat().st_mtime > longest:
            print(f"\n== no test has ended for {longest:g} s: giving up", file=sys.stderr)
            send(child, signal.SIGABRT)  # pytest's faulthandler prints all threads, without Python
            with suppress(subprocess.TimeoutExpired):
                child.wait(PRINT_S)
            return HANGS


def send(child: subprocess.Popen[bytes], number: int) -> None:
    """A signal to the child and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
