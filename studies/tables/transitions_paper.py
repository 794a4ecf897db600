"""The papers' own table (``method="paper"``) and their experiments, with their numbers.

    ./study transitions paper [--home DIR] [--pairs N] [--pictures DIR]

CMU subject 143, 42 takes at 60 Hz, 50 clusters, transitions of one second, as in [I7]. Tables of
both editions and one whose weights are searched are built, or found in ``--home``. Sizes, lengths
of the cached transitions, times of 200 random queries to frames and to annotations, and figure 4:
the 1,000 pairs of ``protocols/transitions_reach.json`` joined by the table and by a motion graph.
The collection is not theirs, nobody labelled ours, and the graph's threshold is not in the papers.
"""

from __future__ import annotations

import argparse
import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import shutil
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import motionloom as ml
from motionloom.drawing.canvas import save_canvas
from motionloom.drawing.transition_pictures import draw_ways, way_of_table
from motionloom.tables.collection.labels import Label
from motionloom.tables.evaluation.evaluation import PAPER_QUADRANTS, quadrants_of
from motionloom.tables.evaluation.trials import random_places
from motionloom.tables.graph.motion_graph import MotionGraph
from motionloom.tables.paper.time_alignment import RecipeTimes
from motionloom.tables.score.natural import naturalness
from motionloom.tables.score.recipe import FAMILIES
from studies.captured_clips import PROTOCOLS, bounds, interval_text, mocap
from studies.pictures.evaluation_pictures import draw_quadrants
from studies.report import Figure, write_report
from studies.report import table as report_table

PLAN = PROTOCOLS / "transitions_reach.json"
CLUSTERS, LIMIT_IN, THRESHOLD_CM, QUERIES = 50, 6.0, 8.0, 200
PAPER_MS, PAPER_LABEL_MS = 12.0, 14.0
SHOWCASES = {
    "walk to run": (("143_32", 80), ("143_42", 205)),
    "run to stand": (("143_42", 170), ("143_02", 190)),
    "punch to sneak": (("143_23", 300), ("143_41", 420)),
}
LABELLED = 10
"""Clips whose second half is an annotation."""
TABLES: dict[str, dict[str, Any]] = {
    "2007": {},
    "2006": {"edition": 2006},
    "2007, searched weights": {"weights": "search"},
}


