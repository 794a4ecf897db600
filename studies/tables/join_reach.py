"""Which of a thousand random pairs a table joins by default, by its own score and check.

    python -m studies.tables.join_reach TABLE.mlt [--pairs N] [--name NAME]
    python -m studies.tables.join_reach --audit [--pairs N]

A pair is joined where the transition passes its quality check and is called natural, or where the
motion graph (8 cm rms) has a way of at most a second. The score is of the blended frames alone:
clips that play before and after them do not count. Pairs are those of
``protocols/transitions_reach.json`` for a table of CMU 143, and random windows (seed 0) for others.
With ``--audit`` the tables are those of the audit (``studies/audit/audit_clips.py``): subjects 141
and 113, walks and runs of nine subjects, Bandai, and 38 clips of 20 subjects mixed.
Times are of one process, making and checking the motion included: the least of three, so that
another process in between does not count.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import motionloom as ml
from motionloom.tables import query_engine
from motionloom.tables.graph.motion_graph import MotionGraph
from studies.audit.audit_clips import COLLECTIONS, library
from studies.captured_clips import protocol
from studies.report import Figure, write_report

Pair = tuple[str, int, str, int]
"""Clip and frame of a source, and of a target."""
WAYS: dict[str, dict[str, Any]] = {
    "by default, up to 2 s": {},
    "exactly 1 s": {"longest_s": 1.0},
    "stored recipes of the table": {"rescore": 0},
}
AUDIT_WAYS = {name: WAYS[name] for name in ("by default, up to 2 s", "exactly 1 s")}
GRAPH_S = 1.0


def pairs_of(table: ml.TransitionTable, count: int) -> list[Pair]:
    """Sources and targets."""
    if table.frames.ids[0].startswith("143_"):
        drawn_once: list[Pair] = protocol("transitions_reach")["pairs"]
        return drawn_once[:count]
    rng = np.random.Generator(np.random.PCG64(0))
    drawn = rng.choice(table.frames.windows(table.length), (count, 2))
    drawn = drawn + np.array([0, table.length - 1])
    place = table.frames.place_of
    return [(*place(int(a)), *place(int(b))) for a, b in drawn]


def graph_joins(table: ml.TransitionTable, pairs: list[Pair]) -> np.ndarray:
    """Whether the motion graph has a quick way."""
    graph, row = MotionGraph.build(table.frames), table.frames.row_of
    ways = graph.paths([row(a, s) for a, s, _, _ in pairs], [row(b, t) for _, _, b, t in pairs])
    return np.array([way is not None and way.duration_s <= GRAPH_S for way in ways])


class CoreTime:
    """Seconds that queries spend in the C core, counted while it is entered."""

    KERNELS = ("_join", "_best", "_choose", "_judge")

    def __init__(self) -> None:
        self.seconds = 0.0
        self._kernels = {name: getattr(query_engine, name) for name in self.KERNELS}

    def __enter__(self) -> CoreTime:
        for name, kernel in self._kernels.items():
            setattr(query_engine, name, self._timed(kernel))
        return self

    def __exit__(self, *_: object) -> None:
        for name, kernel in self._kernels.items():
            setattr(query_engine, name, kernel)

    def _timed(self, kernel: Callable[..., None]) -> Callable[..., None]:
        def timed(*arguments: object) -> None:
            started = time.perf_counter()
            try:
                kernel(*arguments)
            finally:
                self.seconds += time.perf_counter() - started

        return timed


def asked(
    table: ml.TransitionTable, pairs: list[Pair], options: dict[str, Any]
) -> dict[str, np.ndarray]:
    """What the table answers to every pair."""
    rows = []
    with CoreTime() as core:
        for a, s, b, t in pairs:
            times = []
            for _ in range(3):
                core.seconds, started = 0.0, time.perf_counter()
                results = table.transition((a, s), (b, t), **options)
                times.append((time.perf_counter() - started, core.seconds))
            recipe = results.recipe
            rows.append(
                (
                    results.score.natural and results.verification.passed,
                    *min(times),
                    recipe.pinned,
                    recipe.n_ways,
                    sum(results.plays),
                )
            )
    names = ("natural", "seconds", "core", "pinned", "ways", "plays")
    return {name: np.array(part) for name, part in zip(names, zip(*rows, strict=True), strict=True)}


def table_figures(
    table: ml.TransitionTable, name: str, count: int, ways: dict[str, dict[str, Any]]
) -> list[Figure]:
    """Figures of one table."""
    for clip in range(table.frames.n_clips):
        table.query_engine.check.measure(clip)  # once, when a clip is first used
    pairs = pairs_of(table, count)
    quick = graph_joins(table, pairs)
    figures = []
    for way, keywords in ways.items():
        results = asked(table, pairs, keywords)
        natural, ms = results["natural"].astype(bool), 1e3 * results["seconds"]
        by_default = not keywords
        figures += [
            Figure(
                f"{name}, {way}: pairs that neither graph nor table joins",
                1000.0 * float(np.mean(~natural & ~quick)),
                "of 1000",
                lower_is_better=True,
                value_goal=57.0 if by_default and name == "143" else None,
                note=f"{len(pairs)} pairs; graph alone {1000 * np.mean(quick):.0f} of 1000",
            ),
            Figure(
                f"{name}, {way}: pairs that the table joins",
                100.0 * float(natural.mean()),
                "%",
                value_goal=80.0 if by_default else None,
                note=f"captured windows pinned {np.mean(results['pinned']):.0%}, blends of 2, 3, 4 "
                "windows "
                + ", ".join(
                    f"{np.mean(~results['pinned'] & (results['ways'] == n)):.0%}" for n in (2, 3, 4)
                )
                + f"; longer than the windows {np.mean(results['plays'] > 0):.0%}",
            ),
            Figure(
                f"{name}, {way}: time of a transition, median",
                float(np.median(ms)),
                "ms",
                lower_is_better=True,
                value_goal=1.0 if by_default else None,
                note=f"mean {ms.mean():.2f}, 90 % under {np.percentile(ms, 90):.2f}",
            ),
            Figure(
                f"{name}, {way}: time of a transition in the C core, median",
                1e3 * float(np.median(results["core"])),
                "ms",
                lower_is_better=True,
                value_goal=0.6 if by_default else None,
            ),
        ]
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", nargs="?")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--name", default="143")
    parser.add_argument("--audit", action="store_true", help="tables of the audit's collections")
    options = parser.parse_args()
    about = {"pairs": options.pairs}
    if options.audit:
        figures = []
        for name in COLLECTIONS:
            figures += table_figures(library(name).table, name, options.pairs, AUDIT_WAYS)
        write_report("transitions_join_reach_audit", figures, about=about)
        return 0
    if options.table is None:
        parser.error("name a table, or ask for --audit")
    table = ml.TransitionTable.open(options.table)
    figures = table_figures(table, options.name, options.pairs, WAYS)
    write_report(f"transitions_join_reach_{options.name}", figures, about=about)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
