"""Writers: which process writes a file, and whether it still runs."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Writer(NamedTuple):
    """A process on a machine, as its files and locks name it."""

    machine: str
    """Digest of the host's name, its last start, and its space of process numbers."""
    pid: int
    started: str
    """When the process started, so that a number used again is not taken for it; "0": unknown."""

    @property
    def text(self) -> str:
        """As part of a file's name."""
        return f"{self.machine}-{self.pid}-{self.started}"

    @classmethod
    def of_text(cls, text: str) -> Writer | None:
        """The writer that :attr:`text` names; None for any other text."""
        match = re.fullmatch(r"([0-9a-f]{8})-(\d{1,10})-(\d{1,20})", text)
        return None if match is None else cls(match[1], int(match[2]), match[3])

    def is_running(self) -> bool | None:
        """Whether the process runs; None where this machine cannot know."""
        if self == this_writer():
            return True
        # On Windows there is no harmless signal to ask with.
        if self.machine != _machine() or sys.platform == "win32":
            return None
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except (OSError, OverflowError):
            pass  # another user's process
        started, is_dead = _process(self.pid)
        return not is_dead and (started == "0" or started == self.started)


def this_writer() -> Writer:
    """The process that runs this."""
    return _writer(os.getpid())  # by number: a fork is another process


@cache
def _writer(pid: int) -> Writer:
    return Writer(_machine(), pid, _process(pid)[0])


@cache
def _machine() -> str:
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"))
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=4).hexdigest()


def _process(pid: int) -> tuple[str, bool]:
    """When a process started, in ticks since the machine did; and whether it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return fields[19], fields[0] in "ZX"
    except (OSError, IndexError, UnicodeDecodeError):
        return "0", False
