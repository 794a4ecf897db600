"""Leftovers: temporary files of writers that were killed, removed by the next save in a folder."""

from __future__ import annotations

import itertools
import os
import re
import time
from contextlib import suppress
from pathlib import Path

from motionloom.saving.writers import Writer, this_writer

NAME = re.compile(r"\.motionloom-([0-9a-f]{8}-\d{1,10}-\d{1,20})-\d+\.new")
OLD_S = 86400.0
"""A file of a process on another machine, which cannot be asked, is left over when nothing was
written to it for so long."""
SEARCHED = 0.05
"""Part of the time that may be spent on listing a folder with many files."""

_count = itertools.count()
_listed: dict[str, tuple[float, float]] = {}


def temporary_name() -> str:
    """A fresh name for a temporary file; it names the process that writes it."""
    return f".motionloom-{this_writer().text}-{next(_count)}.new"


def clear_leftovers(folder: Path) -> None:
    """Remove temporary files in a folder whose writers have ended.

    Files of running writers stay, and so do all files that motionloom did not name.
    """
    key, began = str(folder), time.monotonic()
    last, cost = _listed.get(key, (-float("inf"), 0.0))
    if (began - last) * SEARCHED < cost:
        return
    try:
        with os.scandir(folder) as entries:
            matches = [(entry.path, NAME.fullmatch(entry.name)) for entry in entries]
    except OSError:
        return  # the save itself reports it
    for path, match in matches:
        writer = None if match is None else Writer.of_text(match[1])
        if writer is not None and _is_left_over(Path(path), writer):
            with suppress(OSError):
                Path(path).unlink()
    if len(_listed) > 1000:
        _listed.clear()
    _listed[key] = (time.monotonic(), time.monotonic() - began)


def _is_left_over(path: Path, writer: Writer) -> bool:
    running = writer.is_running()
    if running is not None:
        return not running
    try:
        # The folder's clock, not this machine's: it may be on a server.
        return _now_in(path.parent) - path.stat().st_mtime > OLD_S
    except OSError:
        return False


def _now_in(folder: Path) -> float:
    """The time on the clock that stamps the files of a folder."""
    probe = folder / temporary_name()
    try:
        probe.touch(exist_ok=False)
        return probe.stat().st_mtime
    finally:
        with suppress(OSError):
            probe.unlink()
