"""Verdicts: ratings of transitions by people, read from a CSV file.

Columns ``transition`` (its id), ``natural`` (1 or 0) and ``rater`` (who says so); others are
ignored. One line is one person's verdict on one transition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from motionloom.errors import ArrayError, FormatError
from motionloom.files.reading import csv_rows, path_of

COLUMNS = ("transition", "natural", "rater")
YES, NO = {"1", "true", "yes", "natural"}, {"0", "false", "no", "unnatural"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One person's rating of one transition."""

    transition: str
    natural: bool
    rater: str


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All of them, in the order of the file.

    Examples
    --------
    >>> verdicts = Verdicts((Verdict("a", True, "x"), Verdict("b", False, "x")))
    >>> verdicts.majority()
    {'a': True, 'b': False}
    """

    verdicts: tuple[Verdict, ...]

    @property
    def raters(self) -> tuple[str, ...]:
        """Names of the raters, sorted."""
        return tuple(sorted({verdict.rater for verdict in self.verdicts}))

    def majority(self) -> dict[str, bool]:
        """The majority for every transition; ties are left out."""
        votes: dict[str, int] = {}
        for verdict in self.verdicts:
            votes[verdict.transition] = votes.get(verdict.transition, 0) + (
                1 if verdict.natural else -1
            )
        return {name: vote > 0 for name, vote in votes.items() if vote != 0}

    def labels(self, transitions: Iterable[str]) -> list[bool | None]:
        """The majority for these; None for ties and where nobody rated."""
        majority = self.majority()
        return [majority.get(name) for name in transitions]

    @property
    def about(self) -> str:
        """One line for a figure: how many labels, by whom."""
        majority = self.majority()
        return (
            f"labels by {len(self.raters)} people on {len(majority)} transitions "
            f"({sum(majority.values())} natural)"
        )


def read_verdicts(path: str | Path) -> Verdicts:
    """The verdicts in a CSV file.

    Parameters
    ----------
    path
        UTF-8, with a first line that names the columns ``transition``, ``natural`` and ``rater``.
    """
    path = path_of(path, "path")
    rows = csv_rows(path)
    _, header = next(rows, (1, []))
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise FormatError(
            f"Verdicts must have the columns {', '.join(COLUMNS)}; {', '.join(missing)} missing.",
            path=path,
            where="line 1",
        )
    verdicts: dict[tuple[str, str], Verdict] = {}
    for number, cells in rows:
        where, line = f"line {number}", dict(zip(header, cells, strict=False))
        transition, natural, rater = (line.get(name, "").strip() for name in COLUMNS)
        if not transition or not rater:
            raise FormatError(
                "A verdict must name a transition and a rater.", path=path, where=where
            )
        word = natural.lower()
        if word not in YES | NO:
            raise FormatError(
                f"`natural` must be 1 or 0, got {natural[:40]!r}.", path=path, where=where
            )
        if (transition, rater) in verdicts:
            raise FormatError(
                f"{rater[:80]} must rate {transition[:80]} once, and does so again.",
                path=path,
                where=where,
                fix="Keep one of the two lines.",
            )
        verdicts[transition, rater] = Verdict(transition, word in YES, rater)
    if not verdicts:
        raise ArrayError(f"{path} must hold at least one verdict, got none.")
    return Verdicts(tuple(verdicts.values()))
