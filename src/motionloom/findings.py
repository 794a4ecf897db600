"""What was noticed about a file and did not stop it from being read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from motionloom._records import record

Level = Literal["note", "warning", "error"]


@dataclass(frozen=True, slots=True)
@record
class Finding:
    """One observation about a file or result: severity, place, problem and remedy.

    A *note* reports what was detected or decided and is no fault. A *warning* is a fault in spite
    of which the file could be read. An *error* means that the file cannot be used as it is.

    Attributes
    ----------
    level : Level
        How bad it is.
    where : str
        Place in words: ``"frame 1"``, ``"line 12"``, ``"header"``.
    problem : str
        What was noticed.
    fix : str
        What to do about it; empty where nothing needs to be done.
    """

    level: Level
    where: str
    problem: str
    fix: str = ""

    def __str__(self) -> str:
        text = f"{self.level}: {self.where}: {self.problem}"
        return f"{text} {self.fix}" if self.fix else text


class MotionLoomWarning(UserWarning):
    """A fault of a file that could still be read, or a result that fails its quality check."""
