"""The search on a GPU from an exported file of terms: right or not, how fast, how near its limits.

    python benchmarks/gpu_search.py TERMS.npz ... [--out FOLDER]

Needs PyTorch for CUDA, numpy and this repository's ``src`` folder, nothing else of motionloom's.
``benchmarks/transitions_gpu.py --export`` writes the files; with ``--out`` the best blends are
written for it to judge again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from motionloom.tables.engines.gpu import FusedSearch, Query, candidates_of
from motionloom.tables.engines.gpu_module import (
    LANES,
    PlainRanking,
    PlainTerms,
    build_for,
    compiled,
    find_device,
)
from tests.oracles.terms_file import load_terms
from tests.oracles.torch_score import TorchScore

KEEP = candidates_of(32)
ROUNDS = 5
TORCH_BLENDS = 20_000
PEAK_FLOPS = 67e12
"""Single precision of an H200, by its datasheet."""
PEAK_COPY = 4.3e12
"""Bytes a second that a copy on it moves, as measured."""
WAYS = (2, 3, 4)
SHAPES = ((12, 2, 2), (12, 2, 4), (12, 2, 8), (8, 3, 4), (16, 2, 2), (16, 2, 4), (8, 2, 8))
"""Warps of a block, blocks of a multiprocessor, segments at a time: what ``--tune`` tries."""
MOST_WRITTEN = 8_000
"""Pairs whose best blends are written."""


def timed(work, rounds: int = ROUNDS) -> float:
    """Median seconds of a call, after one that does not count."""
    work()
    times = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begun)
    return statistics.median(times)


def query_of(terms: PlainTerms, ranking: PlainRanking) -> Query:
    every = np.arange(terms.n_windows, dtype=np.int32)
    return Query(every, every, every, WAYS, ranking)


def flops_of(terms: PlainTerms, ranking: PlainRanking) -> tuple[float, float]:
    """Operations of a four-way blend as the measures ask for them, and bytes its warp reads.

    An addition or multiplication is one; roots, divisions and sines count as one too.
    """
    needs = build_for(terms, ranking).needs
    frames, length, segments = terms.rows.shape[2], terms.length, len(terms.masses)
    taps = terms.taps.shape[1]
    uses = [bool(needs >> c & 1) for c in range(19)]
    rows = 10 + 2 * (uses[6] or uses[5]) + 2 * uses[4] + uses[14] + uses[15] + uses[7]
    held = float((terms.spans[..., 1] - terms.spans[..., 0] + 1).clip(0).sum()) / terms.n_windows
    blend = 2.0 * (rows + 3 * segments) * frames
    walk = frames * (10.0 + 6.0)
    feet = 2 * frames * 8.0 + 2 * length * 6.0 * uses[4] + 2 * length * 10.0 * uses[5]
    plants = 4 * (2 * frames * 8.0 + held * 9.0)
    centre = frames * 8.0 + 6 * 2.0 * taps * length
    momentum = segments * (frames - 1) * 8.0 + frames * 16.0 + 2 * 2.0 * taps * length
    support = length * (10.0 + 7 * 14.0) + 3 * 56 * 8 * 5.0
    posture = segments * length * (6.0 * uses[14] + 15.0 * uses[16])
    flops = blend + walk + feet + plants + centre + momentum + support + posture
    slots = -(-frames // 32) * 32
    read = 4.0 * slots * (rows + 3 * segments + 4 * 4 + 4 * 2 * uses[5])
    return flops, read


def compare(terms: PlainTerms, more: dict, search: FusedSearch, device: str) -> dict:
    """Largest differences of columns: fused and PyTorch on the card, and the CPU's."""
    ids = more["recipes"]
    fused = search.score(ids).cpu().numpy()
    plain = TorchScore(terms, device)
    torch_columns = plain.score(ids).cpu().numpy()
    rng = np.random.Generator(np.random.PCG64(1))
    many = rng.integers(0, terms.n_windows, (TORCH_BLENDS, 4))
    plain_s = timed(lambda: plain.score(many, batch=4000), 2)
    fused_s = timed(lambda: search.score(many.astype(np.int32)))
    found = {
        "torch_blends_s": TORCH_BLENDS / plain_s,
        "fused_columns_blends_s": TORCH_BLENDS / fused_s,
    }
    for name, columns in (("torch", torch_columns), ("cpu", more["columns"])):
        difference = np.abs(fused - columns)
        found[f"fused - {name}, max of each column"] = [
            float(f"{v:.2g}") for v in difference.max(axis=0)
        ]
        found[f"fused - {name}, planted differs"] = int(np.count_nonzero(difference[:, 2]))
    found["not finite"] = int(np.count_nonzero(~np.isfinite(fused)))
    return found


