"""Constraints from a file: intervals of clips, as CSV or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from motionloom._arrays import items, of_kind
from motionloom.errors import FormatError
from motionloom.files.limits import Budget, Limits
from motionloom.files.reading import csv_rows, parse_json, path_of, read_file

LARGEST_FILE = 16 << 20
HEADINGS = ("clip", "name", "start_s", "end_s")

Constraints = list[dict[str, list[tuple[float, float]]]]
"""By clip, then by name: intervals in seconds."""


def read_constraints(path: str | Path, clips: Sequence[str]) -> Constraints:
    r"""Constraints of every clip from a file, for ``register(constraints=...)``.

    A CSV file has a row per interval: clip, name, start and end in seconds; a first line
    ``clip,name,start_s,end_s`` may be there. A file whose name ends in ``.json`` holds an object
    of clips, each an object of names with lists of intervals:
    ``{"walk": {"right_wrist": [[0.4, 1.2]]}}``.

    Parameters
    ----------
    path
        The file.
    clips
        Name of every clip, or its path; the file may leave out folder and suffix.

    Returns
    -------
    list of dict
        One per clip, in the order of ``clips``; intervals in time order.

    Raises
    ------
    FormatError
        The file names a clip that is not there, or an interval is no pair of numbers.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "holds.csv"
    ...     _ = file.write_text("clip,name,start_s,end_s\na,rail,0.4,1.2\nb,rail,0.5,1.0\n")
    ...     read_constraints(file, ["a.bvh", "b.bvh"])
    [{'rail': [(0.4, 1.2)]}, {'rail': [(0.5, 1.0)]}]
    """
    clips = [of_kind(name, str, "clips") for name in items(clips, "clips", "names of clips")]
    path = path_of(path, "path")
    rows = _json_rows(path) if path.suffix.lower() == ".json" else _csv_rows(path)
    constraints: Constraints = [{} for _ in clips]
    for clip, name, span, where in rows:
        constraints[_clip(clip, clips, path, where)].setdefault(name, []).append(span)
    return [{name: sorted(spans) for name, spans in each.items()} for each in constraints]


Row = tuple[str, str, tuple[float, float], str]
"""Clip, name, interval, and where it stands in the file."""


def _csv_rows(path: Path) -> list[Row]:
    rows: list[Row] = []
    first = True
    for number, cells in csv_rows(path):
        texts, where = [cell.strip() for cell in cells], f"line {number}"
        if not any(texts):
            continue
        heading, first = first and tuple(text.lower() for text in texts[:2]) == HEADINGS[:2], False
        if heading:
            continue
        if len(texts) != len(HEADINGS) or not texts[1]:
            raise FormatError(
                f"A row must have four values, {', '.join(HEADINGS)}, got {len(texts)}.",
                path=path,
                where=where,
            )
        rows.append((texts[0], texts[1], _span(texts[2:], path, where), where))
    return rows


def _json_rows(path: Path) -> list[Row]:
    try:
        document = parse_json(read_file(path, LARGEST_FILE), Budget(Limits(), 0), where="")
    except FormatError as error:
        raise FormatError(error.problem, path=path) from None
    rows: list[Row] = []
    for clip, names in _object(document, path, "the file").items():
        for name, spans in _object(names, path, f"{clip!r}").items():
            where = f"{clip!r}, {name!r}"
            if not isinstance(spans, list) or not all(isinstance(span, list) for span in spans):
                raise FormatError(
                    "Intervals must be a list of pairs, such as [[0.4, 1.2]].",
                    path=path,
                    where=where,
                )
            rows += [(clip, name, _span(span, path, where), where) for span in spans]
    return rows


def _object(value: Any, path: Path, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FormatError(
            'The file must hold objects, such as {"walk": {"right_wrist": [[0.4, 1.2]]}}.',
            path=path,
            where=where,
        )
    return value


def _span(values: Sequence[Any], path: Path, where: str) -> tuple[float, float]:
    try:
        start, end = (float(value) for value in values)
    except (TypeError, ValueError):
        raise FormatError(
            f"An interval must be two numbers, its start and end in seconds, got {values!r:.60}.",
            path=path,
            where=where,
        ) from None
    return start, end


def _clip(name: str, clips: Sequence[str], path: Path, where: str) -> int:
    """Number of the clip of this name."""
    fitting = [
        k for k, clip in enumerate(clips) if name in (clip, Path(clip).name, Path(clip).stem)
    ]
    if len(fitting) != 1:
        names = ", ".join(Path(clip).stem for clip in clips[:8])
        problem = "fits several" if fitting else "is none of them"
        raise FormatError(
            f"An interval must belong to one of the clips ({names}); {name[:40]!r} {problem}.",
            path=path,
            where=where,
        )
    return fitting[0]
