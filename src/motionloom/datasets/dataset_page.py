"""The page of a data set: every clip with a thumbnail, sorted by worst, filtered in the browser."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from motionloom._paths import printable
from motionloom.datasets.check_columns import COLUMNS
from motionloom.datasets.clip_report import ClipReport
from motionloom.datasets.dataset_report import DatasetReport
from motionloom.drawing.page import json_block, page_of

DIGITS = 4


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
    clips = [_clip(clip, thumbnails.get(clip.path), skeletons) for clip in report.worst_first]
    data = {
        "title": printable(title),
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
        "skeletons": [json.loads(bones) for bones in skeletons],
        "clips": clips,
    }
    body = '<main id="dataset"></main>\n<noscript>This page needs JavaScript.</noscript>\n'
    return page_of(title, body + json_block("dataset-data", data), player="dataset")


def _clip(
    clip: ClipReport, thumbnail: Mapping[str, Any] | None, skeletons: dict[str, int]
) -> dict[str, Any]:
    """One clip with short keys: a page has thousands."""
    out: dict[str, Any] = {
        "file": printable(clip.path),
        "status": clip.status,
        "severity": _short(clip.severity),
        "seconds": _short(clip.seconds),
        "fps": _short(clip.fps),
        "values": [_short(clip.values.get(each.name)) for each in COLUMNS],
        "defects": [[each.column, each.level, printable(each.text)] for each in clip.defects],
    }
    if clip.error:
        out["error"] = printable(clip.error)
    if clip.before:
        out["before"] = [_short(clip.before.get(each.name)) for each in COLUMNS]
    if thumbnail:
        bones = json.dumps(thumbnail["bones"])
        out["skeleton"] = skeletons.setdefault(bones, len(skeletons))
        out["poses"] = thumbnail["poses"]
    return out


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{DIGITS}g}")


def _finite(value: float) -> float | None:
    return value if value < float("inf") else None
