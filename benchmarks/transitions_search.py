"""The search of all blends: how fast, how many find something good, what shortcuts lose.

    python benchmarks/transitions_search.py [--quick]

CMU subject 143, 42 takes at 60 Hz; the plan stands in ``protocols/transitions_search.json``. Scores
are between representatives, before any foot is cleaned. ``--quick`` leaves out the whole search.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence

import numpy as np

from motionloom.tables.collection.frames import Frames
from motionloom.tables.engines.engine import LocalEngine
from motionloom.tables.index.clusters import find_clusters, find_lookup
from motionloom.tables.score.columns import (
    COLUMNS,
    PAPER,
    Ranking,
    score_into,
    score_recipes,
    scratch_of,
    terms_record,
)
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.score.stance import plants_of
from motionloom.tables.score.terms import Terms, term_source, terms_of
from motionloom.tables.search.pair_search import NONE
from motionloom.tables.search.search import (
    SearchJob,
    Shortlist,
    search_chunk,
    search_pair,
)
from report import Figure, write_report
from studies.captured_clips import PROTOCOLS, frames_143, generator, mocap
from tests.oracles.blend_score import measure_blend

PLAN = PROTOCOLS / "transitions_search.json"
RANKINGS = {"paper's sum": PAPER, "naturalness": NATURAL}
PAPER_BELOW_IN = 6.0
RESCORED = 32
ROUND_OFF_IN = 1e-4


def fastest(work: Callable[[], object], rounds: int) -> float:
    """Least seconds of one call, after one that does not count."""
    work()
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def speed_figures(frames: Frames, terms: Terms, rows: np.ndarray, plan: dict) -> list[Figure]:
    """Blends a second: plain numpy, the kernel alone, and the search with its shared sums."""
    rng = generator(plan["seed"], 1)
    between = np.arange(plan["clusters"])
    plants = plants_of(frames)
    ids = rng.choice(between, (plan["random_recipes"], 4))
    few = ids[: plan["plain_recipes"]]

    def plain() -> None:
        for recipe in few:
            measure_blend(frames, plants, [int(rows[i]) for i in recipe], plan["length"])

    numpy_rate = len(few) / fastest(plain, 1)
    kernel_rate = len(ids) / fastest(lambda: score_recipes(terms, ids), 3)
    note = "4-way, one core; plain form measures fewer columns"
    figures = [
        Figure("kernel", kernel_rate, "blends/s", "plain numpy", numpy_rate, note=note),
    ]
    for name, ranking in RANKINGS.items():
        targets = between[: plan["timed_pairs"]]
        job = SearchJob(terms, between[7:8], targets, between, ranking=ranking)
        rate = job.n_recipes / fastest(lambda job=job: search_chunk(job, 0), 2)
        figures.append(
            Figure(
                f"search by {name}",
                rate,
                "blends/s",
                "plain numpy",
                numpy_rate,
                note="one core, all 2,551 of a pair, 32 kept",
            )
        )
    figures += run_time_figures(frames, terms, rows, ids)
    return figures


def run_time_figures(
    frames: Frames, terms: Terms, rows: np.ndarray, ids: np.ndarray
) -> list[Figure]:
    """What a transition at run time pays: terms of a real window, and blends judged again."""
    source = term_source(frames)
    judge, scratch = terms_record(terms), scratch_of(terms)
    batch = np.ascontiguousarray(ids[:RESCORED], dtype=np.int32)
    out = np.zeros((RESCORED, len(COLUMNS)), dtype=np.float32)
    again = fastest(lambda: score_into(judge, scratch, batch, out), 200)
    spare = terms_of(frames, rows[:1], terms.length)
    one = fastest(lambda: spare.put(source, 0, int(rows[5])), 200)
    return [
        Figure("terms of a window", one * 1e6, "us", lower_is_better=True, note="from Python"),
        Figure(f"{RESCORED} blends judged again", again * 1e3, "ms", lower_is_better=True),
    ]


def distribution_figures(
    terms: Terms, frames: Frames, plan: dict, job: SearchJob, costs: np.ndarray
) -> list[Figure]:
    """Sums of inches: captured seconds, random blends, the best of 2, 3 and 4 ways."""
    rng = generator(plan["seed"], 2)
    between = np.arange(plan["clusters"])
    drawn = rng.choice(frames.windows(plan["length"]), plan["captured_windows"], replace=False)
    captured = PAPER.cost(
        score_recipes(terms_of(frames, drawn, plan["length"]), np.arange(len(drawn))[:, None])
    )
    random_four = PAPER.cost(score_recipes(terms, rng.choice(between, (plan["random_recipes"], 4))))
    pairs = np.stack(np.divmod(np.arange(job.n_pairs), len(between)), axis=1)
    two = PAPER.cost(score_recipes(terms, pairs))
    three = best_of(terms, between, (2, 3))
    four = costs[:, 0]
    figures = []
    for name, values in (
        ("captured seconds", captured),
        ("random 4-way", random_four),
        ("2-way", two),
        ("best of 2 and 3 ways", three),
        ("best of 2 to 4 ways", four),
    ):
        part = 100.0 * float(np.mean(values < PAPER_BELOW_IN))
        spread = ", ".join(f"{q:.1f}" for q in np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]))
        note = f"p5 to p95: {spread} in"
        figures.append(Figure(f"{name}: sum below 6 in", part, "%", note=note))
    worse = int(np.count_nonzero((four > three + ROUND_OFF_IN) | (three > two + ROUND_OFF_IN)))
    title = "pairs where more ways score worse"
    figures.append(Figure(title, float(worse), "", lower_is_better=True, value_goal=0.0))
    return figures


def best_of(terms: Terms, between: np.ndarray, ways: tuple[int, ...]) -> np.ndarray:
    """Least sums of all pairs."""
    job = SearchJob(terms, between, between, between, ways, keep=1)
    return np.concatenate([search_chunk(job, k).costs[:, 0] for k in range(job.n_chunks)])


def refine_figures(
    frames: Frames, coarse: np.ndarray, fine: np.ndarray, plan: dict
) -> list[Figure]:
    """What is lost where finer representatives try only what was best between the coarse ones."""
    rng = generator(plan["seed"], 3)
    lookup = find_lookup(frames, coarse, fine, length=plan["length"])
    parents = lookup.coarse[fine].astype(np.int64)
    terms = terms_of(frames, np.concatenate([coarse, fine]), plan["length"])
    between = np.arange(len(coarse))
    drawn = rng.integers(0, len(fine), (plan["refined_pairs"], 2))
    figures = []
    for name, ranking in RANKINGS.items():
        lost: dict[int, list[float]] = {count: [] for count in plan["shortlists"]}
        for s, t in drawn:
            ends = len(coarse) + int(s), len(coarse) + int(t)
            full = search_pair(terms, *ends, between, keep=plan["keep"], ranking=ranking)
            for count in plan["shortlists"]:
                found = refined(terms, between, (s, t), ends, parents, count, ranking, plan["keep"])
                lost[count].append(float(found[0] - full.costs[0, 0]))
        for count, values in lost.items():
            kept = 100.0 * float(np.mean(np.array(values) < 1e-4))
            unit = "in" if ranking is PAPER else "of cost"
            tried = 1 + len(coarse) + count
            note = f"mean loss {np.mean(values):.3f} {unit}, p90 {np.quantile(values, 0.9):.3f}; "
            note += f"{tried} blends a pair instead of {1 + len(coarse) + len(coarse) ** 2:,}"
            title = f"finer pairs whose best a shortlist of {count} finds, {name}"
            figures.append(Figure(title, kept, "%", note=note))
    return figures


def refined(
    terms: Terms,
    between: np.ndarray,
    pair: Sequence[int],
    ends: tuple[int, int],
    parents: np.ndarray,
    count: int,
    ranking: Ranking,
    keep: int,
) -> np.ndarray:
    """Costs of the best blends of a fine pair, four ways only as between its coarse pair."""
    a, b = (int(parents[k]) for k in pair)
    best = search_pair(terms, a, b, between, ways=(4,), keep=count, ranking=ranking).recipes[0]
    pairs = np.full((1, 1, count, 2), NONE, dtype=np.uint16)
    pairs[0, 0, : len(best)] = best[:, 1:3]
    first = np.zeros(1, dtype=np.int64)
    short = Shortlist(pairs, first, first)
    job = SearchJob(terms, ends[:1], ends[1:], between, (2, 3, 4), keep, ranking, short)
    return search_chunk(job, 0).costs[0]


def whole_search(terms: Terms, plan: dict, ranking: Ranking) -> tuple[float, SearchJob, np.ndarray]:
    """Seconds of the search of all pairs on this machine's processors, and the least costs."""
    between = np.arange(plan["clusters"])
    job = SearchJob(terms, between, between, between, ranking=ranking)
    begun = time.perf_counter()
    found = sorted(LocalEngine().search(job), key=lambda chunk: chunk.chunk)
    seconds = time.perf_counter() - begun
    return seconds, job, np.concatenate([chunk.costs for chunk in found])