def tune(search: FusedSearch, query: Query, pairs: int) -> dict:
    """Seconds of some pairs with other shapes of blocks."""
    found = {}
    for shape in SHAPES:
        warps, blocks, unroll = shape
        change = {"warps": warps, "blocks": blocks, "unroll": unroll}
        begun = time.perf_counter()
        kernel = compiled(build_for(search.terms, query.ranking)._replace(**change), 0)
        built = time.perf_counter() - begun
        other = FusedSearch(search.terms, search.device, lambda _, kernel=kernel: kernel, LANES)
        out = torch.zeros((pairs, query.n_blends), device=search.device)
        seconds = timed(lambda o=other, out=out: o.costs(query, 0, pairs, out), 3)
        registers, spilt = kernel.registers()
        found[str(shape)] = (
            f"{pairs * query.n_blends / seconds:.4g} blends/s, {registers} registers, "
        )
        found[str(shape)] += f"{spilt} bytes in addition, compiled in {built:.1f} s"
    return found


def whole(
    search: FusedSearch, query: Query, name: str, out: Path | None, label: str
) -> tuple[dict, list]:
    """The whole search: seconds, share of limits, best blends."""
    n = query.n_pairs * query.n_blends
    few = min(query.n_pairs, 64)
    search.best(query, 0, few, KEEP)
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    result = []

    def work() -> None:
        costs, places = search.best(query, 0, query.n_pairs, KEEP)
        result[:] = [costs.cpu().numpy(), places.cpu().numpy()]

    rounds = ROUNDS if n < 1e8 else 1
    if rounds == 1:
        begun = time.perf_counter()
        work()
        seconds = time.perf_counter() - begun
    else:
        seconds = timed(work, rounds)
    flops, read = flops_of(search.terms, query.ranking)
    found = {
        "blends": n,
        "seconds": round(seconds, 4),
        "blends_s": f"{n / seconds:.4g}",
        "TFLOP_s": round(n * flops / seconds / 1e12, 2),
        "share of single precision": f"{n * flops / seconds / PEAK_FLOPS:.1%}",
        "flops_a_blend": round(flops),
        "read from cache TB_s": round(n * read / seconds / 1e12, 2),
        "peak MB": round(torch.cuda.max_memory_allocated() / 1e6),
        "not finite": int(np.count_nonzero(~np.isfinite(result[0]))),
    }
    if out is not None:
        some = np.arange(0, query.n_pairs, -(-query.n_pairs // MOST_WRITTEN))
        costs, places = (array[some] for array in result)
        np.savez_compressed(
            out / f"best_{label}_{name}.npz", pairs=some, costs=costs, places=places
        )
    return found, result


def keys(recipes: np.ndarray) -> np.ndarray:
    """A number for each recipe."""
    return (recipes + 1) @ (4096 ** np.arange(4))


def against_cpu(query: Query, more: dict, name: str, result: list) -> dict:
    """How many of the CPU's best are among the GPU's, and how far costs are apart."""
    best, costs = more[f"{name}.best"].astype(np.int64), more[f"{name}.costs"]
    best[best == 0xFFFF] = -1
    mine = query.recipes(np.arange(query.n_pairs), result[1].astype(np.int64)).astype(np.int64)
    a, b = keys(best), keys(mine)
    missing = sum(len(np.setdiff1d(x, y)) for x, y in zip(a, b, strict=True))
    same = a == b[:, : a.shape[1]]
    return {
        "cpu's best not among the gpu's": missing,
        "of": int(a.size),
        "same place before re-scoring": f"{same.mean():.4%}",
        "largest difference of costs there": float(
            np.abs(result[0][:, : a.shape[1]] - costs)[same].max()
        ),
        "smallest margin past the last kept": float((result[0][:, -1] - costs[:, -1]).min()),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("terms", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--tune", action="store_true", help="try other shapes of blocks, no more")
    options = parser.parse_args()
    number = find_device()
    device = f"cuda:{number}"
    name = f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}"
    report: dict[str, object] = {"device": name}
    print(name, flush=True)
    for file in options.terms:
        terms, more = load_terms(file)
        begun = time.perf_counter()
        search = FusedSearch(terms, device, lambda build: compiled(build, number), LANES)
        label = file.stem
        mine = report[label] = {"columns": compare(terms, more, search, device)}
        mine["first use s"] = round(time.perf_counter() - begun, 1)
        print(label, json.dumps(mine, indent=1), flush=True)
        for name in ("paper", "natural"):
            ranking = PlainRanking(more[f"{name}.linear"], more[f"{name}.log"])
            query = query_of(terms, ranking)
            if options.tune:
                pairs = min(query.n_pairs, int(2e6 / query.n_blends) + 1)
                mine[f"{name} tuned"] = tune(search, query, pairs)
                print(label, name, json.dumps(mine[f"{name} tuned"], indent=1), flush=True)
                continue
            mine[name], result = whole(search, query, name, options.out, label)
            if f"{name}.best" in more:
                mine[name] |= against_cpu(query, more, name, result)
            print(label, name, json.dumps(mine[name], indent=1), flush=True)
    if options.out is not None:
        (options.out / "gpu_search.json").write_text(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
