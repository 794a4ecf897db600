"""Searches on a dask cluster: how much faster by two workers, and what kills change.

    python benchmarks/scale_cluster.py [--clusters 40] [--rounds 5] [--kills 10] [--quick]

CMU subject 143 at 60 Hz, or embedded clips where there are no real ones. Clusters of one and of two
workers, one thread each, search the same job in turns; what they find is compared byte by byte with
what this process finds alone. Then workers are killed (SIGKILL) at random moments, and a scheduler
is lost in the middle of a build. Constants for ``scale_model.py`` are measured on the way, those of
the search in seconds of a processor. Wall times mean something only where nothing else runs.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import statistics
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

import motionloom as ml
from motionloom.errors import TableError
from motionloom.tables.build import SHORTLIST, _four_way
from motionloom.tables.collection.frames import Frames, frames_of
from motionloom.tables.engines.dask import START_S, DaskEngine, local_cluster
from motionloom.tables.engines.dask_client import connected
from motionloom.tables.engines.dask_tasks import pack_job
from motionloom.tables.engines.engine import Engine, LocalEngine
from motionloom.tables.index.clusters import find_clusters
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.search import (
    CHUNK_PAIRS,
    FoundChunk,
    SearchJob,
    Shortlist,
    search_chunk,
)
from motionloom.tables.table_file import Parts
from report import Figure, write_report
from studies.captured_clips import frames_143, generator, mocap
from transitions_kills import ingested

LENGTH, STRIDE = 60, 5
SIZES = (25, 50, 100, 200)
"""Clusters at which the time of a pair is measured."""
COARSE = 50
"""Clusters under which finer windows are searched."""
SAMPLED = 5
"""Sources and targets of those pairs."""
EMPTY_TASKS = 400


def all_frames() -> Frames:
    """Subject 143, or embedded clips."""
    real = mocap()
    if real is not None:
        return frames_143(real)
    clips = [ml.synthetic.clip(kind, duration_s=8.0) for kind in ml.synthetic.kinds()]
    return frames_of(
        [clip.motion for clip in clips], footplants=[clip.footplants for clip in clips]
    )


def job_of(frames: Frames, clusters: int) -> SearchJob:
    """All blends between so many representatives."""
    rows = find_clusters(
        frames, length=LENGTH, stride=STRIDE, clusters=clusters, method="means"
    ).medoids
    every = np.arange(len(rows))
    return SearchJob(terms_of(frames, rows, LENGTH, family="eased"), *3 * [every], ranking=NATURAL)


def searched(engine: Engine, job: SearchJob) -> tuple[float, bytes]:
    """Seconds on the clock of a whole search, and its bytes in order."""
    began = time.perf_counter()
    found = list(engine.search(job))
    return time.perf_counter() - began, bytes_of(found)


def bytes_of(found: list[FoundChunk]) -> bytes:
    found = sorted(found, key=lambda chunk: chunk.chunk)
    return b"".join(chunk.recipes.tobytes() + chunk.costs.tobytes() for chunk in found)


def wait_for(address: str, workers: int) -> None:
    """Until so many workers have joined."""
    until = time.monotonic() + START_S
    with connected(address, first_worker_s=START_S) as connection:
        while connection.n_workers() < workers:
            assert time.monotonic() < until, f"fewer than {workers} workers after {START_S:g} s"
            time.sleep(0.1)


def speed_figures(job: SearchJob, rounds: int) -> tuple[list[Figure], dict[str, float]]:
    """One worker against two, in turns; and what a cluster costs in addition to the search."""
    alone, wanted = searched(LocalEngine(1), job)
    took: dict[int, list[float]] = {1: [], 2: []}
    same = []
    began = time.perf_counter()
    with local_cluster(1) as one, local_cluster(2) as two:
        for address, workers in ((one, 1), (two, 2)):
            wait_for(address, workers)
        engines = {1: DaskEngine(one), 2: DaskEngine(two)}
        for engine in engines.values():
            searched(engine, job)  # kernels are loaded, the first time
        started = time.perf_counter() - began
        for _ in range(rounds):
            for workers, engine in engines.items():
                seconds, found = searched(engine, job)
                took[workers].append(seconds)
                same.append(found == wanted)
        with connected(two) as connection:
            peaks = connection.ask(
                lambda client: client.run(
                    lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                )
            )
            began = time.perf_counter()
            connection.ask(
                lambda client: client.gather(
                    client.map(lambda x: x, range(EMPTY_TASKS), pure=False)
                )
            )
            empty = (time.perf_counter() - began) / EMPTY_TASKS
    one_s, two_s = (statistics.median(took[n]) for n in (1, 2))
    note = f"{job.n_recipes:,} blends, median of {rounds}; this process alone {alone:.1f} s"
    figures = [
        Figure("search by 2 workers", two_s, "s", "1 worker", one_s, True, 1.7, note=note),
        Figure("searches with the bytes of this process", sum(same) / len(same), "",
               value_goal=1.0, note=f"of {len(same)}"),
    ]  # fmt: skip
    constants = {
        "empty_task_s": empty,
        "worker_mb": max(peaks.values()) / 1024.0,
        "started_and_searched_twice_s": started,
        "one_worker_s": one_s,
        "two_workers_s": two_s,
        "alone_s": alone,
    }
    return figures, constants


def kill_figures(job: SearchJob, kills: int, seed: int) -> list[Figure]:
    """Workers killed at random moments of searches."""
    rng = generator(seed, 5)
    _, wanted = searched(LocalEngine(1), job)
    made, same, shares = 0, 0, []
    with local_cluster(2) as address:
        wait_for(address, 2)
        engine = DaskEngine(address)
        searched(engine, job)
        took, _ = searched(engine, job)
        while made < kills:
            wait_for(address, 2)
            with connected(address) as connection:
                pids = list(connection.ask(lambda client: client.run(os.getpid)).values())
            share = float(rng.random())
            gone = threading.Event()

            def kill(pid: int = int(rng.choice(pids)), gone: threading.Event = gone) -> None:
                os.kill(pid, signal.SIGKILL)
                gone.set()

            timer = threading.Timer(share * took, kill)
            timer.start()
            _, found = searched(engine, job)
            timer.cancel()
            timer.join()
            if gone.is_set():
                made += 1
                same += found == wanted
                shares.append(f"{share:.2f}")
    note = f"after shares {', '.join(shares)} of {took:.1f} s"
    name = f"searches with the same bytes, a worker killed in each of {kills}"
    return [Figure(name, same / made, "", value_goal=1.0, note=note)]


def lost_figures(clusters: int) -> list[Figure]:
    """A build whose scheduler goes in the middle, done to the end by this machine."""
    with tempfile.TemporaryDirectory() as temporary, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        home = Path(temporary)
        lib = ingested(home)
        settings = {"clusters": clusters, "lookup": clusters, "progress": False}
        whole = ml.build_table(lib, out=home / "whole.mlt", **settings).file.read_bytes()
        message, saved = "", []
        save = Parts.save
        with (
            local_cluster(2) as address,
            connected(address, first_worker_s=START_S) as connection,
        ):

            def save_and_break(self: Parts, name: str, *args: object) -> None:
                save(self, name, *args)
                saved.append(name)
                if len(saved) == 4:
                    connection.ask(lambda client: client.shutdown())

            Parts.save = save_and_break
            try:
                ml.build_table(lib, out=home / "lost.mlt", engine=DaskEngine(address), **settings)
            except TableError as error:
                message = str(error).replace(str(home), "")
            finally:
                Parts.save = save
        same = ml.build_table(lib, out=home / "lost.mlt", **settings).file.read_bytes() == whole
    name = "build with the same bytes, its scheduler lost in the middle"
    return [Figure(name, float(same and "was lost" in message), "", value_goal=1.0, note=message)]


def search_constants(frames: Frames, sizes: tuple[int, ...], seed: int) -> dict[str, object]:
    """Seconds of one processor for a pair, and bytes, by number of clusters."""
    rng = generator(seed, 6)
    pair_s, sent = {}, {}
    for clusters in sizes:
        job = job_of(frames, clusters)
        between = job.between
        ends = [rng.choice(between, SAMPLED, replace=False) for _ in range(2)]
        few = SearchJob(job.terms, *ends, between, ranking=NATURAL)
        search_chunk(few, 0)
        began = time.process_time()
        search_chunk(few, 0)
        pair_s[str(clusters)] = (time.process_time() - began) / few.n_pairs
        sent[str(clusters)] = len(pack_job(job).job)
        print(
            f"{clusters} clusters: {1000 * pair_s[str(clusters)]:.2f} ms a pair, "
            f"{pair_s[str(clusters)] * job.n_pairs:.0f} s in all, "
            f"{sent[str(clusters)] / 1e6:.1f} MB sent",
            flush=True,
        )
    refined_s = refined_pair_seconds(frames, rng)
    found = search_chunk(few, 0)
    each = (found.recipes.nbytes + found.costs.nbytes) / few.n_pairs
    return {
        "pair_s": pair_s,
        "refined_pair_s": refined_s,
        "job_bytes": sent,
        "pair_bytes": each,
        "chunk_pairs": CHUNK_PAIRS,
        "windows_frames": LENGTH,
    }


def refined_pair_seconds(frames: Frames, rng: np.random.Generator) -> float:
    """Seconds of one processor for a pair of finer windows, with a shortlist for four ways."""
    job = job_of(frames, COARSE)
    ends = [rng.choice(job.between, SAMPLED, replace=False) for _ in range(2)]
    coarse = SearchJob(job.terms, *ends, job.between, keep=SHORTLIST, ranking=NATURAL)
    recipes = search_chunk(coarse, 0).recipes.reshape(SAMPLED, SAMPLED, SHORTLIST, 4)
    short = Shortlist(_four_way(recipes), *2 * [np.arange(SAMPLED)])
    few = SearchJob(job.terms, *ends, job.between, ranking=NATURAL, shortlist=short)
    search_chunk(few, 0)
    began = time.process_time()
    search_chunk(few, 0)
    return (time.process_time() - began) / few.n_pairs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clusters", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="few rounds, nothing is written down")
    options = parser.parse_args()
    if options.quick:
        options.clusters, options.rounds, options.kills = 16, 1, 1
    load = round(os.getloadavg()[0], 1)  # of others, before anything of ours runs
    frames = all_frames()
    figures, constants = speed_figures(job_of(frames, options.clusters), options.rounds)
    figures += kill_figures(
        job_of(frames, max(8, 3 * options.clusters // 4)), options.kills, options.seed
    )
    figures += lost_figures(max(14, options.clusters // 2))
    sizes = SIZES[:1] if options.quick else SIZES
    constants |= search_constants(frames, sizes, options.seed)
    if options.quick:
        from report import table

        print(table(figures))
        return 0
    about = {"clusters": options.clusters, "load": load, "constants": constants}
    write_report("scale_cluster", figures, about=about)
    return int(any(figure.met is False for figure in figures))


if __name__ == "__main__":
    sys.exit(main())
