"""A transition from a large collection against one from a small one, in one process.

    python benchmarks/scale_runtime.py SMALL.mlt LARGE.mlt [--pairs 300]

Prints JSON: milliseconds a transition, median and 90 %, of pairs that were met before (both tables
warm) and of pairs met for the first time, whose frames may have to be mapped first.
"""

from __future__ import annotations

import argparse
import json
import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from pathlib import Path

import numpy as np

import motionloom as ml

ROUNDS = 5
SEED = 3


def drawn(table: ml.TransitionTable, count: int, seed: int) -> list[tuple]:
    """Random pairs of places, clips short of a window left out."""
    rng = np.random.Generator(np.random.PCG64(seed))
    rows = rng.choice(table.frames.windows(table.length), (count, 2))
    return [tuple(table.frames.place_of(int(row)) for row in pair) for pair in rows]


def timed(table: ml.TransitionTable, pairs: list[tuple]) -> list[float]:
    took = []
    for source, target in pairs:
        began = time.perf_counter()
        table.transition(source, target)
        took.append(1000.0 * (time.perf_counter() - began))
    return took


def measure(files: list[Path], count: int) -> dict[str, dict[str, float]]:
    tables = [ml.TransitionTable.open(file) for file in files]
    for table in tables:
        timed(table, drawn(table, 20, SEED + 1))
    pairs = [drawn(table, count, SEED) for table in tables]
    fresh = [timed(table, some) for table, some in zip(tables, pairs, strict=True)]
    warm: list[list[list[float]]] = [[], []]
    for _ in range(ROUNDS):  # in turns: whatever disturbs one disturbs the other
        for k, table in enumerate(tables):
            warm[k].append(timed(table, pairs[k]))
    found = {}
    for k, name in enumerate(("small", "large")):
        best = np.min(warm[k], axis=0)
        found[name] = {
            "hours": tables[k].frames.n_rows / tables[k].frames.fps / 3600.0,
            "ms": float(np.median(best)),
            "ms_90": float(np.percentile(best, 90)),
            "fresh_ms": float(np.median(fresh[k])),
            "fresh_ms_90": float(np.percentile(fresh[k], 90)),
        }
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=Path, nargs=2)
    parser.add_argument("--pairs", type=int, default=300)
    options = parser.parse_args()
    print(json.dumps(measure(options.tables, options.pairs)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
