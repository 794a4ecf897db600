"""Collections of tens of hours: memory, time by hours, clips added, transitions.

    python benchmarks/scale_collection.py [--hours 5 10 20 40] [--home DIR] [--quick]

Clips are made by ``scale_clips.py`` from CMU captures, and written as motionloom's own archives:
how quickly files of other formats are parsed is not looked at. Every size is worked through in a
separate process (``scale_stages.py``). Times are of one processor. Memory is the most that a
process ever held, pages of mapped files included, and next to it its private memory. Needs 12 GB of
disk for 40 hours, in a temporary folder unless ``--home`` names one (what is there is used again).
``--quick`` works through a quarter and half an hour instead, to see that all of it runs.
"""

from __future__ import annotations

import argparse
import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.clusters import find_clusters
from motionloom.tables.index.windows import (
    distances,
    stream_features,
    window_features,
    window_shape,
)
from report import Figure, table, write_report
from scale_clips import FPS, find_bases, link_first, write_clips
from scale_stages import CLUSTERS, LENGTH, STRIDE
from studies.captured_clips import generator, mocap
from studies.measures.coverage import measure_spread

HOURS = (5.0, 10.0, 20.0, 40.0)
ADDED_TO = 10.0
"""Hours that one part in a hundred is added to."""
ADDED = 0.01
MEMORY_GB = 4.0
LINEAR = 1.15
SLOWER = 1.5
ASKED = 200
"""Windows whose nearest neighbour is sought."""
COUNTS = (50, 100, 200, 400, 800)
"""Representatives that lookup errors are measured for."""
STREAMED = ("ingest", "lookup", "index")
"""Stages whose time grows with the hours; that of clusters ends at some 200,000 windows."""
STAGES = (*STREAMED, "clusters")
HERE = Path(__file__).resolve().parent


def worked(script: str, *given: object) -> dict:
    """What a script printed last, as JSON; it tells of its stages as it goes."""
    command = [sys.executable, str(HERE / script), *map(str, given)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def clips_in(home: Path, folder: Path, hours: float) -> dict[str, float]:
    """Make the clips, unless they are there; frames made in which way, as parts of all."""
    shares_file = home / "clips.json"
    if not shares_file.is_file():
        shares = write_clips(home / "clips", find_bases(folder), hours)
        shares_file.write_text(json.dumps(shares))
    shares = json.loads(shares_file.read_text())
    return {name: count / shares["frames"] for name, count in shares.items()}


def small_table(home: Path, folder: Path, clusters: tuple[int, int]) -> tuple[Path, Frames]:
    """The table that the large one is compared with: CMU 143 at the same rate."""
    clips = home / "clips143"
    if not clips.is_dir():
        clips.mkdir()
        for file in sorted((folder / "cmu_bvh").glob("143_*.bvh")):
            (clips / file.name).symlink_to(file)
    lib = ml.Collection.ingest(clips, fps=FPS, source_fps=60.0)
    out = home / "small.mlt"
    ml.build_table(lib, out=out, clusters=clusters[0], lookup=clusters[1], progress=False)
    return out, lib.frames


def nearest_elsewhere(frames: Frames, count: int = ASKED) -> np.ndarray:
    """Distance of some windows from the nearest window of any other clip, metres."""
    shape, rows = window_shape(frames, LENGTH), frames.windows(LENGTH)
    asked = np.sort(generator(11).choice(rows, min(count, len(rows)), replace=False))
    own = np.searchsorted(frames.starts, asked, side="right")
    wanted = window_features(frames, asked, shape)
    least = np.full(len(asked), np.inf)
    for part, features in stream_features(frames, rows, shape):
        apart = distances(features, wanted)
        apart[np.searchsorted(frames.starts, rows[part], side="right")[:, None] == own] = np.inf
        np.minimum(least, apart.min(axis=0), out=least)
    return least


def size_figures(sizes: dict[float, dict]) -> list[Figure]:
    figures = []
    per_hour = {}
    for hours, found in sizes.items():
        stages = found["stages"]
        cpu = sum(stages[name]["cpu_s"] for name in STREAMED)
        per_hour[hours] = cpu / found["hours"]
        shares_file = ", ".join(f"{n} {stages[n]['cpu_s'] / found['hours']:.2f}" for n in STREAMED)
        shares_file += f"; besides, clusters {stages['clusters']['cpu_s']:.0f} s in all"
        figures.append(
            Figure(
                f"{hours:g} hours: ingest, lookup and index, processor time an hour of motion",
                per_hour[hours],
                "s",
                lower_is_better=True,
                note=f"{shares_file}; {found['clips']} clips, {found['frames']:,} frames",
            )
        )
        own = max(stage["own_gb"] for stage in stages.values())
        figures.append(
            Figure(
                f"{hours:g} hours: memory at most, mapped pages included",
                found["gb_most"],
                "GB",
                lower_is_better=True,
                value_goal=MEMORY_GB,
                note=f"its own {own:.2f}; {found['gb_before']:.2f} before any clip",
            )
        )
    least, most = min(per_hour), max(per_hour)
    figures.append(
        Figure(
            f"time an hour of motion, {most:g} hours against {least:g}",
            per_hour[most] / per_hour[least],
            "times",
            lower_is_better=True,
            value_goal=LINEAR,
            note=_growth_of_stages(sizes[least], sizes[most]),
        )
    )
    return figures


def _growth_of_stages(few: dict, many: dict) -> str:
    """How many times longer each stage takes for an hour of more hours, in words."""
    ratios = {
        name: many["stages"][name]["cpu_s"] / many["hours"]
        / (few["stages"][name]["cpu_s"] / few["hours"])
        for name in STAGES
    }  # fmt: skip
    return ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items())


