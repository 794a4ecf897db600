"""Weights as typed: a list on the command line, or a table over time in a CSV file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from motionloom.errors import ArrayError, FormatError

if TYPE_CHECKING:
    from motionloom._arrays import FloatArray

__all__ = ["WeightTable", "parse_weights", "read_weights"]


@dataclass(frozen=True, slots=True, eq=False)
class WeightTable:
    """Weights that change over time."""

    times: FloatArray
    """Seconds, increasing. (N,)"""
    rows: FloatArray
    """One weight per clip. (N, K)"""

    def at(self, second: float) -> FloatArray:
        """Weights at a time, straight between two rows; beyond the ends the nearest row. (K,)."""
        import numpy as np

        return np.array([np.interp(second, self.times, column) for column in self.rows.T])

    @property
    def duration_s(self) -> float:
        """Time of the last row, seconds."""
        return float(self.times[-1])


def parse_weights(text: str, n_clips: int) -> list[float]:
    """Weights from ``0.5,0.5``: one per clip."""
    try:
        weights = [float(part) for part in text.split(",")]
    except ValueError:
        raise ArrayError(f"--weights must be numbers such as 0.5,0.5, got {text!r}.") from None
    if len(weights) != n_clips:
        raise ArrayError(
            f"--weights must have one value per clip ({n_clips}), got {len(weights)} in {text!r}."
        )
    return weights


def read_weights(path: Path, n_clips: int, fps: float) -> WeightTable:
    """The table in a CSV file: a row per frame, or a time in seconds and then the weights.

    A first line that is no numbers is taken for a heading.

    Parameters
    ----------
    path
        The file.
    n_clips
        How many weights a row must have.
    fps
        Frames per second, for rows that say no time.
    """
    import numpy as np

    from motionloom._paths import path_of
    from motionloom.reading.csv_text import csv_rows

    rows: list[list[float]] = []
    for number, cells in csv_rows(path_of(path, "path")):
        if not any(cell.strip() for cell in cells):
            continue
        try:
            row = [float(cell) for cell in cells]
        except ValueError:
            if number == 1:
                continue
            raise FormatError(
                f"Weights must be numbers, got {','.join(cells)[:80]!r}.",
                path=path,
                where=f"line {number}",
            ) from None
        if len(row) not in (n_clips, n_clips + 1) or (rows and len(row) != len(rows[0])):
            raise FormatError(
                f"A row must have one weight per clip ({n_clips}), or a time before them; "
                f"got {len(row)} values.",
                path=path,
                where=f"line {number}",
            )
        rows.append(row)
    if not rows:
        raise FormatError("The file must have at least one row of weights.", path=path)
    table = np.array(rows)
    if table.shape[1] == n_clips:
        return WeightTable(np.arange(len(table)) / fps, table)
    times, table = table[:, 0], table[:, 1:]
    if not np.isfinite(times).all() or times[0] < 0.0 or np.any(np.diff(times) <= 0.0):
        raise FormatError("Times, in the first column, must be seconds that increase.", path=path)
    return WeightTable(times, table)
