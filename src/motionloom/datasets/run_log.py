"""The log of a run: a line per finished clip, so that a run that was stopped goes on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from motionloom import __version__
from motionloom.datasets.content_digest import content_digest
from motionloom.files.writing import file_errors

LOG_NAME = "rows.jsonl"
LOG_VERSION = f"{__version__}-1"
"""Of what rows hold and how figures are measured: rows of another version are not used."""
PARTS = frozenset(
    [
        "path",
        "digest",
        "frames",
        "fps",
        "seconds",
        "planted",
        "values",
        "limits",
        "defects",
        "likely_fps",
        "rate_agrees",
        "skeleton",
        "fingerprint",
        "thumbnail",
    ]
)
"""What every row of a clip that could be read has."""


class RunLog:
    """Rows of earlier runs in a folder, and a place for new ones.

    Parameters
    ----------
    folder
        Where summaries are written; made where it does not exist.
    key
        What decides the rows: those of other settings are not used.
    """

    def __init__(self, folder: Path, key: Mapping[str, Any]) -> None:
        self.path = folder / LOG_NAME
        self._header = {"motionloom": LOG_VERSION, "key": json.loads(json.dumps(key))}
        self._stream: IO[str] | None = None
        self._begun: set[str] = set()
        self._rows = self._read()

    def row_of(self, path: str) -> dict[str, Any] | None:
        """The row of a clip whose file is as it was then; None where there is none."""
        row = self._rows.get(path)
        if row is None or not row["digest"]:
            return None  # what failed is tried again
        return row if row["digest"] == content_digest(path) else None

    def was_begun(self, output: str) -> bool:
        """Whether an earlier run found no file of this name and was about to write it."""
        return output in self._begun

    def __enter__(self) -> RunLog:
        with file_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self.path.open("a", encoding="utf-8", newline="\n")
            # After an empty line: that of a run that was killed may be cut off.
            self._stream.write("\n" + json.dumps(self._header) + "\n")
            self._stream.flush()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def begin(self, outputs: list[str]) -> None:
        """Note files that are about to be written and do not exist yet."""
        self._write({"begun": outputs})

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a row at once: a run that is killed loses none that is finished."""
        self._write(row)

    def _write(self, values: Mapping[str, Any]) -> None:
        assert self._stream is not None
        with file_errors(self.path):
            self._stream.write(json.dumps(values, allow_nan=False) + "\n")
            self._stream.flush()

    def _read(self) -> dict[str, dict[str, Any]]:
        """Rows by path; a line that was cut off is left out."""
        rows: dict[str, dict[str, Any]] = {}
        is_ours = False
        try:
            with self.path.open(encoding="utf-8") as stream:
                for line in stream:
                    try:
                        values = json.loads(line)
                    except ValueError:
                        continue
                    if isinstance(values, dict) and "motionloom" in values:
                        is_ours = values == self._header
                    elif is_ours and isinstance(values, dict) and values.keys() >= PARTS:
                        rows[values["path"]] = values
                    elif is_ours and isinstance(values, dict) and "begun" in values:
                        self._begun.update(map(str, values["begun"]))
        except (OSError, UnicodeDecodeError):
            return rows
        return rows


def is_run_folder(folder: Path) -> bool:
    """Whether a folder holds the log of a run of ours."""
    try:
        with (folder / LOG_NAME).open(encoding="utf-8") as stream:
            return '"motionloom"' in stream.readline() + stream.readline()
    except (OSError, UnicodeDecodeError):
        return False
