"""A build of a table in another process: its progress, and a way to stop it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from typing import Any, Literal

import msgspec

from motionloom.studio.messages.table_messages import JobState
from motionloom.studio.panels.table_worker import Plan

_lines = msgspec.json.Decoder(dict[str, Any])

LEAST_S = 1.0
"""A stage must have run this long before its time left is estimated."""


class BuildJob:
    """One build. It begins immediately."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._begun = self._stage_begun = time.monotonic()
        self._state: Literal["running", "built", "stopped", "failed"] = "running"
        self._stage, self._error = "beginning", ""
        self._done, self._total = 0.0, 1.0
        self._warnings: list[str] = []
        self._faults = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "motionloom.studio.panels.table_worker",
             msgspec.json.encode(plan).decode()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._faults, text=True,
        )  # fmt: skip
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._state == "running"

    def state(self) -> JobState:
        """Its progress."""
        part = min(1.0, self._done / max(self._total, 1e-9))
        now = time.monotonic()
        spent = now - self._stage_begun
        left = spent * (1.0 - part) / part if part > 0.0 and spent > LEAST_S else None
        return JobState(
            self._state, self._stage, part, now - self._begun, left if self.running else None,
            list(self._warnings), self._error,
        )  # fmt: skip

    def cancel(self) -> None:
        """Stop it. Its work so far stays on disk."""
        if self.running:
            self._state = "stopped"
            self._process.kill()  # its own workers end with it
        self._listening.join(10.0)

    def wait(self, limit_s: float) -> None:
        """Wait until it has ended."""
        self._listening.join(limit_s)

    def _listen(self) -> None:
        with self._process as process, self._faults as faults:
            assert process.stdout is not None
            for line in process.stdout:
                with suppress(msgspec.MsgspecError):  # output of another library
                    self._read(_lines.decode(line))
            process.wait()
            if self._state == "running":
                faults.seek(0)
                last = " ".join(faults.read().strip().splitlines()[-1:])
                self._error, self._state = f"The build ended early. {last}".strip(), "failed"

    def _read(self, line: dict[str, Any]) -> None:
        if "stage" in line:
            if line["stage"] != self._stage:
                self._stage, self._stage_begun = line["stage"], time.monotonic()
            self._done, self._total = line["done"], line["total"]
        elif "warning" in line:
            self._warnings.append(line["warning"])
        elif "error" in line:
            self._error, self._state = line["error"], "failed"
        elif "built" in line and self._state == "running":
            self._state = "built"
