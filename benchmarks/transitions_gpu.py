"""The search on a GPU: how fast, how near the card's limits, and whether the table is the CPU's.

    python benchmarks/transitions_gpu.py --export FOLDER
    python benchmarks/gpu_search.py FOLDER/terms_50.npz FOLDER/terms_200.npz --out FOLDER
    python benchmarks/transitions_gpu.py --found FOLDER

The first writes terms of representatives of CMU subject 143 and what the CPU's search finds between
the fewer of them; the second runs where the GPU is; the third judges its
candidates again on the CPU, compares, and prints the figures.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from motionloom.tables.engines import gpu as gpu_rescore
from motionloom.tables.engines.engine import LocalEngine
from motionloom.tables.engines.gpu import plain_terms, query_of, rescore_chunk
from motionloom.tables.engines.gpu_module import PlainTerms
from motionloom.tables.index.clusters import find_clusters
from motionloom.tables.score.columns import PAPER, Ranking, score_recipes
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.score.terms import TermArrays, Terms, terms_of
from motionloom.tables.search.search import SearchJob
from report import Figure, write_report
from studies.captured_clips import frames_143, generator, mocap
from tests.oracles.terms_file import load_terms, save_terms

RANKINGS = {"paper": PAPER, "natural": NATURAL}
CLUSTERS = {50: "spectral", 200: "means"}
"""Numbers of representatives, and how a table of these chooses them."""
SMALL = 50
LENGTH, STRIDE, KEEP = 60, 5, 32
SCORED = 4_000
SAMPLED = 24
"""Pairs of the larger search that the CPU searches too."""
GOAL_S = {50: 1.0, 200: 300.0}
GOAL_EQUAL = 99.9
GOAL_IN = 0.001


def job_of(terms: Terms, ranking: Ranking) -> SearchJob:
    every = np.arange(terms.n_windows)
    return SearchJob(terms, every, every, every, keep=KEEP, ranking=ranking)


def export(folder: Path) -> None:
    """Write terms, measured blends, and the CPU's best between the fewer representatives."""
    place = mocap()
    if place is None:
        raise SystemExit("real clips not found (set MOTIONLOOM_MOCAP)")
    folder.mkdir(parents=True, exist_ok=True)
    frames = frames_143(place)
    for many, method in CLUSTERS.items():
        settings = {"length": LENGTH, "stride": STRIDE, "clusters": many, "seed": 0}
        medoids = find_clusters(frames, method=method, **settings).medoids
        terms = terms_of(frames, medoids, LENGTH, family="eased")
        ids = generator(0, many).integers(0, many, (SCORED, 4)).astype(np.int32)
        for n in (1, 2, 3):
            ids[: SCORED // (4 * n), n:] = -1
        more = {"recipes": ids, "columns": score_recipes(terms, ids)}
        for name, ranking in RANKINGS.items():
            more |= {f"{name}.linear": ranking.linear, f"{name}.log": ranking.log}
            if many == SMALL:
                found = sorted(LocalEngine().search(job_of(terms, ranking)), key=lambda f: f.chunk)
                more[f"{name}.best"] = np.concatenate([f.recipes for f in found])
                more[f"{name}.costs"] = np.concatenate([f.costs for f in found])
        save_terms(folder / f"terms_{many}.npz", plain_terms(terms), **more)


def terms_from(plain: PlainTerms) -> Terms:
    """Terms as the CPU's kernel wants them."""
    taps = np.pad(plain.taps, ((0, 0), (0, -plain.taps.shape[1] % 4)))
    return Terms(
        TermArrays(*plain[: len(TermArrays._fields)]), plain.length, plain.fps, plain.pad, taps,
        plain.weights, plain.sole, plain.low, plain.masses,
    )  # fmt: skip


def small_figures(folder: Path, name: str) -> list[Figure]:
    """The whole table of the fewer representatives, judged again, against the CPU's."""
    plain, more = load_terms(folder / f"terms_{SMALL}.npz")
    job = job_of(terms_from(plain), RANKINGS[name])
    found = np.load(folder / f"best_terms_{SMALL}_{name}.npz")
    costs, places = found["costs"], found["places"]
    query = query_of(job)
    begun = time.process_time()
    chunks = []
    for chunk in range(job.n_chunks):
        some = slice(job.pairs(chunk).start, job.pairs(chunk).stop)
        chunks.append(rescore_chunk(job, query, chunk, costs[some], places[some]))
    spent = time.process_time() - begun
    recipes = np.concatenate([chunk.recipes for chunk in chunks])
    mine = np.concatenate([chunk.costs for chunk in chunks])
    equal = 100.0 * float((recipes == more[f"{name}.best"]).all(axis=-1).mean())
    apart = float(np.abs(mine - more[f"{name}.costs"]).max())
    thin = int((costs[:, -1] <= costs[:, KEEP - 1] + gpu_rescore.SLACK).sum())
    unit = "in" if name == "paper" else "of cost"
    note = f"of {recipes[..., 0].size:,}; {thin} of {job.n_pairs:,} pairs searched by the CPU"
    title = f"{SMALL} clusters, {name}"
    return [
        Figure(f"{title}: entries as the CPU's", equal, "%", value_goal=GOAL_EQUAL, note=note),
        Figure(
            f"{title}: largest difference of scores", apart, unit, lower_is_better=True,
            value_goal=GOAL_IN,
        ),
        Figure(f"{title}: judged again", spent, "s", lower_is_better=True, note="one CPU core"),
    ]  # fmt: skip


def large_figures(folder: Path, many: int, name: str) -> list[Figure]:
    """Some pairs of the larger search against the CPU's search of them."""
    plain, _ = load_terms(folder / f"terms_{many}.npz")
    terms = terms_from(plain)
    found = np.load(folder / f"best_terms_{many}_{name}.npz")
    drawn = generator(1, many).choice(len(found["pairs"]), SAMPLED, replace=False)
    every = np.arange(many)
    same, apart = [], 0.0
    for k in drawn:
        a, b = divmod(int(found["pairs"][k]), many)
        ends = every[a : a + 1], every[b : b + 1]
        job = SearchJob(terms, *ends, every, keep=KEEP, ranking=RANKINGS[name])
        (expected,) = LocalEngine(1).search(job)
        some = slice(k, k + 1)
        got = rescore_chunk(job, query_of(job), 0, found["costs"][some], found["places"][some])
        same.append((got.recipes == expected.recipes).all(axis=-1))
        apart = max(apart, float(np.abs(got.costs - expected.costs).max()))
    title = f"{many} clusters, {name}: entries as the CPU's"
    note = f"{SAMPLED} pairs drawn, {SAMPLED * KEEP} entries; scores within {apart:.1g}"
    equal = 100.0 * float(np.mean(same))
    return [Figure(title, equal, "%", value_goal=GOAL_EQUAL, note=note)]


def speed_figures(found: dict) -> list[Figure]:
    """What the script measured on the card."""
    figures = []
    for many in CLUSTERS:
        mine = found[f"terms_{many}"]
        for name in RANKINGS:
            run = mine[name]
            note = f"{run['blends']:,} blends, {run['TFLOP_s']} TFLOP/s, "
            note += f"{run['share of single precision']} of single precision, "
            note += f"{run['peak MB']:,} MB at most"
            title = f"{many} clusters, {name}: search"
            seconds = run["seconds"]
            figures.append(
                Figure(
                    title, seconds, "s", lower_is_better=True, value_goal=GOAL_S[many], note=note
                )
            )
    columns, run = found[f"terms_{SMALL}"]["columns"], found[f"terms_{SMALL}"]["paper"]
    rate, plain = float(run["blends_s"]), columns["torch_blends_s"]
    figures.append(Figure("fused kernel", rate, "blends/s", "plain PyTorch", plain))
    apart = [
        found[f"terms_{many}"]["columns"]["fused - torch, max of each column"] for many in CLUSTERS
    ]
    worst = max(columns[c] for columns in apart for c in (0, 1, 8, 9, 10))
    title = "fused and PyTorch apart, columns in inches"
    figures.append(Figure(title, worst, "in", lower_is_better=True, note=f"{SCORED:,} blends each"))
    return figures


def run(folder: Path) -> tuple[list[Figure], dict[str, object]]:
    """All figures, and what to say about them."""
    found = json.loads((folder / "gpu_search.json").read_text())
    figures = speed_figures(found)
    for name in RANKINGS:
        figures += small_figures(folder, name)
        for many in CLUSTERS:
            if many != SMALL:
                figures += large_figures(folder, many, name)
    about: dict[str, object] = {
        "gpu": found["device"],
        "gpu: time": "whole search and choice of the best, after a first one; figures absolute",
    }
    return figures, about


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--export", type=Path, help="write terms into this folder")
    parser.add_argument("--found", type=Path, help="where terms and what a GPU found are")
    options = parser.parse_args()
    if options.export is not None:
        export(options.export)
    if options.found is not None:
        figures, about = run(options.found)
        write_report("transitions_gpu", figures, about=about)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
