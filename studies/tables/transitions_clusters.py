"""Clusters, lookup and window index: how near medoids are, what is found, and how long it takes.

    ./study transitions clusters [--pictures DIR]

CMU subject 143, 42 takes at 60 Hz. The plan stands in ``protocols/transitions_clusters.json``.
Distances are root mean squares over joints. The larger collection is subject 143 several times
over, every copy bent by smooth offsets of some centimetres and walked at another speed, so that no
two windows are the same. Times are of one process.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from motionloom.drawing.canvas import save_canvas
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.clusters import find_clusters, find_lookup
from motionloom.tables.index.contexts import contexts, displacements
from motionloom.tables.index.index_build import build_index
from motionloom.tables.index.neighbours import WindowIndex
from studies.captured_clips import PROTOCOLS, bounds, generator, interval_text, mocap
from studies.measures.coverage import measure_spread, spread_by_count
from studies.pictures.cluster_sheet import draw_clusters, draw_spread
from studies.report import Figure, write_report
from studies.tables.transitions_reach import frames_143
from tests.oracles.neighbours import question_of, scan_all

PLAN = PROTOCOLS / "transitions_clusters.json"
PROTOTYPE_CM = {50: 10.9, 200: 7.7}
"""Mean distance to the nearest medoid in the first trial."""
NEAR_M = 1e-3
"""An answer this much farther than the nearest of all is as good."""
ASKED = {
    "start, end and way": ("start", "end", "displacement"),
    "start and end": ("start", "end"),
    "start": ("start",),
    "end": ("end",),
}


def spread_figures(frames: Frames, plan: dict) -> tuple[list[Figure], dict]:
    """Distance to the nearest medoid by number of clusters and by how they are chosen."""
    length, stride = plan["length"], plan["stride"]
    curves = {
        choice: spread_by_count(frames, plan["counts"], length=length, stride=stride, choice=choice)
        for choice in ("spectral", "means", "random")
    }
    takes = np.array([frames.clip_at(int(r)) for r in frames.windows(length, stride=stride)])
    figures = []
    for count in plan["counts"]:
        for choice in ("spectral", "means"):
            apart = 100.0 * curves[choice][count]
            by_take = [apart[takes == take] for take in np.unique(takes)]
            drawn = bounds(
                np.arange(len(by_take)),
                lambda k, parts=by_take: float(np.concatenate([parts[i] for i in k]).mean()),
            )
            trial = PROTOTYPE_CM.get(count)
            figures.append(
                Figure(
                    f"nearest of {count} medoids, {choice}",
                    float(apart.mean()),
                    "cm",
                    "random windows",
                    100.0 * float(curves["random"][count].mean()),
                    lower_is_better=True,
                    note=f"{interval_text(drawn)} over takes; "
                    f"90 % within {np.percentile(apart, 90):.1f}"
                    + (f"; trial {trial}" if trial else ""),
                )
            )
    return figures, curves


def cluster_figures(frames: Frames, plan: dict) -> list[Figure]:
    """What a lookup finds, what it weighs, and how the time grows with the clips."""
    length, stride = plan["length"], plan["stride"]
    clusters = find_clusters(frames, length=length, stride=stride)
    fine = find_clusters(frames, length=length, stride=stride, clusters=200, method="means")
    lookup = find_lookup(frames, clusters.medoids, fine.medoids, length=length)
    windows = frames.windows(length)
    own = float(np.mean(lookup.coarse[clusters.rows] == clusters.labels))
    every = find_clusters(frames, length=length, stride=1)
    spread = [
        100.0 * float(measure_spread(frames, c.medoids, length=length).mean())
        for c in (clusters, every)
    ]
    lone = int(np.sum(clusters.takes == 1))
    figures = [
        Figure(
            f"windows every {stride} frames instead of every one: nearest of 50 medoids",
            spread[0],
            "cm",
            "every frame",
            spread[1],
            lower_is_better=True,
            note=f"sizes {clusters.sizes[0]} to {clusters.sizes[-1]}, median of takes "
            f"{np.median(clusters.takes):g}, {lone} of one take",
        ),
        Figure("windows whose own medoid is the nearest", 100.0 * own, "%"),
        Figure(
            "lookup of a row",
            sum(array.itemsize for array in lookup.arrays().values()),
            "bytes",
            "the paper's distances",
            200.0,
            lower_is_better=True,
            value_goal=200.0,
        ),
    ]
    seconds = {}
    parts = [some_clips(frames, share) for share in plan["parts_of_the_clips"]]
    parts += [several_times(frames, copies, plan["seed"]) for copies in plan["times_over"]]
    for part in parts:
        rows = len(part.windows(length, stride=stride))
        seconds[rows] = best_of(
            lambda part=part: find_clusters(part, length=length, stride=stride), times=2
        )
    few, many = min(seconds), max(seconds)
    figures.append(
        Figure(
            f"clustering, time a window: {many:,} windows against {few:,}",
            (seconds[many] / many) / (seconds[few] / few),
            "times",
            lower_is_better=True,
            value_goal=1.3,
            note="; ".join(f"{rows:,} windows {t:.2f} s" for rows, t in seconds.items()),
        )
    )
    took = best_of(lambda: find_lookup(frames, clusters.medoids, fine.medoids, length=length))
    figures.append(Figure("lookup built", len(windows) / took, "windows/s"))
    return figures


def index_figures(frames: Frames, plan: dict, name: str, *, exact: bool) -> list[Figure]:
    """What the index finds against a look at every window, and the time of both."""
    length = plan["length"]
    started = time.perf_counter()
    index = build_index(frames, length=length)
    built = time.perf_counter() - started
    rows = frames.windows(length)
    clips = np.searchsorted(frames.starts, rows, side="right") - 1
    chosen = generator(plan["seed"]).choice(len(rows), plan["questions"], replace=False)
    if not exact:
        chosen = chosen[: plan["questions"] // 8]
    truth = Truth(frames, rows, index, exact=exact)
    figures = []
    for what, parts in ASKED.items():
        shares, farther, quick, slow = [], [], [], []
        for k in chosen:
            question = truth.question(int(rows[k]), parts)
            clip = clips[k]
            span = [(int(frames.starts[clip]), int(frames.starts[clip + 1]) - 1)]
            answer = index.nearest(**question, exclude=span)
            quick.append(best_of(lambda q=question, s=span: index.nearest(**q, exclude=s), times=5))
            started = time.perf_counter()
            apart = truth.distances(question)
            slow.append(time.perf_counter() - started)
            apart[clips == clip] = np.inf
            more = float(apart[np.searchsorted(rows, answer.rows[0])] - apart.min())
            shares.append(more < NEAR_M)
            farther.append(100.0 * more)
        figures.append(
            Figure(
                f"window index, {name}, by {what}: a question",
                1e6 * float(np.median(quick)),
                "us",
                "every window, numpy",
                1e6 * float(np.median(slow)),
                lower_is_better=True,
                value_goal=100.0,
                note=f"within 1 mm of the nearest {100 * np.mean(shares):.1f} %, farther by "
                f"{np.mean(farther):.3f} cm, 99 % within {np.percentile(farther, 99):.2f}, worst "
                f"{np.max(farther):.2f}; {len(chosen)} questions, own take left out",
            )
        )
    figures.append(
        Figure(
            f"window index, {name}: a row",
            index.bytes_per_row,
            "bytes",
            lower_is_better=True,
            value_goal=150.0,
            note=f"{len(rows):,} windows; built in {built:.1f} s",
        )
    )
    return figures


class Truth:
    """Distances of all windows from a question, by contexts as they are or as they are kept."""

    def __init__(self, frames: Frames, rows: np.ndarray, index: WindowIndex, *, exact: bool):
        self.frames, self.rows, self.index = frames, rows, index
        last = rows + index.length - 1
        self.parts = {}
        if exact:
            self.parts = {
                "start": contexts(frames, rows, side="start"),
                "end": contexts(frames, last, side="end"),
                "displacement": displacements(frames, rows, last),
            }

    def question(self, row: int, parts: tuple[str, ...]) -> dict[str, np.ndarray]:
        first, last = np.array([row]), np.array([row + self.index.length - 1])
        given = {
            "start": contexts(self.frames, first, side="start")[0],
            "end": contexts(self.frames, last, side="end")[0],
            "displacement": displacements(self.frames, first, last)[0],
        }
        return {part: given[part] for part in parts}

    def distances(self, question: dict[str, np.ndarray]) -> np.ndarray:
        if self.parts:
            return np.sqrt(
                sum(np.square(self.parts[p] - given).sum(axis=1) for p, given in question.items())
            )
        codes = (self.index.starts, self.index.ends, self.index.ways)
        asked = question_of(self.index, **question)
        return np.sqrt(scan_all(self.rows, codes, asked, self.index.length))


def some_clips(frames: Frames, share: float) -> Frames:
    """Every so-manieth clip, so that each part has clips of all kinds."""
    chosen = np.arange(0, frames.n_clips, round(1.0 / share))
    rows = np.concatenate([np.arange(frames.starts[k], frames.starts[k + 1]) for k in chosen])
    lengths = np.diff(frames.starts)[chosen]
    return dataclasses.replace(
        frames,
        ids=tuple(frames.ids[k] for k in chosen),
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        **{
            name: getattr(frames, name)[rows]
            for name in ("heading", "ground", "quats", "body", "points", "planted")
        },
    )


def several_times(frames: Frames, copies: int, seed: int) -> Frames:
    """The collection so many times over, every copy after the first bent and at another speed."""
    rng = generator(seed)
    seconds = np.arange(frames.n_rows)[:, None] / frames.fps
    bodies, grounds = [frames.body], [frames.ground]
    for _ in range(1, copies):
        shape = (2, 3, frames.body.shape[1])
        rate, phase = rng.uniform(0.0, 5.0, shape), rng.uniform(0.0, 2 * np.pi, shape)
        waves = np.sin(rate[:, :, None] * seconds + phase[:, :, None])  # (2, 3, R, J)
        bend = 0.04 * np.moveaxis(waves.sum(axis=0), 0, -1)
        bodies.append((frames.body + bend).astype(np.float32))
        grounds.append(frames.ground * rng.normal(1.0, 0.2))
    starts = [frames.starts[:-1] + k * frames.n_rows for k in range(copies)]
    return dataclasses.replace(
        frames,
        ids=tuple(f"{name} {k}" for k in range(copies) for name in frames.ids),
        starts=np.concatenate([*starts, [copies * frames.n_rows]]),
        heading=np.tile(frames.heading, copies),
        ground=np.concatenate(grounds),
        body=np.concatenate(bodies),
    )


def best_of(work: Callable[[], object], *, times: int = 3) -> float:
    """Seconds of the quickest of some runs."""
    took = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        took.append(time.perf_counter() - started)
    return min(took)


def run(*, pictures: Path | None = None) -> tuple[list[Figure], dict[str, object]]:
    """All figures, and what to say about them."""
    folder = mocap()
    if folder is None:
        return [], {"clusters": "real clips not found (set MOTIONLOOM_MOCAP)"}
    plan = json.loads(PLAN.read_text())
    frames = frames_143(folder)
    figures, curves = spread_figures(frames, plan)
    figures += cluster_figures(frames, plan)
    figures += index_figures(frames, plan, "143", exact=True)
    large = several_times(frames, plan["times_over"][-1], plan["seed"])
    figures += index_figures(large, plan, f"143 {plan['times_over'][-1]} times over", exact=False)
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        clusters = find_clusters(frames, length=plan["length"], stride=plan["stride"])
        sheet = draw_clusters(frames, clusters, title="Clusters of CMU subject 143")
        save_canvas(sheet, pictures / "clusters_143.png", "png")
        names = {
            "spectral": "spectral, as in the paper",
            "means": "k-means on principal components",
            "random": "random windows",
        }
        curve = draw_spread({names[choice]: c for choice, c in curves.items()}, chosen=50)
        save_canvas(curve, pictures / "clusters_number.png", "png")
    about: dict[str, object] = {
        "clusters: windows": f"{plan['length']} frames, {PLAN.name}",
        "clusters: index": "recall on 143 is against contexts as they are; on its copies, against "
        "a look at every code",
    }
    return figures, about


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=Path, default=None, help="folder to draw into")
    options = parser.parse_args()
    figures, about = run(pictures=options.pictures)
    write_report("transitions_clusters", figures, about=about)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
