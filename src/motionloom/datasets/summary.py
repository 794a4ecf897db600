"""The summary of a data set on disk: one CSV, one JSON, one page, and the list of good clips."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from motionloom.datasets.reports import COLUMNS, ClipReport, DatasetReport
from motionloom.drawing.page import json_block, page_of
from motionloom.errors import FormatError
from motionloom.files.reading import printable
from motionloom.files.writing import write_bytes

CSV_NAME, JSON_NAME, PAGE_NAME = "summary.csv", "summary.json", "index.html"
DIGITS = 4


def write_summary(
    folder: Path, report: DatasetReport, rows: Sequence[Mapping[str, Any]], title: str
) -> None:
    """Write ``summary.csv``, ``summary.json`` and ``index.html`` into a folder."""
    write_bytes(folder / CSV_NAME, csv_text(report).encode("utf-8", "backslashreplace"))
    text = json.dumps(_rounded(report.json()), ensure_ascii=True, indent=1, allow_nan=False)
    write_bytes(folder / JSON_NAME, text.encode())
    page = dataset_page(report, {row["path"]: row.get("thumbnail") for row in rows}, title=title)
    write_bytes(folder / PAGE_NAME, page.encode("utf-8", "replace"))


def write_accepted(path: Path, report: DatasetReport) -> None:
    """Write the paths of good clips, one a line."""
    lines = "".join(f"{each}\n" for each in report.accepted)
    write_bytes(path, lines.encode("utf-8", "surrogateescape"))


def csv_text(report: DatasetReport) -> str:
    """A row per clip, worst first."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    names = [f"{each.name}_{_unit(each.unit)}".rstrip("_") for each in COLUMNS]
    names[-1] = "file_faults"  # the first column is the file
    before = any(clip.output for clip in report.clips)
    writer.writerow(
        ["file", "status", "severity", "frames", "fps", "seconds", "planted_percent", *names]
        + ["likely_fps", "duplicate_of", "problems"]
        + (["output", *(f"before_{name}" for name in names)] if before else [])
    )
    for clip in report.worst_first:
        planted = None if clip.planted is None else 100.0 * clip.planted
        cells = [printable(clip.path), clip.status, _figure(clip.severity), str(clip.frames)]
        cells += [_figure(clip.fps), _figure(clip.seconds), _figure(planted)]
        cells += [_figure(clip.values.get(each.name)) for each in COLUMNS]
        cells += [_figure(clip.likely_fps), printable(clip.duplicate_of), _problems(clip)]
        if before:
            cells.append(printable(clip.output))
            cells += [_figure(clip.before.get(each.name)) for each in COLUMNS]
        writer.writerow(cells)
    return stream.getvalue()


def refuse_foreign(folder: Path, *, ours: bool, overwrite: bool) -> None:
    """Refuse to replace files of a folder that no run of ours wrote."""
    if folder.is_file():
        raise FormatError("The report must be a folder, and is a file.", path=folder)
    if ours or overwrite:
        return
    for name in (CSV_NAME, JSON_NAME, PAGE_NAME):
        if (folder / name).exists():
            raise FormatError(
                "The file exists already, and is of no check.",
                path=folder / name,
                fix="Choose another folder, or pass overwrite=True.",
            )


def _problems(clip: ClipReport) -> str:
    return printable(clip.error or "; ".join(str(each) for each in clip.defects))


def _unit(unit: str) -> str:
    return {"cm/s": "cm_s", "%": "percent", "x": "factor"}.get(unit, unit)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def _rounded(value: Any) -> Any:
    """Numbers with six digits: what is measured is no more exact."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def dataset_page(
    report: DatasetReport, thumbnails: Mapping[str, Mapping[str, Any] | None], *, title: str
) -> str:
    """The text of a self-contained HTML page; nothing is loaded from anywhere.

    Parameters
    ----------
    report
        What was found.
    thumbnails
        By path; see ``make_thumbnail``.
    title
        Of the window and the page.
    """
    skeletons: dict[str, int] = {}
    begin = common_folder([clip.path for clip in report.clips])
    clips = [
        {
            "file": printable(clip.path[len(begin) :]),
            **_clip(clip, thumbnails.get(clip.path), skeletons, begin),
        }
        for clip in report.worst_first
    ]
    data = {
        "title": printable(title),
        "folder": printable(begin),
        "counts": dict(report.counts),
        "columns": [
            {
                "name": each.name,
                "label": each.label,
                "unit": each.unit,
                "about": each.about,
                "limit": _finite(report.limits.get(each.name, each.limit)),
            }
            for each in COLUMNS
        ],
        "skeletons": [json.loads(figure) for figure in skeletons],
        "clips": clips,
    }
    body = '<main id="dataset"></main>\n<noscript>This page needs JavaScript.</noscript>\n'
    return page_of(title, body + json_block("dataset-data", data), player="dataset")


def common_folder(paths: Sequence[str]) -> str:
    """What all paths begin with, up to a separator.

    Examples
    --------
    >>> common_folder(["data/a/x.bvh", "data/b.bvh"])
    'data/'
    """
    first, last = min(paths, default=""), max(paths, default="")
    same = 0
    while same < len(first) and first[same] == last[same]:
        same += 1
    cut = max(first.rfind("/", 0, same), first.rfind(os.sep, 0, same)) + 1
    return first[:cut]


def _clip(
    clip: ClipReport,
    thumbnail: Mapping[str, Any] | None,
    skeletons: dict[str, int],
    begin: str,
) -> dict[str, Any]:
    """One clip; texts name others without the ``begin`` of all paths."""

    def plain(text: str) -> str:
        return printable(text.replace(begin, "") if begin else text)

    out: dict[str, Any] = {
        "status": clip.status,
        "severity": _short(clip.severity),
        "seconds": _short(clip.seconds),
        "fps": _short(clip.fps),
        "values": [_short(clip.values.get(each.name)) for each in COLUMNS],
        "defects": [[each.column, each.level, plain(each.text)] for each in clip.defects],
    }
    if clip.error:
        out["error"] = plain(clip.error)
    if clip.before:
        out["before"] = [_short(clip.before.get(each.name)) for each in COLUMNS]
    if thumbnail:
        figure = json.dumps({name: thumbnail[name] for name in ("bones", "head")})
        out["skeleton"] = skeletons.setdefault(figure, len(skeletons))
        out["poses"] = thumbnail["poses"]
    return out


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None
