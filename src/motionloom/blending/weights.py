"""Weights of the examples of a blend: their check, and tables of them from CSV files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, items, of_kind, positive
from motionloom._records import record
from motionloom.errors import ArrayError, FormatError
from motionloom.files.reading import csv_rows, path_of

SUM_TOLERANCE = 1e-6
LARGEST_WEIGHT = 1e3
"""Largest weight, positive or negative."""
TIME_HEADINGS = ("time", "time_s", "seconds", "second", "t", "s")
"""Headings of the column with the times, in lower case."""


def checked_weights(weights: npt.ArrayLike, n_motions: int) -> FloatArray:
    """Weights (K,) or (N, K) as floats that sum to exactly one.

    Negative weights extrapolate; they are allowed.
    """
    try:
        w = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArrayError(f"`weights` must be numbers, got {weights!r}.") from error
    if w.ndim not in (1, 2) or w.shape[-1] != n_motions:
        count = w.shape[-1] if w.ndim else 0
        raise ArrayError(f"`weights` must have one value per example ({n_motions}), got {count}.")
    if not len(w):
        raise ArrayError("`weights` must have at least one row, got none.")
    if not np.isfinite(w).all():
        raise ArrayError("`weights` must be finite, got nan or infinity.")
    if np.abs(w).max() > LARGEST_WEIGHT:
        raise ArrayError(
            f"`weights` must lie within {LARGEST_WEIGHT:g}, got {np.abs(w).max():g}. Blends so far "
            "beyond the examples are no motion."
        )
    total = w.sum(axis=-1, keepdims=True)
    if np.any(np.abs(total - 1.0) > SUM_TOLERANCE):
        worst = float(total.ravel()[np.argmax(np.abs(total - 1.0))])
        raise ArrayError(
            f"`weights` must sum to 1, got {worst:g}. Divide them by their sum, if it is not 0."
        )
    return np.asarray(w / total)


def checked_row(weights: npt.ArrayLike, n_motions: int) -> FloatArray:
    """Weights (K,) of one frame."""
    w = checked_weights(weights, n_motions)
    if w.ndim != 1:
        raise ArrayError(f"`weights` must be one row for one frame, got {len(w)} rows.")
    return w


@dataclass(frozen=True, slots=True, eq=False)
@record
class WeightTable:
    """Weights that change over time; pass it to :func:`motionloom.blend` as ``weights``.

    Attributes
    ----------
    times : array
        Seconds, increasing. (N,)
    rows : array
        One weight per clip. (N, K)
    """

    times: FloatArray
    rows: FloatArray

    def __call__(self, second: float) -> FloatArray:
        """Weights at a time, linear between two rows; beyond the ends the nearest row. (K,)."""
        return np.array([np.interp(second, self.times, column) for column in self.rows.T])


def read_weights(path: str | Path, clips: Sequence[str], *, fps: float) -> WeightTable:
    r"""Weights of every clip over time from a CSV file.

    A row has one weight per clip, or a time in seconds before them. A first line of names says
    which column belongs to which clip; without one the columns are in the order of the clips.

    Parameters
    ----------
    path
        The file.
    clips
        Name of every clip, or its path; a heading may leave out folder and suffix.
    fps
        Rows per second, where rows have no time.

    Returns
    -------
    WeightTable
        With columns in the order of ``clips``.

    Raises
    ------
    FormatError
        A heading names no clip or a clip twice, a row is too long or too short, or times do not
        increase.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "steer.csv"
    ...     _ = file.write_text("time,right,left\n0,0,1\n2,1,0\n")
    ...     read_weights(file, ["left.bvh", "right.bvh"], fps=60)(0.5).tolist()
    [0.75, 0.25]
    """
    clips = [of_kind(name, str, "clips") for name in items(clips, "clips", "names of clips")]
    path, n, fps = path_of(path, "path"), len(clips), positive(fps, "fps")
    order: list[int] | None = None
    rows: list[list[float]] = []
    for number, cells in csv_rows(path):
        if not any(cell.strip() for cell in cells):
            continue
        where = f"line {number}"
        try:
            row = [float(cell) for cell in cells]
        except ValueError:
            if rows or order is not None:
                raise FormatError(
                    f"Weights must be numbers, got {','.join(cells)[:80]!r}.",
                    path=path,
                    where=where,
                ) from None
            order = _column_order(cells, list(clips), path, where)
            continue
        n_before = len(rows[0] if rows else (order or row))
        if len(row) not in (n, n + 1) or len(row) != n_before:
            raise FormatError(
                f"A row must have one weight per clip ({n}), or a time before them; "
                f"got {len(row)} values.",
                path=path,
                where=where,
            )
        rows.append(row)
    if not rows:
        raise FormatError("The file must have at least one row of weights.", path=path)
    table = np.array(rows) if order is None else np.array(rows)[:, order]
    if table.shape[1] == n:
        return WeightTable(np.arange(len(table)) / fps, table)
    times = table[:, 0]
    if not np.isfinite(times).all() or times[0] < 0.0 or np.any(np.diff(times) <= 0.0):
        raise FormatError("Times, in the first column, must be seconds that increase.", path=path)
    return WeightTable(times, table[:, 1:])


def _column_order(cells: list[str], clips: list[str], path: Path, where: str) -> list[int]:
    """Column of the time, if there is one, then the column of each clip."""
    names = [cell.strip() for cell in cells]
    timed = len(names) == len(clips) + 1 and names[0].lower() in TIME_HEADINGS
    clip_of_column: list[int | None] = [None] * timed
    for name in names[timed:]:
        fitting = [
            k for k, clip in enumerate(clips) if name in (clip, Path(clip).name, Path(clip).stem)
        ]
        if len(fitting) != 1 or fitting[0] in clip_of_column:
            clip_names = ", ".join(Path(clip).stem for clip in clips[:8])
            problem = "fits several clips" if len(fitting) > 1 else "is no clip of the blend"
            problem = "occurs twice" if len(fitting) == 1 else problem
            raise FormatError(
                f"Headings must name the clips ({clip_names}), each once, with a column `time` "
                f"before them or without; {name[:40]!r} {problem}.",
                path=path,
                where=where,
            )
        clip_of_column.append(fitting[0])
    missing = [clip for k, clip in enumerate(clips) if k not in clip_of_column]
    if missing:
        raise FormatError(
            f"Headings must name every clip; {Path(missing[0]).stem!r} has no column.",
            path=path,
            where=where,
        )
    return [*range(timed), *(clip_of_column.index(k) for k in range(len(clips)))]
