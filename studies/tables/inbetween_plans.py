"""What the studies of missing seconds share: a subject's seconds, searched recipes, figures."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from motionloom.tables.index.index_build import build_index
from motionloom.tables.query_engine import QueryEngine
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.synthesis.synthesis import rig_of
from studies.captured_clips import mocap
from studies.memory_table import table_in_memory
from studies.report import Figure, write_report
from studies.tables.inbetween_methods import Bench, Made, Query
from studies.tables.natural_candidates import (
    GAPS,
    LENGTH,
    frames_of_subject,
    sister_clips,
    subject_plan,
)
from studies.tables.transitions_natural import over_takes

CLUSTERS = 24
WORDS = {
    "report": "random windows of takes not tuned on",
    "transitions": "windows of transition takes",
    "fresh": "other random windows, drawn after all choices",
}
"""Sets of seconds, in words."""
Answers = Callable[[Bench, QueryEngine, Query, list[int]], dict[str, Made]]
"""Results of every method for one second, with clips left out."""
Figures = Callable[[tuple[str, str], list[dict[str, Made]], np.ndarray], list[Figure]]
"""Figures of a subject's set of seconds, from the results and the takes they are of."""


class Plan:
    """The seconds of a subject, all methods on them, and a small table."""

    def __init__(self, folder: Path, subject: str) -> None:
        self._plan = subject_plan(subject)
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


def less_error(label: str, ours: str, other: str, less: np.ndarray, takes: np.ndarray) -> Figure:
    """By how much one method's errors are less than those of another, with bounds over takes."""
    low, high = over_takes(less, takes)
    return Figure(
        f"{label}: error of {ours} less that of {other}",
        float(less.mean()),
        "cm",
        lower_is_better=True,
        note=f"[{low:+.2f}, {high:+.2f}] over takes; nearer in {np.mean(less < 0):.0%}",
    )


def report_on(
    name: str, sets: Sequence[tuple[str, str]], answers: Answers, figures_of: Figures
) -> None:
    """Answer the seconds of every subject's set and write the report; needs the real clips."""
    parser = argparse.ArgumentParser(description=f"Missing seconds: {name}.")
    parser.add_argument("--windows", type=int, help="of each set; all by default")
    count = parser.parse_args().windows
    folder = mocap()
    if folder is None:
        print("No real clips: set MOTIONLOOM_MOCAP.")
        return
    figures: list[Figure] = []
    for subject in dict.fromkeys(subject for subject, _ in sets):
        plan = Plan(folder, subject)
        for key in (key for key in sets if key[0] == subject):
            results, takes = [], []
            for take, query, out in plan.queries(key[1], count):
                results.append(answers(plan.bench, plan.engine, query, out))
                takes.append(take)
            figures += figures_of(key, results, np.array(takes))
    about = {"windows": count or "all", "protocol": f"{GAPS}.json", "medoids": CLUSTERS}
    write_report(name if count is None else f"{name}_quick", figures, about=about)
