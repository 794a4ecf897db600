"""CSV files that people write: rows with their line, within bounds of size and memory."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from pathlib import Path

from motionloom.errors import FormatError
from motionloom.reading.opening import decoded, read_file
from motionloom.reading.size_limits import VARIABLE, Budget, Limits

LARGEST_FILE = 64 << 20
MOST_MEMORY = 512 << 20
"""Of the rows of a file that its reader keeps: seven hundred thousand labels."""
# Bytes of memory that a reader keeps for a row and for each cell in it, and a little more.
_ROW, _CELL = 320, 80


def csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The line and the cells of every row of a CSV file that is not empty.

    Parameters
    ----------
    path
        UTF-8, with or without a byte order mark.

    Raises
    ------
    FormatError
        The file cannot be read, is no text between commas, or would take too much memory.
    """
    data = read_file(path, LARGEST_FILE)
    n_rows = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n") + 1
    try:
        Budget(Limits(max_memory=None if VARIABLE in os.environ else MOST_MEMORY), len(data)).take(
            2 * len(data) + _ROW * n_rows + _CELL * (n_rows + data.count(b",")), "its rows"
        )
    except FormatError as error:
        raise FormatError(
            error.problem,
            path=path,
            fix=f"Split the file, or raise the limit by the environment variable {VARIABLE}.",
        ) from None
    decoded(data, path)  # so that an error names its byte: below, the text comes in blocks
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    rows = csv.reader(text, skipinitialspace=True)
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            raise FormatError(
                f"The file must hold short values between commas ({error}).",
                path=path,
                where=f"line {rows.line_num}",
                fix="Save it again as CSV.",
            ) from error
        if cells is None:
            return
        if cells:
            yield rows.line_num, cells
