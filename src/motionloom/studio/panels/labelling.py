"""Labelling: people rate transitions as natural or not; ``table evaluate`` reads the verdicts."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from motionloom.errors import TableError
from motionloom.files.writing import write_bytes
from motionloom.studio.messages.answers import Answer
from motionloom.studio.messages.result_messages import Place, Rating, RatingCounts
from motionloom.studio.messages.table_messages import LabelNext, LabelSave
from motionloom.studio.panels.table_panel import TablePanel
from motionloom.studio.results.result import Result
from motionloom.tables.evaluation.evaluation import COLUMNS, Verdict, read_verdicts
from motionloom.tables.table import TransitionTable

CHOICES = 5
"""Random pairs of which one is shown: each rank in turn, from the best to the worst expected cost,
so that raters see natural and unnatural transitions."""
MOST_NAME = 40
FORMULA = ("=", "+", "-", "@")
"""First characters of a formula in spreadsheets."""
MOST_DRAWN = 5000
"""Pairs that are searched for one without a verdict."""


class Labelling:
    """Verdicts on transitions of the open table, in a file next to it."""

    def __init__(self, panel: TablePanel) -> None:
        self.panel = panel

    def next(self, request: LabelNext) -> Result:
        """A transition that this rater has not rated. All raters get the same ones."""
        rater = _name(request.rater)
        opened = self.panel.tables.current()
        verdicts = _read(opened.verdicts)
        rated = {verdict.transition for verdict in verdicts if verdict.rater == rater}
        for number in range(MOST_DRAWN):
            source, target = drawn_pair(opened.table, number)
            if _is_plain(source) and _is_plain(target) and _text(source, target) not in rated:
                break
        else:
            raise TableError(f"{rater} has rated every transition of this table. Thank you.")
        transition, counts = _text(source, target), _counts(verdicts, rater)
        rating = Rating(opened.digest, transition, number + 1, counts)
        return self.panel.unrated(source, target, rating)

    def save(self, request: LabelSave) -> Answer:
        """Store a verdict; the file is replaced as a whole."""
        rater = _name(request.rater)
        opened = self.panel.tables.current()
        if request.table not in (None, opened.digest):
            raise TableError("Another table is open now; this transition is of the previous one.")
        _check(opened.table, request.transition)
        with self.panel.tables.rating:  # other pages save theirs at the same time
            verdicts = [
                each
                for each in _read(opened.verdicts)
                if (each.transition, each.rater) != (request.transition, rater)
            ]
            verdicts.append(Verdict(request.transition, request.natural, rater))
            write_bytes(opened.verdicts, _csv(verdicts).encode("utf-8"))
        return Answer(_counts(verdicts, rater))

    def text(self) -> str:
        """All verdicts on the open table, as CSV."""
        return _csv(_read(self.panel.tables.current().verdicts))


def drawn_pair(table: TransitionTable, number: int) -> tuple[Place, Place]:
    """The pair of frames of a number, the same for everyone."""
    rng = np.random.Generator(np.random.PCG64([7, number]))
    windows = table.frames.windows(table.length)
    rows = rng.choice(windows, (CHOICES, 2))
    expected = [float(table.costs[table.nearest[a], table.nearest[b], 0]) for a, b in rows]
    a, b = rows[np.argsort(expected, kind="stable")[number % CHOICES]]
    source, target = table.frames.place_of(int(a)), table.frames.place_of(int(b))
    return source, (target[0], target[1] + table.length - 1)


def _name(rater: str) -> str:
    name = "".join(c for c in rater if c.isprintable()).strip(" " + "".join(FORMULA))[:MOST_NAME]
    if not name:
        raise TableError("A verdict must have the name of its rater. Type a name.")
    return name


def _read(file: Path) -> list[Verdict]:
    return list(read_verdicts(file).verdicts) if file.is_file() else []


def _counts(verdicts: list[Verdict], rater: str) -> RatingCounts:
    own = [each for each in verdicts if each.rater == rater]
    return RatingCounts(len(own), sum(each.natural for each in own), len(verdicts))


def _text(source: Place, target: Place) -> str:
    return f"{source[0]}:{source[1]}>{target[0]}:{target[1]}"


def _is_plain(place: Place) -> bool:
    """Whether a transition with this clip can be parsed, and is no formula in a spreadsheet."""
    return ">" not in place[0] and not place[0].startswith(FORMULA)


def _check(table: TransitionTable, transition: str) -> None:
    """Raise an error unless the text names two frames of the table."""
    parts = transition.split(">")
    if len(parts) != 2:
        raise TableError("A transition must be CLIP:FRAME>CLIP:FRAME.")
    for part in parts:
        clip, _, frame = part.rpartition(":")
        if not frame.isdecimal():
            raise TableError("A transition must be CLIP:FRAME>CLIP:FRAME.")
        table.frames.row_of(clip, int(frame))


def _csv(verdicts: list[Verdict]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((each.transition, int(each.natural), each.rater) for each in verdicts)
    return text.getvalue()
