"""What larger work takes, from constants measured by the other parts of ``./bench scale``.

    python benchmarks/scale_model.py [--write]

The search goes with the number of clusters K, everything else with the hours of motion. Every
formula stands in one function here, every constant comes from ``results/scale_cluster.json``,
``scale_collection.json`` and ``transitions_gpu.json``; what has not been measured is left out. The
last table holds predictions against measurements. ``--write`` puts the tables into
``studies/reports/scale.md``.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from report import RESULTS

PAGE = RESULTS.parents[1] / "studies" / "reports" / "scale.md"
BEGIN, END = "<!-- tables of benchmarks/scale_model.py -->", "<!-- end of tables -->"
HOURS = (10, 100, 1000)
CLUSTERS = (50, 100, 200, 500, 1000)
WORKERS = (1, 16, 256)
NETWORK = 1.25e8
"""Bytes a second between machines: a gigabit."""
PROCESSORS = 16
"""Next to a GPU."""
Row = Sequence[str]


@dataclass(frozen=True)
class Search:
    """Constants of the search."""

    pair_s: dict[int, float]
    """Seconds of one processor for a pair, by clusters."""
    refined_pair_s: float
    """The same for a pair of finer windows, four-way blends from a shortlist."""
    job_bytes: dict[int, float]
    pair_bytes: float
    chunk_pairs: int
    empty_task_s: float
    """What the scheduler takes for a task, whatever it does."""
    worker_mb: float

    @classmethod
    def of(cls, constants_of: dict[str, Any]) -> Search:
        return cls(
            {int(k): v for k, v in constants_of["pair_s"].items()},
            constants_of["refined_pair_s"],
            {int(k): v for k, v in constants_of["job_bytes"].items()},
            constants_of["pair_bytes"],
            constants_of["chunk_pairs"],
            constants_of["empty_task_s"],
            constants_of["worker_mb"],
        )

    def pair_seconds(self, clusters: int, *, known: Sequence[int] | None = None) -> float:
        """Seconds of a pair: a power of K between two measured sizes, and on beyond the last."""
        return power_law({k: self.pair_s[k] for k in known or self.pair_s}, clusters)

    def cpu_seconds(self, clusters: int) -> float:
        """Seconds of one processor for all pairs."""
        return clusters**2 * self.pair_seconds(clusters)

    def refine_seconds(self, lookup: int) -> float:
        """Seconds of one processor for all pairs of finer windows."""
        return lookup**2 * self.refined_pair_s

    def sent_bytes(self, clusters: int, workers: int) -> float:
        """The job to the scheduler and to every worker, and what was found back over both."""
        job = power_law(self.job_bytes, clusters)
        return job * (1 + workers) + 2 * clusters**2 * self.pair_bytes

    def wall_seconds(self, clusters: int, workers: int) -> float:
        """Whole chunks over workers, no faster than a scheduler hands them out."""
        chunks = math.ceil(clusters**2 / self.chunk_pairs)
        each = self.chunk_pairs * self.pair_seconds(clusters)
        searching = max(math.ceil(chunks / workers) * each, chunks * self.empty_task_s)
        return self.first_seconds(clusters, workers) + searching

    def first_seconds(self, clusters: int, workers: int) -> float:
        """Until the job is with every worker: those who have it pass it on."""
        return power_law(self.job_bytes, clusters) * (1 + math.log2(workers + 1)) / NETWORK

    def found_bytes(self, clusters: int) -> float:
        """Held by who builds, until the table is written."""
        return clusters**2 * self.pair_bytes


def power_law(known: dict[int, float], at: int) -> float:
    """A value at ``at``, straight in logarithms between, and beyond, the two nearest known."""
    sizes = sorted(known)
    right = min(max(int(np.searchsorted(sizes, at)), 1), len(sizes) - 1)
    a, b = sizes[right - 1], sizes[right]
    slope = math.log(known[b] / known[a]) / math.log(b / a)
    return known[b] * (at / b) ** slope


def blends(clusters: int) -> int:
    """Recipes of two, three and four windows between all pairs."""
    return clusters**2 * (1 + clusters + clusters**2)


@dataclass(frozen=True)
class Gpu:
    """Constants of a search on one GPU."""

    pair_s: dict[int, float]
    """Seconds of the card for a pair, by clusters."""
    rescored_pair_s: float
    """Seconds of one processor to judge a pair's best again."""

    @classmethod
    def of(cls, figures: list[dict[str, Any]]) -> Gpu:
        took = {figure["name"]: figure["value"] for figure in figures}
        return cls(
            {k: took[f"{k} clusters, natural: search"] / k**2 for k in (50, 200)},
            took["50 clusters, natural: judged again"] / 50**2,
        )

    def wall_seconds(self, clusters: int, gpus: int, search: Search) -> float:
        """Whole chunks over cards, each with processors that judge again meanwhile."""
        chunks = math.ceil(clusters**2 / search.chunk_pairs)
        card = power_law(self.pair_s, clusters)
        each = search.chunk_pairs * max(card, self.rescored_pair_s / PROCESSORS)
        return search.first_seconds(clusters, gpus) + math.ceil(chunks / gpus) * each


