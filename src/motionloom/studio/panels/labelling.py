"""Labelling: transitions shown one by one, natural or not, kept for ``table evaluate``."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import BinaryIO

import numpy as np

from motionloom.errors import TableError
from motionloom.saving.whole_file import write_whole
from motionloom.studio.messages.answers import Answer
from motionloom.studio.messages.table_messages import LabelNext, LabelSave, Place
from motionloom.studio.panels.table_panel import TableRoom
from motionloom.studio.results.result import Result
from motionloom.tables.evaluation.verdicts import COLUMNS, Verdict, read_verdicts
from motionloom.tables.table import TransitionTable

__all__ = ["Labelling", "drawn_pair"]

CHOICES = 5
"""Random pairs of which one is shown: each of them in turn, from the best to the worst expected, so
that there is something natural and something unnatural to judge."""
MOST_NAME = 40
FORMULA = ("=", "+", "-", "@")
"""What a spreadsheet takes for the beginning of one."""
MOST_DRAWN = 5000
"""Pairs that are looked through for one that is not judged yet."""


class Labelling:
    """Verdicts on transitions of the open table, in a file beside it."""

    def __init__(self, room: TableRoom) -> None:
        self.room = room

    def next(self, wish: LabelNext) -> Result:
        """A transition that this rater has not judged. All raters get the same ones."""
        rater = _name(wish.rater)
        opened = self.room.tables.current()
        said = _known(opened.verdicts)
        judged = {verdict.transition for verdict in said if verdict.rater == rater}
        for number in range(MOST_DRAWN):
            source, target = drawn_pair(opened.table, number)
            if _is_plain(source) and _is_plain(target) and _text(source, target) not in judged:
                break
        else:
            raise TableError(f"{rater} has judged all that this table has to show. Thank you.")
        judging = {
            "table": opened.digest,
            "transition": _text(source, target),
            "number": number + 1,
            **_counts(said, rater),
        }
        return self.room.judged(source, target, {"judging": judging})

    def save(self, wish: LabelSave) -> Answer:
        """Keep a verdict; the file is replaced whole."""
        rater = _name(wish.rater)
        opened = self.room.tables.current()
        if wish.table not in (None, opened.digest):
            raise TableError("Another table is open now; this was one of the table before.")
        _check(opened.table, wish.transition)
        file = opened.verdicts
        with self.room.tables.judging:  # other pages save theirs at the same time
            said = [
                each
                for each in _known(file)
                if (each.transition, each.rater) != (wish.transition, rater)
            ]
            said.append(Verdict(wish.transition, wish.natural, rater))
            data = _written(said).encode("utf-8")

            def put(stream: BinaryIO) -> None:
                stream.write(data)

            write_whole(file, put)
        return Answer("labels", _counts(said, rater))

    def text(self) -> str:
        """All verdicts on the open table, as CSV."""
        return _written(_known(self.room.tables.current().verdicts))


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
    kept = "".join(c for c in rater if c.isprintable()).strip(" " + "".join(FORMULA))[:MOST_NAME]
    if not kept:
        raise TableError("A verdict must say whose it is. Type a name.")
    return kept


def _known(file: Path) -> list[Verdict]:
    return list(read_verdicts(file).verdicts) if file.is_file() else []


def _counts(said: list[Verdict], rater: str) -> dict[str, int]:
    own = [each for each in said if each.rater == rater]
    return {"judged": len(own), "natural": sum(each.natural for each in own), "all": len(said)}


def _text(source: Place, target: Place) -> str:
    return f"{source[0]}:{source[1]}>{target[0]}:{target[1]}"


def _is_plain(place: Place) -> bool:
    """Whether a transition that names the clip can be read back, and is no formula to anyone."""
    return ">" not in place[0] and not place[0].startswith(FORMULA)


def _check(table: TransitionTable, transition: str) -> None:
    """Refuse what names no two frames of the table."""
    parts = transition.split(">")
    if len(parts) != 2:
        raise TableError("A transition must be CLIP:FRAME>CLIP:FRAME.")
    for part in parts:
        clip, _, frame = part.rpartition(":")
        if not frame.isdecimal():
            raise TableError("A transition must be CLIP:FRAME>CLIP:FRAME.")
        table.frames.row_of(clip, int(frame))


def _written(said: list[Verdict]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((each.transition, int(each.natural), each.rater) for each in said)
    return text.getvalue()
