"""The page of a data set: every clip with a thumbnail, sorted by worst, filtered in the browser."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from motionloom.datasets.check_columns import COLUMNS
from motionloom.datasets.clip_report import ClipReport
from motionloom.datasets.dataset_report import DatasetReport
from motionloom.drawing.page import json_block, page_of
from motionloom.files.reading import printable

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