def collection_143(folder: Path, home: Path) -> ml.Collection:
    """All takes of subject 143, some of them annotated."""
    clips = home / "clips"
    if not clips.is_dir():
        clips.mkdir(parents=True)
        for file in sorted((folder / "cmu_bvh").glob("143_*.bvh")):
            shutil.copy(file, clips / file.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lib = ml.Collection.ingest(
            clips, out=home / "clips.mlc", fps=60.0, source_fps={"143_*": 60.0}
        )
    if not lib.labels:
        sizes = np.diff(lib.frames.starts).tolist()
        longest = sorted(zip(sizes, lib.ids, strict=True), reverse=True)[:LABELLED]
        lib.add_labels([Label(name, f"goal {name}", n // 2, n - 1) for n, name in longest])
    return lib


def built(lib: ml.Collection, home: Path, name: str) -> tuple[ml.TransitionTable, float]:
    """The table of a name, and the CPU seconds of its build; nan where they are not known."""
    file = home / f"paper_{name.replace(', searched weights', '_search')}.mlt"
    file = file.with_name(file.name.replace("paper_2007_search", "paper_search"))
    times = home / "build_s.json"
    seconds = json.loads(times.read_text()) if times.is_file() else {}
    if file.is_file():
        return ml.TransitionTable.open(file, collection=lib), seconds.get(name, float("nan"))
    started = time.process_time()
    table = ml.build_table(
        lib, out=file, clusters=CLUSTERS, method="paper", progress=False, **TABLES[name]
    )
    seconds[name] = time.process_time() - started
    times.write_text(json.dumps(seconds))
    return table, seconds[name]


def size_figures(name: str, table: ml.TransitionTable, cpu_s: float) -> list[Figure]:
    """Bytes of the file and of an entry, and lengths of the cached transitions."""
    lengths = RecipeTimes.of_file(table.arrays).lengths().ravel()
    ways = table.info()["best_by_ways"]
    sections = table.info()["sections"]
    entries = sum(n for key, n in sections.items() if key in ("between", "costs"))
    entries += sum(n for key, n in sections.items() if key.startswith("paper."))
    spent = "" if np.isnan(cpu_s) else f"; built in {cpu_s:.0f} s of one processor"
    return [
        Figure(
            f"{name}: file of {CLUSTERS} clusters", table.info()["bytes"] / 1e6, "MB", "paper",
            5.0, lower_is_better=True, value_goal=5.0,
            note=f"{entries / CLUSTERS**2:.0f} bytes an entry (paper: at most 1,900), "
            f"8 bytes a frame for the lookup (paper: 200){spent}",
        ),
        Figure(
            f"{name}: cached transitions under 80 frames", 100.0 * float(np.mean(lengths < 80)),
            "%", "paper", 99.0,
            note=f"longest {lengths.max()} (most allowed 120); frame to frame "
            f"{100.0 * np.mean(lengths == table.length):.0f} %; best recipes of 2, 3, 4 windows: "
            f"{ways['2']}, {ways['3']}, {ways['4']} of {CLUSTERS**2}",
        ),
    ]  # fmt: skip


def time_figures(name: str, table: ml.TransitionTable) -> list[Figure]:
    """Milliseconds of a processor for random queries, to frames and to annotations."""
    places = random_places(table, QUERIES, seed=5)
    labels = sorted({label.label for label in table.collection.labels})
    table.transition(*places[0])
    spent, passed = [], 0
    for source, target in places:
        started = time.process_time()
        joined = table.transition(source, target)
        spent.append(time.process_time() - started)
        passed += joined.verification.passed
    to_labels = []
    for k, (source, _) in enumerate(places):
        started = time.process_time()
        table.transition(source, label=labels[k % len(labels)])
        to_labels.append(time.process_time() - started)
    return [
        Figure(
            f"{name}: a transition to a frame", 1e3 * float(np.mean(spent)), "ms", "paper",
            PAPER_MS, lower_is_better=True,
            note=f"mean of {QUERIES}, of one processor, feet held and checked; "
            f"median {1e3 * np.median(spent):.1f}; pass the quality check: {passed} of {QUERIES}",
        ),
        Figure(
            f"{name}: a transition to an annotation", 1e3 * float(np.mean(to_labels)), "ms",
            "paper", PAPER_LABEL_MS, lower_is_better=True,
            note=f"mean of {QUERIES}, of one processor, over {len(labels)} annotations",
        ),
    ]  # fmt: skip


def pair_costs(table: ml.TransitionTable, asked: list[list[Any]]) -> tuple[np.ndarray, np.ndarray]:
    """The papers' sum and our naturalness of the cached recipes of pairs of frames."""
    engine = table.paper_engine
    sums, natural = [], []
    for a, s, b, t in asked:
        source, target = table.frames.row_of(a, s), table.frames.row_of(b, t) - table.length + 1
        recipe = engine.recipe(source, target)
        columns = engine.columns(recipe)
        sums.append(float(engine.ranking.cost(columns[None])[0]))
        natural.append(float(naturalness(columns, engine.engine.reference(recipe.rows))[0]))
    return np.array(sums), np.array(natural)


def reach_figure(
    name: str, costs: tuple[np.ndarray, np.ndarray], graph_s: np.ndarray, takes: np.ndarray
) -> Figure:
    """Figure 4: pairs by who joins them."""
    sums, natural = costs
    quadrants = quadrants_of(graph_s, sums, limit=LIMIT_IN)
    alone = ~quadrants.by_graph & ~quadrants.by_table
    share = [alone[takes == take] for take in np.unique(takes)]
    drawn = bounds(
        np.arange(len(share)), lambda k: 1000 * np.concatenate([share[i] for i in k]).mean()
    )
    return Figure(
        f"{name}: pairs that neither graph nor table joins", 1000.0 * quadrants.neither / len(sums),
        "of 1000", "paper", float(PAPER_QUADRANTS[3]), lower_is_better=True,
        note=f"{interval_text(drawn)} over source takes; both {quadrants.both}, table alone "
        f"{quadrants.table_only}, graph alone {quadrants.graph_only} (paper: "
        f"{', '.join(map(str, PAPER_QUADRANTS[:3]))}); median sum {np.median(sums):.1f} in; "
        f"naturalness over 0.5: {100 * np.mean(natural >= 0.5):.0f} %",
    )  # fmt: skip


def family_figure(
    plain: tuple[np.ndarray, np.ndarray],
    searched: tuple[np.ndarray, np.ndarray],
    tables: tuple[ml.TransitionTable, ml.TransitionTable],
    takes: np.ndarray,
) -> Figure:
    """What searching weight families gains over Bezier weights alone, with the real windows."""
    gain, more = plain[0] - searched[0], searched[1] - plain[1]
    share = [gain[takes == take] for take in np.unique(takes)]
    drawn = bounds(
        np.arange(len(share)), lambda k: float(np.median(np.concatenate([share[i] for i in k])))
    )
    families = RecipeTimes.of_file(tables[1].arrays).families
    used = ", ".join(
        f"{family} {100 * np.mean(families == number):.0f} %"
        for number, family in enumerate(FAMILIES)
    )
    between = [float(np.median(np.asarray(each.costs[..., 0], np.float64))) for each in tables]
    return Figure(
        "searched weights: median gain in the papers' sum over Bezier weights",
        float(np.median(gain)), "in",
        note=f"{interval_text(drawn)} over source takes; better for {100 * np.mean(gain > 0):.0f} "
        f"% of pairs, worse for {100 * np.mean(gain < 0):.0f} %; between representatives "
        f"{between[0]:.2f} to {between[1]:.2f} in; mean change of naturalness {more.mean():+.3f}; "
        f"cached recipes: {used}",
    )  # fmt: skip


def run(
    home: Path, *, count: int | None = None, pictures: Path | None = None
) -> tuple[list[Figure], dict[str, object]]:
    """All figures, and what to say about them."""
    folder = mocap()
    if folder is None:
        return [], {"paper": "real clips not found (set MOTIONLOOM_MOCAP)"}
    plan = json.loads(PLAN.read_text())
    asked = plan["pairs"][:count]
    lib = collection_143(folder, home)
    frames = lib.frames
    pairs = np.array([[frames.row_of(a, s), frames.row_of(b, t)] for a, s, b, t in asked])
    takes = np.array([frames.clip_at(int(row)) for row in pairs[:, 0]])
    graph = MotionGraph.build(frames, threshold_cm=THRESHOLD_CM)
    paths = graph.paths(pairs[:, 0].tolist(), pairs[:, 1].tolist())
    graph_s = np.array([np.inf if path is None else path.duration_s for path in paths])
    figures: list[Figure] = []
    tables, costs = {}, {}
    for name in TABLES:
        tables[name], cpu_s = built(lib, home, name)
        figures += size_figures(name, tables[name], cpu_s)
        figures += time_figures(name, tables[name])
        costs[name] = pair_costs(tables[name], asked)
        figures.append(reach_figure(name, costs[name], graph_s, takes))
    if pictures is not None:
        draw(pictures, graph_s, costs["2007"][0])
        draw_strips(pictures, {year: tables[year] for year in ("2007", "2006")})
    plain, searched = "2007", "2007, searched weights"
    both = tables[plain], tables[searched]
    figures.append(family_figure(costs[plain], costs[searched], both, takes))
    about: dict[str, object] = {
        "paper: pairs": f"{len(asked)} of {PLAN.name}, seed {plan['seed']}",
        "paper: graph": f"{THRESHOLD_CM:g} cm rms; the papers name no threshold",
        "paper: labels": "none; the score that is minimised decides what counts as joined",
    }
    return figures, about


def draw(folder: Path, graph_s: np.ndarray, sums: np.ndarray) -> None:
    """Figure 4 with the papers' own table."""
    folder.mkdir(parents=True, exist_ok=True)
    remark = (
        "CMU subject 143, 42 takes; graph at 8 cm rms; one cached, time-aligned recipe a pair of "
        "clusters. No labels: the sum that is minimised decides what counts as joined."
    )
    quadrants = quadrants_of(graph_s, sums, limit=LIMIT_IN)
    canvas = draw_quadrants(
        quadrants, remark=remark, title="Motion graph and the papers' own table"
    )
    save_canvas(canvas, folder / "tables_paper_reach.png", "png")


def draw_strips(folder: Path, tables: dict[str, ml.TransitionTable]) -> None:
    """The papers' showcases by both editions."""
    rows = []
    for name, (source, target) in SHOWCASES.items():
        for year, table in tables.items():
            joined = table.transition(source, target, lead_s=0.4, follow_s=0.4)
            rows.append(way_of_table(joined, f"{name}, {year}: {joined.score.total:.1f} in"))
    canvas = draw_ways(rows, size=(1200, 170), title="The papers' own table, CMU 143")
    save_canvas(canvas, folder / "tables_paper_strips.png", "png")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=None, help="only the first so many")
    parser.add_argument("--home", type=Path, default=None, help="folder that keeps the tables")
    parser.add_argument("--pictures", type=Path, default=None, help="folder to draw into")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        home = Path(place) if options.home is None else options.home
        figures, about = run(home, count=options.pairs, pictures=options.pictures)
    if options.pairs is None:
        write_report("transitions_paper", figures, about=about)
    else:
        print(report_table(figures))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
