"""The page's state, stored between visits in one file; the page never names it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import msgspec

from motionloom.errors import FormatError
from motionloom.files.limits import Budget, Limits
from motionloom.files.reading import parse_json, read_file

MOST_BYTES = 2_000_000


class Project:
    """One project file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def save(self, state: dict[str, Any]) -> None:
        """Store a state; the file is replaced as a whole."""
        from motionloom.files.writing import write_bytes

        try:
            data = msgspec.json.encode(state)
        except RecursionError:
            raise FormatError("A project must not be nested more than a few levels.") from None
        if len(data) > MOST_BYTES:
            raise FormatError(f"A project must have at most {MOST_BYTES} bytes, got {len(data)}.")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FormatError(
                f"The project's folder cannot be created ({error.strerror}).",
                path=self.path,
                fix="Start the studio with --project and a place that can be written to.",
            ) from error
        write_bytes(self.path, data)

    def load(self) -> dict[str, Any] | None:
        """The state stored last; None where there is none.

        Raises
        ------
        FormatError
            The file is not a project.
        """
        try:
            if not self.path.exists():
                return None
        except OSError as error:
            raise self._damaged(f"It cannot be reached ({error.strerror}).") from error
        try:
            text = read_file(self.path, MOST_BYTES)
            state = parse_json(text, Budget(Limits(), len(text)), where="project")
        except FormatError as error:
            raise self._damaged(error.problem) from error
        if not isinstance(state, dict):
            raise self._damaged("The text must be a JSON object.")
        return state

    def _damaged(self, reason: str) -> FormatError:
        return FormatError(
            f"The studio's project file cannot be used. {reason}",
            path=self.path,
            fix="Delete it, or start the studio with --project and another file.",
        )


def default_path(folder: Path | None) -> Path:
    """Default project file of a folder, in the user's state folder."""
    base = os.environ.get("XDG_STATE_HOME")
    state = Path(base) if base else Path.home() / ".local" / "state"
    key = "embedded"
    if folder is not None:
        key = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    return state / "motionloom" / f"studio-{key}.json"