def added_figures(found: dict, per_hour: float) -> list[Figure]:
    adding = found["adding"]
    took = {name: stage["cpu_s"] for name, stage in adding["stages"].items()}
    again = took["ingest"] + took["table and index"]
    return [
        Figure(
            f"{100.0 * adding['part']:.1f} % of clips added to {found['hours']:.3g} hours",
            again,
            "s",
            "all of it again",
            per_hour * found["hours"],
            lower_is_better=True,
            note="; ".join(f"{name} {seconds:.2f}" for name, seconds in took.items()),
        )
    ]


def lookup_figures(frames: Frames) -> list[Figure]:
    """How far windows are from the nearest representative, by the number of these."""
    rows = frames.windows(LENGTH)[:: max(1, frames.n_rows // 50_000)]
    figures = []
    for count in COUNTS:
        if count > len(frames.windows(LENGTH, stride=STRIDE)) // 4:
            continue
        medoids = find_clusters(
            frames, clusters=count, length=LENGTH, stride=STRIDE, method="means"
        ).medoids
        apart = measure_spread(frames, medoids, length=LENGTH, rows=rows)
        figures.append(
            Figure(
                f"nearest of {count} representatives",
                100.0 * float(apart.mean()),
                "cm",
                lower_is_better=True,
                note=f"90 % within {100.0 * np.percentile(apart, 90):.1f}; "
                f"recipes between them {count**2 * 80 / 1e6:.1f} MB",
            )
        )
    return figures


def runtime_figures(small: Path, large: Path) -> list[Figure]:
    found = worked("scale_runtime.py", small, large)
    few, many = found["small"], found["large"]
    name = f"a transition, {many['hours']:.3g} hours against {60 * few['hours']:.2g} minutes"
    return [
        Figure(
            f"{name}, both warm",
            many["ms"] / few["ms"],
            "times",
            lower_is_better=True,
            value_goal=SLOWER,
            note=f"{many['ms']:.2f} and {few['ms']:.2f} ms; 90 % within {many['ms_90']:.2f} and "
            f"{few['ms_90']:.2f}",
        ),
        Figure(
            f"{name}, pairs met for the first time",
            many["fresh_ms"] / few["fresh_ms"],
            "times",
            lower_is_better=True,
            note=f"{many['fresh_ms']:.2f} and {few['fresh_ms']:.2f} ms",
        ),
    ]


def run(
    home: Path, hours: list[float], added_to: float, clusters: tuple[int, int]
) -> tuple[list[Figure], dict[str, object]]:
    folder = mocap()
    if folder is None:
        return [], {"collection": "real clips not found (set MOTIONLOOM_MOCAP)"}
    home.mkdir(parents=True, exist_ok=True)
    most = max(hours)
    shares = clips_in(home, folder, most)
    small, frames_143 = small_table(home, folder, clusters)
    sizes: dict[float, dict] = {}
    figures: list[Figure] = []
    for size in sorted(hours):
        clips, out = home / f"clips{size:g}", home / f"lib{size:g}.mlc"
        for leftover in (clips, out, home / f"add{size:g}"):
            shutil.rmtree(leftover, ignore_errors=True)
        more: tuple[object, ...] = ("--clusters", *clusters)
        if size == most:
            more += ("--table", home / "large.mlt")
        elif size == added_to:
            more += ("--add", home / f"add{size:g}")
        count = link_first(home / "clips", clips, size)
        if size == added_to and size != most:
            link_first(home / "clips", home / f"add{size:g}", size * ADDED, skip=count)
        sizes[size] = worked("scale_stages.py", clips, out, *more)
        shutil.rmtree(clips)
        if size == min(hours):
            lookups = lookup_figures(ml.Collection.open(out).frames)
        if size != most:
            shutil.rmtree(out)
    figures += size_figures(sizes)
    if added_to in sizes and "adding" in sizes[added_to]:
        found = sizes[added_to]
        cpu = sum(found["stages"][name]["cpu_s"] for name in STAGES)
        figures += added_figures(found, cpu / found["hours"])
    figures += runtime_figures(small, home / "large.mlt")
    near = nearest_elsewhere(ml.Collection.open(home / f"lib{most:g}.mlc").frames)
    peer = nearest_elsewhere(frames_143)
    figures.append(
        Figure(
            f"{most:g} hours: nearest window of another clip",
            100.0 * float(near.mean()),
            "cm",
            "CMU 143's own",
            100.0 * float(peer.mean()),
            ratio_goal=0.5,
            note=f"medians {100 * np.median(near):.1f} and {100 * np.median(peer):.1f}",
        )
    )
    largest, smallest = sizes[most], sizes[min(hours)]
    constants = {
        name: {
            "cpu_s_per_hour": largest["stages"][name]["cpu_s"] / largest["hours"],
            "own_gb": largest["stages"][name]["own_gb"],
            "own_gb_per_hour": (
                largest["stages"][name]["own_gb"] - smallest["stages"][name]["own_gb"]
            )
            / (largest["hours"] - smallest["hours"]),
        }
        for name in STREAMED
    }
    about: dict[str, object] = {
        "clips": ", ".join(f"{name} {100.0 * part:.0f} %" for name, part in shares.items()),
        "constants": constants,
        "bytes_per_hour": {k: v / largest["hours"] for k, v in largest["bytes"].items()},
        "clusters_cpu_s": largest["stages"]["clusters"]["cpu_s"],
        "search_cpu_s": largest["stages"]["search"]["cpu_s"],
        "sizes": {f"{size:g}": found for size, found in sizes.items()},
    }
    return figures + lookups, about


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=float, nargs="+", default=list(HOURS))
    parser.add_argument("--home", type=Path, default=None, help="folder to work in, which is kept")
    parser.add_argument("--quick", action="store_true", help="small sizes and tables, no report")
    options = parser.parse_args()
    hours, added_to, clusters = options.hours, ADDED_TO, CLUSTERS
    if options.quick:
        hours, added_to, clusters = [0.25, 0.5], 0.25, (8, 24)
    with tempfile.TemporaryDirectory() as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figures, about = run(options.home or Path(temporary), hours, added_to, clusters)
    if options.quick:
        print(table(figures))
        return 0
    write_report("scale_collection", figures, about=about)
    return int(any(figure.met is False for figure in figures))


if __name__ == "__main__":
    raise SystemExit(main())
