"""DatasetReport: the rows of a data set, judged together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from motionloom._records import FrozenMapping, record
from motionloom.datasets.check_columns import FIXES
from motionloom.datasets.clip_report import ClipReport, Defect
from motionloom.datasets.duplicates import find_duplicates
from motionloom.datasets.fingerprints import unpack_fingerprint

Row = Mapping[str, Any]

SIBLINGS, OUTVOTE = 2, 3
"""So many clips on a skeleton whose rates are suspect, and so many times those whose flights agree
with gravity, cast doubt on all clips of that skeleton and rate."""
DETAIL = ("quality", "findings", "cleanup", "cleanup_facts", "file_warnings")


@dataclass(frozen=True, slots=True)
@record
class DatasetReport:
    """What a check or a clean-up of a data set found.

    Attributes
    ----------
    clips : tuple of ClipReport
        In the order of their paths.
    limits : Mapping
        Of every column; some are wider in fast or slow clips.
    resumed : int
        Rows that an earlier run had finished.
    """

    clips: tuple[ClipReport, ...]
    limits: Mapping[str, float] = field(default_factory=FrozenMapping)
    resumed: int = 0

    @property
    def worst_first(self) -> tuple[ClipReport, ...]:
        """The clips by severity, then by path."""
        return tuple(sorted(self.clips, key=lambda clip: (-clip.severity, clip.path)))

    @property
    def accepted(self) -> tuple[str, ...]:
        """Paths of the clips without faults."""
        return tuple(clip.path for clip in self.clips if clip.status == "good")

    @property
    def counts(self) -> Mapping[str, int]:
        """Clips that are ``good``, ``faulty`` and ``unreadable``."""
        states = [clip.status for clip in self.clips]
        return FrozenMapping(
            {name: states.count(name) for name in ("good", "faulty", "unreadable")}
        )

    def json(self) -> dict[str, Any]:
        """As values that JSON can hold, worst clips first.

        Returns
        -------
        dict
            The summary and one record for each clip.
        """
        limits = {
            name: value if value < float("inf") else None for name, value in self.limits.items()
        }
        return {
            **self.counts,
            "limits": limits,
            "clips": [clip.json() for clip in self.worst_first],
        }


def build_report(
    rows: Sequence[Row], limits: Mapping[str, float], *, resumed: int = 0
) -> DatasetReport:
    """Reports of rows, with what only all of them together tell: duplicates, rates of siblings."""
    siblings = _rates_of_siblings(rows, limits)
    heads = find_duplicates(
        [unpack_fingerprint(row.get("fingerprint", "")) for row in rows],
        [row.get("digest", "") for row in rows],
    )
    first = [_clip_report(row, siblings.get(n)) for n, row in enumerate(rows)]
    groups: dict[int, list[int]] = {}
    for n, head in enumerate(heads):
        groups.setdefault(head, []).append(n)
    clips = list(first)
    for members in groups.values():
        # Of the same motion the soundest is kept, then that with most frames, then the first.
        best = min(members, key=lambda n: (first[n].severity, -first[n].frames, n))
        for n in members:
            if not first[n].error:
                clips[n] = _with_duplicates(first, n, best, len(members) - 1, limits["duplicates"])
    return DatasetReport(tuple(clips), FrozenMapping(limits), resumed)


def _clip_report(row: Row, sibling: tuple[float, float | None, str] | None) -> ClipReport:
    if row.get("error"):
        detail = FrozenMapping({"flawed": bool(row.get("flawed"))})
        return ClipReport(row["path"], row["error"], output=row.get("output", ""), detail=detail)
    defects = [Defect(**each) for each in row["defects"]]
    values, likely = dict(row["values"]), row["likely_fps"]
    if sibling is not None:
        factor, likely, text = sibling
        limit = row["limits"]["frame_rate"]
        values["frame_rate"] = factor
        defects.append(
            Defect("frame_rate", "fault", factor, limit, "frame rate", text, FIXES["frame_rate"])
        )
    return ClipReport(
        path=row["path"],
        frames=row["frames"],
        fps=row["fps"],
        seconds=row["seconds"],
        values=FrozenMapping(values),
        defects=tuple(defects),
        likely_fps=likely,
        planted=row["planted"],
        output=row.get("output", ""),
        before=FrozenMapping(row.get("before", {})),
        detail=FrozenMapping({name: row[name] for name in DETAIL if name in row}),
    )


def _with_duplicates(
    clips: Sequence[ClipReport], n: int, best: int, others: int, limit: float
) -> ClipReport:
    """A clip with the number of others of its motion; a fault unless it is the one to keep."""
    clip, kept_path = clips[n], clips[best].path
    values = FrozenMapping({**clip.values, "duplicates": float(others)})
    if not others or n == best:
        return _changed(clip, values=values)
    text = f"the same motion as {kept_path}"
    defects = clip.defects
    if others > limit:
        fault = Defect(
            "duplicates", "fault", float(others), limit, "clip", text, FIXES["duplicates"]
        )
        defects = (*defects, fault)
    return _changed(clip, values=values, defects=defects, duplicate_of=kept_path)


def _changed(clip: ClipReport, **changes: Any) -> ClipReport:
    fields = {name: getattr(clip, name) for name in ClipReport.__slots__}
    return ClipReport(**{**fields, **changes})


def _rates_of_siblings(
    rows: Sequence[Row], limits: Mapping[str, float]
) -> dict[int, tuple[float, float | None, str]]:
    """Rows whose rate is suspect because that of most clips on their skeleton is.

    A body that stands tells nothing about its rate. Others of the same capture do.
    """
    members: dict[str, list[int]] = {}
    for n, row in enumerate(rows):
        if not row.get("error"):
            members.setdefault(row["skeleton"], []).append(n)
    out: dict[int, tuple[float, float | None, str]] = {}
    for numbers in members.values():
        suspects = [n for n in numbers if _rate_is_suspect(rows[n])]
        n_right = sum(bool(rows[n]["rate_agrees"]) for n in numbers)
        if len(suspects) < SIBLINGS or len(suspects) < OUTVOTE * n_right:
            continue
        rates = [rows[n]["likely_fps"] for n in suspects if rows[n]["likely_fps"]]
        likely = max(set(rates), key=lambda rate: (rates.count(rate), -rate)) if rates else None
        for n in set(numbers) - set(suspects):
            factor = rows[n]["fps"] / likely if likely else limits["frame_rate"] + 0.1
            if max(factor, 1.0 / factor) > limits["frame_rate"]:
                text = f"{len(suspects)} other clips on its skeleton play too fast or too slow"
                text += f"; {likely:g} fps would be right for them" if likely else ""
                out[n] = (max(factor, 1.0 / factor), likely, text)
    return out


def _rate_is_suspect(row: Row) -> bool:
    return any(each["column"] == "frame_rate" for each in row["defects"])
