"""Stages of work on a large collection: what each takes of a processor and of memory.

    python benchmarks/scale_stages.py CLIPS OUT [--table FILE] [--add FOLDER] [--clusters 50 200]

Ingests the folder CLIPS into OUT, finds clusters, looks up every window and makes the window index,
in this one process, and prints what each stage took as JSON. With ``--table`` a whole table is
built; with ``--add`` clips in a folder are moved into CLIPS and what depends on them is done again.
"""

from __future__ import annotations

import argparse
import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import resource
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.tables import build
from motionloom.tables.build import STRIDE_S
from motionloom.tables.extend import extend_table
from motionloom.tables.index.clusters import find_clusters, find_lookup
from motionloom.tables.index.index_build import window_index
from scale_clips import FPS

LENGTH = round(FPS)
STRIDE = max(1, round(STRIDE_S * FPS))
CLUSTERS = (50, 200)
"""Clusters, and representatives that windows are looked up among."""
SMALL = {"clusters": 8, "lookup": 24}
"""For the table that is extended: how long its search takes is not looked at."""
LOOK_S = 0.02


class Stages:
    """What stages took."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, float]] = {}
        self._peak = 0.0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self._peak = max(self._peak, held("RssAnon"))
            time.sleep(LOOK_S)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure what is done inside; a name that comes again is added up."""
        self._peak = held("RssAnon")
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        took = self.found.setdefault(name, {"cpu_s": 0.0, "wall_s": 0.0, "own_gb": 0.0})
        took["cpu_s"] += time.process_time() - cpu
        took["wall_s"] += time.perf_counter() - wall
        took["own_gb"] = max(took["own_gb"], self._peak, held("RssAnon"))
        took["all_gb"] = most_held()
        print(f"{name}: {took}", file=sys.stderr, flush=True)


def held(what: str) -> float:
    """Gigabytes of this process: ``RssAnon`` its own, ``RssFile`` pages of mapped files."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{what}:"):
            return int(line.split()[1]) / 1e6
    return 0.0


def most_held() -> float:
    """The most gigabytes that this process ever held, pages of mapped files included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def warm_up() -> None:
    """Everything loaded before it is timed."""
    with tempfile.TemporaryDirectory() as temporary:
        clips = Path(temporary) / "clips"
        clips.mkdir()
        for kind in ("walk", "run", "stand"):
            motion = ml.synthetic.clip(kind, fps=FPS, duration_s=4.0).motion
            ml.save(motion, clips / f"{kind}.mlm")
        lib = ml.Collection.ingest(clips, fps=FPS)
        coarse = find_clusters(lib.frames, length=LENGTH, clusters=4, stride=1)
        fine = find_clusters(lib.frames, length=LENGTH, clusters=8, stride=1, method="means")
        find_lookup(lib.frames, coarse.medoids, fine.medoids, length=LENGTH)
        window_index(lib, LENGTH)


def measure(
    clips: Path, out: Path, table: Path | None, add: Path | None, clusters: tuple[int, int]
) -> dict[str, object]:
    warm_up()
    before = most_held()
    stages = Stages()
    with stages.stage("ingest"):
        lib = ml.Collection.ingest(clips, out=out, fps=FPS)
    with stages.stage("opening"):
        lib = ml.Collection.open(out)
    if table is None:
        find_all(lib, stages, *clusters)
    else:
        build_timed(lib, table, stages, *clusters)
    sizes = {
        "rows": sum(file.stat().st_size for file in out.glob("*.rows")),
        "index": sum(file.stat().st_size for file in out.glob("*.index")),
    }
    settings: dict[str, object] = {
        "hours": lib.frames.n_rows / FPS / 3600.0,
        "clips": lib.frames.n_clips,
        "frames": lib.frames.n_rows,
        "bytes": sizes,
        "gb_before": before,
        "gb_most": most_held(),
        "stages": stages.found,
    }
    if add is not None:
        settings["adding"] = adding(lib, clips, out, add)
    return settings


def find_all(lib: ml.Collection, stages: Stages, clusters: int, fine_clusters: int) -> None:
    settings = {"length": LENGTH, "stride": STRIDE}
    with stages.stage("clusters"):
        coarse = find_clusters(lib.frames, clusters=clusters, **settings).medoids
        fine = find_clusters(lib.frames, clusters=fine_clusters, method="means", **settings).medoids
    with stages.stage("lookup"):
        find_lookup(lib.frames, coarse, fine, length=LENGTH)
    with stages.stage("index"):
        window_index(lib, LENGTH)


def build_timed(
    lib: ml.Collection, table: Path, stages: Stages, clusters: int, fine_clusters: int
) -> None:
    """A whole table, its stages timed where it calls them; what is left is the search."""
    plain = {name: getattr(build, name) for name in ("find_clusters", "find_lookup")}

    def timed(name: str, stage: str):
        def work(*given, **options):
            with stages.stage(stage):
                return plain[name](*given, **options)

        return work

    build.find_clusters = timed("find_clusters", "clusters")
    build.find_lookup = timed("find_lookup", "lookup")
    with stages.stage("index"):
        window_index(lib, LENGTH)
    cpu = time.process_time()
    ml.build_table(lib, out=table, clusters=clusters, lookup=fine_clusters, jobs=1, progress=False)
    whole = time.process_time() - cpu
    rest = whole - sum(stages.found[name]["cpu_s"] for name in ("clusters", "lookup"))
    stages.found["search"] = {"cpu_s": rest, "own_gb": held("RssAnon"), "all_gb": most_held()}
    print(f"search: {rest:.1f} s", file=sys.stderr, flush=True)
    build.find_clusters, build.find_lookup = plain["find_clusters"], plain["find_lookup"]


def adding(lib: ml.Collection, clips: Path, out: Path, add: Path) -> dict[str, object]:
    """What it takes to add clips to a collection and a table."""
    table = out.with_suffix(".small.mlt")
    ml.build_table(lib, out=table, **SMALL, jobs=1, progress=False)
    stages, hours = Stages(), lib.frames.n_rows
    with stages.stage("looking for changes where there are none"):
        ml.Collection.ingest(clips, out=out, fps=FPS)
    for file in sorted(add.rglob("*.mlm")):
        there = clips / file.relative_to(add)
        there.parent.mkdir(parents=True, exist_ok=True)
        file.rename(there)
    with stages.stage("ingest"):
        lib = ml.Collection.ingest(clips, out=out, fps=FPS)
    with stages.stage("table and index"):
        extend_table(table, lib)
    return {
        "part": (lib.frames.n_rows - hours) / hours,
        "clips": lib.report.read,
        "stages": stages.found,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clips", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--table", type=Path, default=None)
    parser.add_argument("--add", type=Path, default=None)
    parser.add_argument("--clusters", type=int, nargs=2, default=CLUSTERS)
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = measure(
            options.clips, options.out, options.table, options.add, tuple(options.clusters)
        )
    print(json.dumps(found, default=lambda value: np.asarray(value).tolist()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
