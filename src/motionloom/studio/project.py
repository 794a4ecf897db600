"""The page's state, kept between visits in one file that the page does not name."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from motionloom.errors import FormatError

__all__ = ["Project", "usual_place"]

MOST_BYTES = 2_000_000


class Project:
    """One project file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def save(self, state: dict[str, Any]) -> None:
        """Keep a state; the file appears whole or not at all."""
        from motionloom.saving.whole_file import write_whole

        data = msgspec.json.encode(state)
        if len(data) > MOST_BYTES:
            raise FormatError(f"A project must have at most {MOST_BYTES} bytes, got {len(data)}.")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FormatError(
                f"The project's folder cannot be made ({error.strerror}).",
                path=self.path,
                fix="Start the studio with --project and a place that can be written to.",
            ) from error

        def put(stream: BinaryIO) -> None:
            stream.write(data)

        write_whole(self.path, put)

    def load(self) -> dict[str, Any] | None:
        """The state kept last; None where there is none, or where the file is no project."""
        try:
            if self.path.stat().st_size > MOST_BYTES:
                return None
            state = msgspec.json.decode(self.path.read_bytes())
        except (OSError, msgspec.MsgspecError):
            return None
        return state if isinstance(state, dict) else None


def usual_place(folder: Path | None) -> Path:
    """Where a folder's project is kept when none is named: in the user's own state folder."""
    base = os.environ.get("XDG_STATE_HOME")
    state = Path(base) if base else Path.home() / ".local" / "state"
    key = "embedded"
    if folder is not None:
        key = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    return state / "motionloom" / f"studio-{key}.json"
