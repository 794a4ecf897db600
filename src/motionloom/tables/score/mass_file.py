"""Mass file: parts of body mass of a subject, a segment a line."""

from __future__ import annotations

from pathlib import Path

from motionloom._arrays import FloatArray
from motionloom._paths import path_of
from motionloom.body.proportions import SEGMENT_NAMES, mass_parts
from motionloom.errors import ArrayError, FormatError
from motionloom.reading.csv_text import csv_rows
from motionloom.saving.whole_file import write_bytes

HEADER = ("segment", "part")


def read_masses(path: str | Path) -> FloatArray:
    r"""Parts of body mass from a CSV file with the columns segment and part.

    Each of the 16 segments has one line, in any order. Parts may also be kilograms: they are
    divided by their sum.

    Parameters
    ----------
    path
        The file, as :meth:`motionloom.MassFit.save` writes it.

    Returns
    -------
    array
        The parts, for ``masses`` of :func:`motionloom.build_table`. (16,)

    Raises
    ------
    FormatError
        A segment is missing, unknown or listed twice, or its part is no possible one.

    Examples
    --------
    >>> import tempfile
    >>> from motionloom.body.proportions import SEGMENT_NAMES
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "masses.csv"
    ...     _ = file.write_text("".join(f"{name},5\n" for name in SEGMENT_NAMES))
    ...     read_masses(file)[0].item()
    0.0625
    """
    path = path_of(path, "path")
    parts: dict[str, float] = {}
    for line, cells in csv_rows(path):
        row = tuple(cell.strip() for cell in cells)
        if row == HEADER or not any(row):
            continue
        name, part = _row_of(row, path, line)
        if name in parts:
            raise FormatError(
                f"Each segment must have one line; {name} has a second.",
                path=path,
                where=f"line {line}",
            )
        parts[name] = part
    missing = [name for name in SEGMENT_NAMES if name not in parts]
    if missing:
        raise FormatError(
            f"The file must have a line for each of the {len(SEGMENT_NAMES)} segments; missing: "
            f"{', '.join(missing)}.",
            path=path,
        )
    try:
        return mass_parts([parts[name] for name in SEGMENT_NAMES])
    except ArrayError as error:
        raise FormatError(str(error), path=path) from error


def _row_of(row: tuple[str, ...], path: Path, line: int) -> tuple[str, float]:
    if len(row) != len(HEADER) or row[0] not in SEGMENT_NAMES:
        raise FormatError(
            f"A line must have a segment ({', '.join(SEGMENT_NAMES)}) and its part of body mass, "
            f"got {','.join(row)[:60]!r}.",
            path=path,
            where=f"line {line}",
        )
    try:
        return row[0], float(row[1])
    except ValueError:
        raise FormatError(
            f"A part of body mass must be a number, got {row[1][:40]!r}.",
            path=path,
            where=f"line {line}",
        ) from None


def write_masses(path: str | Path, masses: FloatArray) -> None:
    """Write a file that :func:`read_masses` reads back, digit for digit.

    ``masses`` must sum to one, but for rounding.
    """
    rows = zip(SEGMENT_NAMES, masses.tolist(), strict=True)
    lines = [",".join(HEADER), *(f"{name},{part!r}" for name, part in rows)]
    write_bytes(path_of(path, "path"), "\n".join([*lines, ""]).encode("ascii"))
