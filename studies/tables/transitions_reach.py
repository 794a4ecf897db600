"""Who can join two random frames within a second: motion graph, table, search; figure 4 of [I7].

    ./study transitions reach [--pairs N] [--family NAME] [--table FILE]
                                           [--pictures DIR] [--draw]

CMU subject 143, 42 takes at 60 Hz. The pairs stand in ``protocols/transitions_reach.json``: a
source frame with a second after it, a target frame with a second before it. The graph may take a
second (8 cm rms); a transition may cost 6 inches by the paper's sum of foot error and distance of
the zero moment point. Nothing here shows that a joined pair looks natural: the sum is what is
minimised. Times are of one process, without making the motion.
"""

from __future__ import annotations

import argparse
import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.drawing.canvas import save_canvas
from motionloom.tables.collection.frames import Frames, frames_of
from motionloom.tables.evaluation.evaluation import Quadrants, quadrants_of
from motionloom.tables.graph.motion_graph import MotionGraph
from studies.captured_clips import PROTOCOLS, bounds, interval_text, mocap
from studies.pictures.evaluation_pictures import draw_quadrants, draw_reach
from studies.report import Figure, write_report
from studies.report import table as report_table
from studies.tables.reach_ways import LENGTH, LIMIT_IN, Reached, reached, reached_by_table

PLAN = PROTOCOLS / "transitions_reach.json"
THRESHOLDS_CM = (3.0, 5.0, 8.0, 12.0)
THRESHOLD_CM = 8.0


