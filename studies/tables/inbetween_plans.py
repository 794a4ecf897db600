"""What the studies of missing seconds share: a subject's seconds, and searched recipes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from motionloom.tables.index.index_build import build_index
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.synthesis.synthesis import rig_of
from studies.memory_table import table_in_memory
from studies.tables.inbetween_methods import Bench, Query
from studies.tables.natural_candidates import GAPS, LENGTH, frames_of_subject, sister_clips

CLUSTERS = 24
WORDS = {
    "report": "random windows of takes not tuned on",
    "transitions": "windows of transition takes",
}
"""Sets of seconds, in words."""


class Plan:
    """The seconds of a subject, all methods on them, and a small table."""

    def __init__(self, folder: Path, subject: str) -> None:
        self._plan = json.loads(GAPS.read_text())[subject]
        frames = frames_of_subject(folder, subject)
        self.bench = Bench(frames, build_index(frames, length=LENGTH), rig_of(frames))
        self.engine = table_in_memory(
            frames, length=LENGTH, clusters=CLUSTERS, keep=4, ways=(2,), ranking=NATURAL
        ).query_engine

    def queries(self, which: str, count: int | None) -> Iterator[tuple[str, Query, list[int]]]:
        """Take, second and the clips that are left out, of the first so many of a set."""
        frames = self.bench.frames
        for name, frame in self._plan["windows"][which][:count]:
            row = frames.row_of(name, frame)
            clip = frames.clip_at(row)
            out = list(sister_clips(frames, self._plan["sisters"], clip))
            yield name, Query(clip, row, tuple(frames.ids[k] for k in out)), out


def searched_rows(
    at: QueryEngine, source: int, target: int, left_out: list[int], *, ways: int = 4
) -> tuple[int, ...]:
    """First rows of the best blend of up to so many windows, over medoids of other takes."""
    frames = at.frames
    medoids = [int(row) for row in at.arrays.medoids if frames.clip_at(int(row)) not in left_out]
    recipes = [(source, target), *((source, a, target) for a in medoids)]
    if ways > 3:
        recipes += [(source, a, b, target) for a in medoids for b in medoids]
    return at.score(recipes).windows(0)