def measured(name: str) -> dict[str, Any] | None:
    """What a part of the benchmark wrote down, or None."""
    file = RESULTS / f"{name}.json"
    return json.loads(file.read_text()) if file.is_file() else None


def search_rows(search: Search, gpu: Gpu | None) -> list[Row]:
    """By clusters: blends, processor time, time on workers and GPUs, bytes, memory."""
    head = ["clusters", "blends", "processor", *(counted(n, "worker") for n in WORKERS)]
    head += [counted(n, "GPU") for n in WORKERS] if gpu else []
    head += ["sent to 16", "held by the builder"]
    rows: list[Row] = [head]
    for k in CLUSTERS:
        row = [str(k), f"{blends(k):.2g}", duration(search.cpu_seconds(k))]
        row += [duration(search.wall_seconds(k, n)) for n in WORKERS]
        row += [duration(gpu.wall_seconds(k, n, search)) for n in WORKERS] if gpu else []
        row += [size(search.sent_bytes(k, 16)), size(search.found_bytes(k))]
        rows.append(row)
    return rows


def refined_rows(search: Search) -> list[Row]:
    """By windows looked up among, over 50 clusters: what a table by default does."""
    rows: list[Row] = [["looked up among", "processor", "16 threads", "held by the builder"]]
    for k in (200, 500, 1000):
        seconds = search.cpu_seconds(50) + search.refine_seconds(k)
        found = size(search.found_bytes(k))
        rows.append([str(k), duration(seconds), duration(seconds / 16), found])
    return rows


def hour_rows(constants_of: dict[str, Any]) -> list[Row]:
    """By hours of motion: processor time of every stage, disk, memory."""
    stages = constants_of["constants"]
    largest = max(float(hours) for hours in constants_of["sizes"])
    head = ["hours", *stages, "all stages", "disk", "memory, largest stage"]
    rows: list[Row] = [head]
    for hours in HOURS:
        each = [hours * stage["cpu_s_per_hour"] for stage in stages.values()]
        disk = hours * sum(constants_of["bytes_per_hour"].values())
        rows.append(
            [
                str(hours), *(duration(s) for s in each), duration(sum(each)), size(disk),
                size(1e9 * max(_held(stage, hours - largest) for stage in stages.values())),
            ]
        )  # fmt: skip
    return rows


def _held(stage: dict[str, float], more_hours: float) -> float:
    """Gigabytes that a stage itself holds, so many hours beyond the largest measured."""
    return stage["own_gb"] + more_hours * stage["own_gb_per_hour"]


def whole_rows(search: Search, constants_of: dict[str, Any]) -> list[Row]:
    """Hours by clusters: a build from nothing, as it is and with ingest shared out."""
    ingest = sum(stage["cpu_s_per_hour"] for stage in constants_of["constants"].values())
    rows: list[Row] = [
        ["hours", "clusters", *(counted(n, "worker") for n in WORKERS), "were ingest shared by 256"]
    ]
    for hours in HOURS:
        for k in (50, 200, 1000):
            alone = hours * ingest
            row = [str(hours), str(k)]
            row += [duration(alone + search.wall_seconds(k, n)) for n in WORKERS]
            rows.append([*row, duration(alone / 256 + search.wall_seconds(k, 256))])
    return rows


