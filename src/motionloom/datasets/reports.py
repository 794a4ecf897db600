"""What a check or a clean-up found: its columns, a report per clip, and one of the data set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from motionloom._arrays import not_negative
from motionloom._records import FrozenMapping, record
from motionloom.datasets.duplicates import find_duplicates, unpack_fingerprint
from motionloom.errors import ArrayError
from motionloom.findings import Finding

DefectLevel = Literal["fault", "note"]
Status = Literal["good", "faulty", "unreadable"]
Row = Mapping[str, Any]
SIBLINGS, OUTVOTE = 2, 3
"""Fewest clips with suspect rates, and how many times the clips whose flights agree with gravity
they must be, to cast doubt on all clips of their skeleton and rate."""
DETAIL = ("quality", "findings", "cleanup", "cleanup_facts", "verification", "file_warnings")


class Column(NamedTuple):
    """One figure of a clip."""

    name: str
    label: str
    unit: str
    limit: float
    """Larger values are faults."""
    about: str
    fix: str
    """What to do about it."""


COLUMNS = (
    Column(
        "slide",
        "slide",
        "cm/s",
        8.0,
        "speed of planted feet; 7.5 % of the body's always pass",
        "Check rate and unit, or hold the feet with motionloom clean.",
    ),
    Column(
        "penetration",
        "penetration",
        "cm",
        4.0,
        "deepest that feet go below their floor",
        "motionloom clean lifts feet that it holds.",
    ),
    Column(
        "floor_offset",
        "floor",
        "cm",
        6.0,
        "height of the floor over y = 0",
        "ml.ground(motion) brings it to y = 0.",
    ),
    Column(
        "glitches",
        "glitches",
        "",
        0.0,
        "places where a joint leaves its path for one frame",
        "Cut the frames out, or leave the clip out.",
    ),
    Column(
        "jitter",
        "jitter",
        "mm",
        1.8,
        "noise of the noisiest joint; more below 60 fps",
        "Smooth the clip, or leave it out.",
    ),
    Column(
        "backward_knees",
        "knees",
        "deg",
        5.0,
        "farthest that a knee bends backwards",
        "Functions that make motion repair it; repair_knees=False keeps it.",
    ),
    Column(
        "still_root",
        "still root",
        "m",
        0.5,
        "way that feet walk under a body in place",
        "Give the body its travel back, or leave the clip out.",
    ),
    Column(
        "frame_rate",
        "rate",
        "x",
        1.3,
        "how many times too fast or too slow it plays",
        "Pass the true rate as source_fps=.",
    ),
    Column(
        "contacts",
        "contacts",
        "s",
        1.0,
        "time in which nothing carries an upright body",
        "The height of the root drifts, or the body hangs on something that is not in the file.",
    ),
    Column(
        "duplicates", "duplicates", "", 0.0, "other clips with the same motion", "Keep one of them."
    ),
    Column("file", "file", "", 0.0, "other faults of the file", ""),
)
"""In the order in which summaries list them."""
NAMES = tuple(column.name for column in COLUMNS)
FIXES: Mapping[str, str] = FrozenMapping({column.name: column.fix for column in COLUMNS})
LIMITS: Mapping[str, float] = FrozenMapping({column.name: column.limit for column in COLUMNS})


def limits_of(given: Mapping[str, float] | None) -> dict[str, float]:
    """The usual limits with those that a caller gives; infinity switches a column off."""
    limits = dict(LIMITS)
    if given is None:
        return limits
    if not isinstance(given, Mapping):
        raise ArrayError(f"`limits` must be a mapping of columns to numbers, got {given!r}.")
    for name, value in given.items():
        if name not in limits:
            raise ArrayError(f"`limits` must name columns ({', '.join(NAMES)}), got {name!r}.")
        limits[name] = value if value == float("inf") else not_negative(value, f"limits[{name!r}]")
    return limits


@dataclass(frozen=True, slots=True)
@record
class Defect:
    """A figure of a clip that is beyond its limit.

    Attributes
    ----------
    column : str
        Name of the column: ``slide``, ``glitches`` ...
    level : DefectLevel
        A fault rejects the clip; a note does not.
    value, limit : float
        In the column's unit.
    where : str
        Place in words: ``"frame 40"``.
    text : str
        What is wrong, in a sentence.
    fix : str
        What to do about it; empty where nothing helps.
    """

    column: str
    level: DefectLevel
    value: float
    limit: float
    where: str
    text: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.column.replace('_', ' ')}: {self.text}"

    @property
    def severity(self) -> float:
        """How many times the limit; of figures that may not occur at all, one more than the value.

        At most 99, so that one figure does not hide the others.
        """
        ratio = self.value / self.limit if self.limit > 0.0 else 1.0 + self.value
        return min(ratio, 99.0)


@dataclass(frozen=True, slots=True)
@record
class ClipReport:
    """Measurements of one clip, and its defects.

    Attributes
    ----------
    path : str
        As it was found.
    error : str
        Why it could not be read, cleaned or written; empty where it could.
    frames : int
        Number of frames.
    fps : float
        Frames per second.
    seconds : float
        Duration.
    values : Mapping
        Figure of every column; None where it cannot be measured.
    defects : tuple of Defect
        What is beyond its limit.
    duplicate_of : str
        The clip with the same motion that is kept; empty where this is it.
    likely_fps : float or None
        The frame rate that would be right, where the file's is suspect.
    planted : float or None
        Part of the frames in which a foot stands.
    output : str
        The cleaned file, if any.
    before : Mapping
        Figures of a cleaned clip as it was.
    detail : Mapping
        What else a summary holds: quality, clean-up, warnings of the file.
    """

    path: str
    error: str = ""
    frames: int = 0
    fps: float = 0.0
    seconds: float = 0.0
    values: Mapping[str, float | None] = field(default_factory=FrozenMapping)
    defects: tuple[Defect, ...] = ()
    duplicate_of: str = ""
    likely_fps: float | None = None
    planted: float | None = None
    output: str = ""
    before: Mapping[str, float | None] = field(default_factory=FrozenMapping)
    detail: Mapping[str, Any] = field(default_factory=FrozenMapping)

    @property
    def faults(self) -> tuple[Defect, ...]:
        """Defects that reject the clip."""
        return tuple(each for each in self.defects if each.level == "fault")

    @property
    def status(self) -> Status:
        """``"good"``, ``"faulty"`` or ``"unreadable"``."""
        if self.error:
            return "unreadable"
        return "faulty" if self.faults else "good"

    @property
    def severity(self) -> float:
        """How far all faults exceed their limits; a note counts a hundredth; 1000 if unreadable."""
        if self.error:
            return 1000.0
        sizes = [each.severity * (1.0 if each.level == "fault" else 0.01) for each in self.defects]
        return math.fsum(sizes)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Its defects as findings."""
        return tuple(
            Finding(
                "warning" if each.level == "fault" else "note",
                each.where or each.column.replace("_", " "),
                f"{each.text}.",
                each.fix,
            )
            for each in self.defects
        )

    def json(self) -> dict[str, Any]:
        """As values that JSON can hold.

        Returns
        -------
        dict
            The findings and figures by their names.
        """
        cleaned = {"output": self.output, "before": dict(self.before)} if self.output else {}
        return {
            "file": self.path,
            "status": self.status,
            "severity": round(self.severity, 4),
            "error": self.error or None,
            "frames": self.frames,
            "fps": self.fps,
            "seconds": self.seconds,
            "values": {name: self.values.get(name) for name in NAMES},
            "defects": [
                {
                    "column": each.column,
                    "level": each.level,
                    "value": each.value,
                    "limit": each.limit,
                    "where": each.where,
                    "text": each.text,
                }
                for each in self.defects
            ],
            "duplicate_of": self.duplicate_of or None,
            "likely_fps": self.likely_fps,
            "planted": self.planted,
            **cleaned,
            **self.detail,
        }


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