def run(*, quick: bool = False) -> tuple[list[Figure], dict[str, object]]:
    """All figures, and what to say about them."""
    folder = mocap()
    if folder is None:
        return [], {"search": "real clips not found (set MOTIONLOOM_MOCAP)"}
    plan = json.loads(PLAN.read_text())
    frames = frames_143(folder)
    length, stride = plan["length"], plan["stride"]
    coarse, fine = (
        find_clusters(frames, length=length, stride=stride, clusters=k, seed=plan["seed"]).medoids
        for k in (plan["clusters"], plan["lookup"])
    )
    terms = terms_of(frames, coarse, length)
    figures = speed_figures(frames, terms, coarse, plan)
    figures += refine_figures(frames, coarse, fine, plan)
    if not quick:
        for name, ranking in RANKINGS.items():
            seconds, job, costs = whole_search(terms, plan, ranking)
            figures.append(
                Figure(
                    f"whole search by {name}",
                    seconds,
                    "s",
                    lower_is_better=True,
                    value_goal=90.0,
                    note=f"{job.n_recipes:,} blends, workers started and joined",
                )
            )
            if ranking is PAPER:
                figures += distribution_figures(terms, frames, plan, job, costs)
    about: dict[str, object] = {
        "search: windows": f"{length} frames, {PLAN.name}",
        "search: scores": "between representatives, before feet are cleaned",
    }
    return figures, about


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out the whole search")
    options = parser.parse_args()
    figures, about = run(quick=options.quick)
    write_report("transitions_search", figures, about=about)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