def check_rows(
    search: Search, cluster: dict[str, Any], collection: dict[str, Any] | None
) -> list[Row]:
    """Predictions against what was measured otherwise."""
    rows: list[Row] = [["what", "predicted", "measured", "ratio"]]

    def row(what: str, predicted: float, measured: float) -> None:
        rows.append(
            [what, duration(predicted), duration(measured), f"{predicted / measured:.2f}"]
        )  # fmt: skip

    sizes = sorted(search.pair_s)
    if len(sizes) > 2:
        last = sizes[-1]
        row(
            f"a pair of {last} clusters, from {sizes[0]} to {sizes[-2]}",
            search.pair_seconds(last, known=sizes[:-1]),
            search.pair_s[last],
        )
    constants_of = cluster["constants"]
    for workers, name in ((1, "one_worker_s"), (2, "two_workers_s")):
        k = cluster["clusters"]
        row(f"search of {k} clusters, dask workers: {workers}",
            search.wall_seconds(k, workers), constants_of[name])  # fmt: skip
    if collection is not None:
        each = sum(stage["cpu_s_per_hour"] for stage in collection["constants"].values())
        for hours, found in collection["sizes"].items():
            took = sum(found["stages"][name]["cpu_s"] for name in collection["constants"])
            row(f"{hours} hours ingested, clustered, looked up", each * found["hours"], took)
    return rows


def duration(seconds: float) -> str:
    """In the unit that is easiest to read."""
    for unit, length in (("y", 3.156e7), ("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s" if seconds >= 0.1 else f"{1000.0 * seconds:.3g} ms"


def counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def size(n_bytes: float) -> str:
    for unit, length in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= length:
            return f"{n_bytes / length:.3g} {unit}"
    return f"{n_bytes / 1e3:.3g} kB"


def laid_out(title: str, rows: list[Row]) -> str:
    """A table in Markdown."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return f"### {title}\n\n" + "\n".join(lines)


def pages(cluster: dict[str, Any], about: dict[str, Any] | None, gpu: Gpu | None) -> str:
    """All tables, and what is missing for others."""
    search = Search.of(cluster["constants"])
    blocks = [laid_out("Search, by clusters", search_rows(search, gpu))]
    if gpu is None:
        blocks.append("No constants of a GPU yet: its columns are left out.")
    blocks.append(laid_out("Search over 50 clusters, refined", refined_rows(search)))
    if about is None:
        blocks.append("No constants of collections yet: hours are left out.")
    else:
        blocks.append(laid_out("One process, by hours of motion", hour_rows(about)))
        blocks.append(laid_out("A build from nothing", whole_rows(search, about)))
    blocks.append(laid_out("Predicted and measured", check_rows(search, cluster, about)))
    job = size(power_law(search.job_bytes, 200))
    blocks.append(
        f"A worker held {search.worker_mb:.0f} MB at most; the job of 200 clusters is {job}, which "
        f"it holds twice. The scheduler takes {1000 * search.empty_task_s:.1f} ms for a chunk of "
        f"{search.chunk_pairs} pairs. Other work on the machine while the search was measured: "
        f"load {cluster['load']}."
    )
    return "\n\n".join(blocks)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--write", action="store_true", help="put the tables into studies/reports/scale.md"
    )
    options = parser.parse_args()
    cluster, collection = measured("scale_cluster"), measured("scale_collection")
    card = measured("transitions_gpu")
    if cluster is None:
        print("No constants of the search yet: run ./bench scale cluster first.")
        return 1
    about = None if collection is None else collection["about"]
    text = pages(cluster["about"], about, None if card is None else Gpu.of(card["figures"]))
    print(text)
    if options.write:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
