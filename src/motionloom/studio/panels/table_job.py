"""A table being built in a process of its own: how far it is, and an end to it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from motionloom.studio.panels.table_worker import Plan

__all__ = ["BuildJob", "JobState"]

_said = msgspec.json.Decoder(dict[str, Any])

LEAST_S = 1.0
"""What is left is not guessed before."""


class JobState(Struct, frozen=True):
    """How a build stands."""

    state: str
    """``running``, ``built``, ``stopped`` or ``failed``."""
    stage: str
    part: float
    """Of the stage, 0 to 1."""
    elapsed_s: float
    left_s: float | None
    """Of the stage; None where it cannot be said yet."""
    warnings: list[str]
    error: str


class BuildJob:
    """One build. It begins at once."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._begun = self._stage_begun = time.monotonic()
        self._state, self._stage, self._error = "running", "beginning", ""
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
        """Whether it goes on."""
        return self._state == "running"

    def state(self) -> JobState:
        """How it stands now."""
        part = min(1.0, self._done / max(self._total, 1e-9))
        now = time.monotonic()
        spent = now - self._stage_begun
        left = spent * (1.0 - part) / part if part > 0.0 and spent > LEAST_S else None
        return JobState(
            self._state, self._stage, part, now - self._begun, left if self.running else None,
            list(self._warnings), self._error,
        )  # fmt: skip

    def cancel(self) -> None:
        """Stop it. What was done so far is kept on disk."""
        if self.running:
            self._state = "stopped"
            self._process.kill()  # its own workers end with it
        self._listening.join(10.0)

    def wait(self, limit_s: float) -> None:
        """Until it has ended."""
        self._listening.join(limit_s)

    def _listen(self) -> None:
        with self._process as process, self._faults as faults:
            assert process.stdout is not None
            for line in process.stdout:
                with suppress(msgspec.MsgspecError):  # a library may print, too
                    self._hear(_said.decode(line))
            process.wait()
            if self._state == "running":
                faults.seek(0)
                said = " ".join(faults.read().strip().splitlines()[-1:])
                self._error, self._state = f"The build ended by itself. {said}".strip(), "failed"

    def _hear(self, said: dict[str, Any]) -> None:
        if "stage" in said:
            if said["stage"] != self._stage:
                self._stage, self._stage_begun = said["stage"], time.monotonic()
            self._done, self._total = said["done"], said["total"]
        elif "warning" in said:
            self._warnings.append(said["warning"])
        elif "error" in said:
            self._error, self._state = said["error"], "failed"
        elif "built" in said and self._state == "running":
            self._state = "built"