@lru_cache(maxsize=1)
def frames_143(folder: Path) -> Frames:
    """All takes of subject 143 at the rate they were captured at."""
    files = sorted((folder / "cmu_bvh").glob("143_*.bvh"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return frames_of([ml.load(f, fps=60.0).replace(name=f.stem) for f in files])


def draw_pairs(frames: Frames, count: int, seed: int) -> list[list[object]]:
    """Sources and targets, each frame as likely as any other."""
    rng = np.random.Generator(np.random.PCG64(seed))
    windows = frames.windows(LENGTH)
    pairs = rng.choice(windows, (count, 2)) + np.array([0, LENGTH - 1])
    return [[*frames.place_of(int(s)), *frames.place_of(int(t))] for s, t in pairs]


def graph_figures(frames: Frames, pairs: np.ndarray) -> tuple[list[Figure], np.ndarray]:
    """The graph at several thresholds, and the seconds of its ways at the one that is used."""
    figures, at = [], np.zeros(len(pairs))
    for threshold in THRESHOLDS_CM:
        started = time.perf_counter()
        graph = MotionGraph.build(frames, threshold_cm=threshold)
        built = time.perf_counter() - started
        started = time.perf_counter()
        paths = graph.paths(pairs[:, 0], pairs[:, 1])
        each = (time.perf_counter() - started) / len(pairs)
        seconds = np.array([np.inf if p is None else p.duration_s for p in paths])
        quick = float(np.mean(seconds <= 1.0))
        note = (
            f"{len(graph.transitions):,} transitions, {100 * graph.connected_share:.0f} % in the "
            f"largest part, {100 * np.isinf(seconds).mean():.1f} % without a way, "
            f"{100 * np.mean(seconds <= 2.0):.0f} % within 2 s, median way "
            f"{np.median(seconds):.2f} s; built in {built:.1f} s, {1e3 * each:.1f} ms a query"
        )
        figures.append(
            Figure(f"graph at {threshold:g} cm: pairs within 1 s", 100 * quick, "%", note=note)
        )
        if threshold == THRESHOLD_CM:
            at = seconds
    return figures, at


def figure_of(name: str, mine: Reached, graph_s: np.ndarray, takes: np.ndarray) -> Figure:
    quadrants = quadrants_of(graph_s, mine.scores, limit=LIMIT_IN)
    alone = ~quadrants.by_graph & ~quadrants.by_table
    share = [alone[takes == take] for take in np.unique(takes)]
    drawn = bounds(
        np.arange(len(share)), lambda k: 1000 * np.concatenate([share[i] for i in k]).mean()
    )
    own = f"; natural by its own score: {100 * np.mean(mine.natural):.0f} %" if mine.natural else ""
    goal = (
        57.0 if "32" in name or "4 ways" in name or name == "a table by paper, re-scored" else None
    )
    return Figure(
        f"pairs that neither graph nor {name} joins",
        1000.0 * quadrants.neither / len(graph_s),
        "of 1000",
        "paper",
        57.0,
        lower_is_better=True,
        value_goal=goal,
        note=f"{interval_text(drawn)} over source takes; "
        f"both {quadrants.both}, table alone {quadrants.table_only}, "
        f"graph alone {quadrants.graph_only}; under {LIMIT_IN:g} in: "
        f"{100 * quadrants.by_table.mean():.1f} %; {1e3 * np.median(mine.seconds):.2f} ms a query, "
        f"mean {1e3 * np.mean(mine.seconds):.1f}{own}",
    )


def run(
    *,
    count: int | None = None,
    pictures: Path | None = None,
    family: str = "bernstein",
    table: ml.TransitionTable | None = None,
) -> tuple[list[Figure], dict[str, object]]:
    """All figures, and what to say about them; ``table``: one of the same takes, measured too."""
    folder = mocap()
    if folder is None:
        return [], {"reach": "real clips not found (set MOTIONLOOM_MOCAP)"}
    plan = json.loads(PLAN.read_text())
    frames = frames_143(folder)
    asked = plan["pairs"][:count]
    pairs = np.array([[frames.row_of(a, s), frames.row_of(b, t)] for a, s, b, t in asked])
    takes = np.array([frames.clip_at(int(row)) for row in pairs[:, 0]])
    figures, graph_s = graph_figures(frames, pairs)
    by_way = reached(frames, pairs, family=family)
    if table is not None:
        by_way |= reached_by_table(table, asked)
    figures += [figure_of(name, mine, graph_s, takes) for name, mine in by_way.items()]
    two, three, four = (
        np.array(by_way[name].scores)
        for name in ("2-way", "search, up to 3 ways", "search, up to 4 ways")
    )
    figures.append(
        Figure(
            "pairs that more ways score worse",
            float(np.sum((three > two) | (four > three))),
            f"of {len(pairs)}",
            lower_is_better=True,
            value_goal=0.0,
            note=f"median cost {np.median(two):.2f}, {np.median(three):.2f}, "
            f"{np.median(four):.2f} in with up to 2, 3, 4 ways",
        )
    )
    if pictures is not None:
        draw(pictures, by_way, graph_s)
    about: dict[str, object] = {
        "reach: labels": "none; the score that is minimised decides what counts as joined",
        "reach: pairs": f"{len(pairs)} of {PLAN.name}, seed {plan['seed']}",
        "reach: weights": family,
    }
    return figures, about


def draw(folder: Path, by_way: dict[str, Reached], graph_s: np.ndarray) -> None:
    """Figure 4 for two ways of finding recipes, and bars of all."""
    folder.mkdir(parents=True, exist_ok=True)
    remark = (
        "CMU subject 143, 42 takes; graph at 8 cm rms; cost: the paper's sum of foot error and "
        "zero moment point. No labels: what is minimised decides what counts as joined."
    )
    quadrants: dict[str, Quadrants] = {
        name: quadrants_of(graph_s, mine.scores, limit=LIMIT_IN) for name, mine in by_way.items()
    }
    for name in ("1 cached", "32 re-scored", "finer, 32 re-scored", "search, up to 4 ways"):
        canvas = draw_quadrants(
            quadrants[name], remark=remark, title=f"Motion graph and table: {name}"
        )
        file = "reach_" + name.replace(",", "").replace(" ", "_").replace("-", "_")
        save_canvas(canvas, folder / f"{file}.png", "png")
    bars = draw_reach({name: q.counts for name, q in quadrants.items()}, remark=remark)
    save_canvas(bars, folder / "reach_ways.png", "png")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=None, help="only the first so many")
    parser.add_argument("--pictures", type=Path, default=None, help="folder to draw into")
    parser.add_argument("--family", default="bernstein", help="weights of the blends")
    parser.add_argument("--table", type=Path, default=None, help="a table of the takes to ask too")
    parser.add_argument("--draw", action="store_true", help="draw the pairs again and stop")
    options = parser.parse_args()
    folder = mocap()
    if options.draw and folder is not None:
        pairs = draw_pairs(frames_143(folder), 1000, 0)
        lines = ",\n  ".join(json.dumps(pair) for pair in pairs)
        about = "Source clip and frame, target clip and frame, of CMU 143 as loaded at 60 Hz."
        PLAN.write_text(
            f'{{\n "about": {json.dumps(about)},\n "seed": 0,\n "pairs": [\n  {lines}\n ]\n}}\n'
        )
        return 0
    table = None if options.table is None else ml.TransitionTable.open(options.table)
    figures, about = run(
        count=options.pairs, pictures=options.pictures, family=options.family, table=table
    )
    if options.pairs is None:
        write_report("transitions_reach", figures, about=about)
    else:
        print(report_table(figures))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
