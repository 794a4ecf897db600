"""ClipReport: what a check found in one clip of a data set."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from motionloom._records import FrozenMapping, record
from motionloom.datasets.check_columns import NAMES
from motionloom.findings import Finding

DefectLevel = Literal["fault", "note"]
Status = Literal["good", "faulty", "unreadable"]


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
        """To sort by: the sum of what its faults exceed, notes a hundredth; 1000 if unreadable."""
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
