"""The engine of one GPU: it ranks all blends by tiles; the CPU scores the best of them again."""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from motionloom._arrays import whole
from motionloom.errors import TableError
from motionloom.features.balance import FLIGHT_LOAD, GRAVITY
from motionloom.tables.engines.engine import MOST_JOBS, Report, chunks_left, processors, reported
from motionloom.tables.engines.gpu_module import (
    LANES,
    N_COLUMNS,
    Build,
    Constants,
    PlainRanking,
    PlainTerms,
    build_for,
    compiled,
    find_device,
    job_type,
)
from motionloom.tables.score.columns import INCH, terms_record
from motionloom.tables.score.recipe import MOST_WAYS
from motionloom.tables.score.terms import STANDS, TURN_M, Terms
from motionloom.tables.search.pair_search import NONE, Kept, Middles, PairSearch, no_spreads
from motionloom.tables.search.search import FoundChunk, SearchJob, Shortlist, search_chunk

AT_A_TIME = 50_000_000
"""Blends between two looks at whether anybody still wants them: less than a second."""


@dataclass(frozen=True, slots=True)
class GpuEngine:
    """One NVIDIA GPU, through PyTorch.

    Its single precision sums in another order than a CPU's, so it only ranks: the table comes from
    the CPU's kernel, as with any engine.
    """

    device: str = "cuda"
    """As PyTorch names it."""
    jobs: int | None = None
    """Threads that score again; by default one for each processor that may be used."""

    def __post_init__(self) -> None:
        if self.jobs is not None:
            whole(self.jobs, "jobs", least=1, most=MOST_JOBS)

    def check(self) -> None:
        """Nothing, or an error that says what is missing for a search."""
        find_device(self.device)

    def search(
        self, job: SearchJob, *, skip: Collection[int] = (), progress: Report | None = None
    ) -> Iterator[FoundChunk]:
        """Found chunks, each as soon as it is done. See :class:`Engine`."""
        number = find_device(self.device)
        terms = plain_terms(job.terms)
        search = FusedSearch(terms, f"cuda:{number}", lambda b: compiled(b, number), LANES)
        jobs = processors() if self.jobs is None else self.jobs
        yield from reported(search_with(search, job, chunks_left(job, skip), jobs), job, progress)


def plain_terms(terms: Terms) -> PlainTerms:
    """Terms without anything that only this machine knows."""
    return PlainTerms(
        *terms.arrays,
        terms.weights,
        terms.taps[:, : 2 * terms.pad - 1],
        terms.sole,
        terms.masses,
        terms.length,
        terms.pad,
        terms_record(terms).roll,
        terms.fps,
        terms.low,
        Constants(GRAVITY, FLIGHT_LOAD, INCH, TURN_M),
    )


def query_of(job: SearchJob) -> Query:
    """A job in the form that the fused kernel reads."""
    query = Query(
        job.sources.astype(np.int32),
        job.targets.astype(np.int32),
        job.between.astype(np.int32),
        tuple(sorted(set(job.ways))),
        PlainRanking(job.ranking.linear, job.ranking.log),
    )
    short = job.shortlist
    if short is None:
        return query
    between = short.between.astype(np.int32)
    between[between == NONE] = -1
    parents = short.sources.astype(np.int32), short.targets.astype(np.int32)
    return query._replace(shortlist=between, coarse_sources=parents[0], coarse_targets=parents[1])


def search_with(
    search: FusedSearch, job: SearchJob, chunks: list[int], jobs: int
) -> Generator[FoundChunk, None, None]:
    """Found ``chunks`` of a job, ranked by ``search`` and scored again in ``jobs`` threads."""
    query = query_of(job)
    gone = threading.Event()
    pool = ThreadPoolExecutor(max(jobs, 1), thread_name_prefix="search")
    waiting: deque[Future[FoundChunk]] = deque()
    try:
        for run in _runs(job, chunks, query.n_blends):
            first, stop = job.pairs(run[0]).start, job.pairs(run[-1]).stop
            try:
                ranked = search.best(query, first, stop - first, candidates_of(job.keep))
                costs, places = (tensor.cpu().numpy() for tensor in ranked)
            except RuntimeError as error:
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
                raise TableError(
                    f"The GPU was lost or failed in the middle of the search ({reason}). What was "
                    "found is kept: build again to go on, there or on another engine."
                ) from error
            for chunk in run:
                pairs = job.pairs(chunk)
                some = slice(pairs.start - first, pairs.stop - first)
                waiting.append(
                    pool.submit(
                        rescore_chunk,
                        job,
                        query,
                        chunk,
                        costs[some],
                        places[some],
                        stop=gone.is_set,
                    )
                )
            while waiting and waiting[0].done():
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # The caller may have stopped, also by an interrupt: the rest is of no use.
        gone.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _runs(job: SearchJob, chunks: list[int], n_blends: int) -> Iterator[list[int]]:
    """Neighbouring chunks, as many as are scored at a time."""
    run: list[int] = []
    for chunk in chunks:
        blends = (job.pairs(chunk).stop - job.pairs(run[0]).start) * n_blends if run else 0
        if run and (chunk != run[-1] + 1 or blends > AT_A_TIME):
            yield run
            run = []
        run.append(chunk)
    if run:
        yield run


SLACK = 0.05
"""Twice what costs of the GPU and of the CPU may differ by, for the one that is kept last may be
wrong upwards and the one behind it downwards: what is worse by more need not be looked at."""


def rescore_chunk(
    job: SearchJob,
    query: Query,
    chunk: int,
    costs: npt.NDArray[np.float32],
    places: npt.NDArray[np.int32],
    *,
    stop: Callable[[], bool] = lambda: False,
) -> FoundChunk:
    """The best blends of a chunk from a GPU's candidates.

    If they are not certain, because many cost nearly the same, the pair is searched.

    Parameters
    ----------
    job, query
        What is searched, in both forms.
    chunk
        Which part of it.
    costs : (pairs, m)
        Of the candidates, rising.
    places : (pairs, m)
        Which blends of their pair they are.
    stop
        Asked before every pair; once it says so, this ends with a :class:`CancelledError`.
    """
    pairs = job.pairs(chunk)
    recipes = np.full((len(pairs), job.keep, MOST_WAYS), NONE, dtype=np.uint16)
    best_costs = np.full((len(pairs), job.keep), np.inf, dtype=np.float32)
    again = _Again(job, costs.shape[1])
    blends = query.recipes(np.arange(pairs.start, pairs.stop), places.astype(np.int64))
    for k, pair in enumerate(pairs):
        if stop():
            raise CancelledError(f"The search was left in chunk {chunk}.")
        last = costs[k, min(job.keep, costs.shape[1]) - 1] + np.float32(SLACK)
        if costs.shape[1] < query.n_blends and not costs[k, -1] > last:
            exact = _searched(job, pair)
            best_costs[k], recipes[k] = exact.costs[0], exact.recipes[0]
            continue
        near = (costs[k] <= last) & np.isfinite(costs[k])
        again.score(blends[k, near], Kept(best_costs[k], recipes[k]))
    return FoundChunk(chunk, recipes, best_costs)


class _Again:
    """The CPU's kernel, for chosen blends only."""

    def __init__(self, job: SearchJob, most: int) -> None:
        self.search = PairSearch(job.terms, job.between, job.ranking, no_spreads(), most)

    def score(self, blends: npt.NDArray[np.int32], best: Kept) -> None:
        """Score blends (n, 4) of one pair, -1 for no window."""
        if not len(blends):
            return
        ways = (blends >= 0).sum(axis=1)
        ends = int(blends[0, 0]), int(blends[0, ways[0] - 1])
        self.search.search(ends, (0, 0), _middles(blends, ways), best)


def _middles(blends: npt.NDArray[np.int32], ways: npt.NDArray[np.int64]) -> Middles:
    """Intermediaries of blends of two, three and four windows."""
    two, three, four = (blends[ways == n, 1:3].copy() for n in (2, 3, 4))
    two[:], three[:, 1] = NONE, NONE
    # Neighbours with the same first one share sums.
    four = four[np.lexsort(four.T[::-1])]
    return two.astype(np.uint16), three.astype(np.uint16), four.astype(np.uint16)


def _searched(job: SearchJob, pair: int) -> FoundChunk:
    """One pair searched on the CPU."""
    a, b = divmod(pair, len(job.targets))
    short = job.shortlist
    if short is not None:
        short = Shortlist(short.between, short.sources[a : a + 1], short.targets[b : b + 1])
    ends = job.sources[a : a + 1], job.targets[b : b + 1]
    alone = SearchJob(job.terms, *ends, job.between, job.ways, job.keep, job.ranking, short)
    return search_chunk(alone, 0)


IntArray32 = npt.NDArray[np.int32]
TILE_BYTES = 1 << 30
"""Costs that are kept at a time; choosing the best takes about twice as much again."""
SPARE = 32
"""Blends beyond twice those that are kept: enough that the last of them is clearly worse."""


def candidates_of(keep: int) -> int:
    """How many blends of a pair to find for the best ``keep`` to be surely among them."""
    return 2 * keep + SPARE


class Kernel(Protocol):
    """The fused kernel, compiled."""

    def search_tile(self, job: ctypes.Structure, blocks: int) -> None:
        """Score the blends of ``blocks`` blocks."""
        ...

    def score_recipes(self, job: ctypes.Structure, recipes: int) -> None:
        """Measure recipes."""
        ...


class Query(NamedTuple):
    """What is searched, in places in the terms; see ``SearchJob``."""

    sources: IntArray32
    targets: IntArray32
    between: IntArray32
    ways: tuple[int, ...]
    ranking: PlainRanking
    shortlist: IntArray32 | None = None
    """-1 for none. (A, B, M, 2)"""
    coarse_sources: IntArray32 | None = None
    coarse_targets: IntArray32 | None = None

    @property
    def parts(self) -> tuple[int, int, int]:
        """Blends of two, three and four windows that a pair has."""
        k = len(self.between)
        four = k * k if self.shortlist is None else self.shortlist.shape[2]
        ways = self.ways
        return int(2 in ways), k if 3 in ways else 0, four if 4 in ways else 0

    @property
    def n_blends(self) -> int:
        """Blends of a pair."""
        return sum(self.parts)

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.sources) * len(self.targets)

    def recipes(self, pairs: npt.NDArray[np.int64], places: npt.NDArray[np.int64]) -> IntArray32:
        """Windows (n, k, 4) of the blends at ``places`` (n, k) of pairs (n,), -1 for none."""
        two, three, _ = self.parts
        a, b = np.divmod(pairs, len(self.targets))
        out = np.full((*places.shape, 4), -1, dtype=np.int32)
        out[..., 0] = self.sources[a][:, None]
        target = np.broadcast_to(self.targets[b][:, None], places.shape)
        is_two, is_three = places < two, (places >= two) & (places < two + three)
        is_four = places >= two + three
        out[is_two, 1], out[is_three, 2], out[is_four, 3] = (
            target[some] for some in (is_two, is_three, is_four)
        )
        out[is_three, 1] = self.between[places[is_three] - two]
        late = places[is_four] - two - three
        if self.shortlist is None:
            first, second = np.divmod(late, len(self.between))
            out[is_four, 1], out[is_four, 2] = self.between[first], self.between[second]
        elif self.coarse_sources is not None and self.coarse_targets is not None:
            row = np.broadcast_to(np.arange(len(pairs))[:, None], places.shape)[is_four]
            coarse = self.coarse_sources[a][row], self.coarse_targets[b][row]
            out[is_four, 1:3] = self.shortlist[(*coarse, late)]
        return out


class FusedSearch:
    """Terms on a device, and the kernel that scores their blends.

    Parameters
    ----------
    terms
        Of all windows.
    device
        A device's name, as PyTorch has it.
    compiled
        Gives the kernel for a build.
    lanes
        Of a warp: frames are dealt to them.
    """

    def __init__(
        self, terms: PlainTerms, device: str, compiled: Callable[[Build], Kernel], lanes: int
    ) -> None:
        import torch

        self.terms, self.device, self.compiled, self.lanes = terms, device, compiled, lanes
        both = np.concatenate([terms.rows, terms.posture.transpose(0, 2, 1)], axis=1)
        self._kept = {
            "terms": self._on(self._dealt(both)),
            "anchors": self._on(self._dealt(terms.anchors)),
            "weights": self._on(self._dealt(terms.weights)),
            "stands": self._on(_stands(terms)),
            **{
                name: self._on(getattr(terms, name))
                for name in ("ahead", "spans", "counts", "reach")
            },
        }
        self._torch = torch

    def score(self, ids: IntArray32) -> Any:
        """Columns (n, C), on the device, of recipes (n, up to 4), -1 for none."""
        recipes = np.full((len(ids), 4), -1, dtype=np.int32)
        recipes[:, : ids.shape[1]] = ids
        kernel = self.compiled(build_for(self.terms))
        out = self._torch.full((len(ids), N_COLUMNS), float("nan"), device=self.device)
        held = {"recipes": self._on(recipes), "out": out}
        kernel.score_recipes(self._job(held), len(ids))
        return out

    def costs(self, query: Query, first_pair: int, n_pairs: int, out: Any = None) -> Any:
        """Costs (n_pairs, n_blends), on the device, of all blends of some pairs."""
        torch = self._torch
        kernel = self.compiled(
            build_for(self.terms, query.ranking, short=query.shortlist is not None)
        )
        if out is None:
            out = torch.full((n_pairs, query.n_blends), float("nan"), device=self.device)
        held = {name: self._on(getattr(query, name)) for name in ("sources", "targets", "between")}
        held["out"] = out
        two, three, four = (n in query.ways for n in (2, 3, 4))
        many = {
            "first_pair": first_pair,
            "n_targets": len(query.targets),
            "n_between": len(query.between),
            "n_blends": query.n_blends,
            "two": int(two),
            "three": int(three),
            "four": int(four) * len(query.between),
        }
        if query.shortlist is not None:
            held["shortlist"] = self._on(query.shortlist)
            held["coarse_sources"] = self._on(query.coarse_sources)
            held["coarse_targets"] = self._on(query.coarse_targets)
            many["n_short"], many["n_coarse"] = query.shortlist.shape[2], query.shortlist.shape[1]
            many["four"] = int(four)
        job = self._job(held, query.ranking, **many)
        blocks = n_pairs * (many["two"] + many["three"] + many["four"])
        kernel.search_tile(job, blocks)
        return out

    def best(self, query: Query, first_pair: int, n_pairs: int, keep: int) -> tuple[Any, Any]:
        """The least costs (n_pairs, keep) of some pairs, rising, and the places of their blends.

        As many pairs at a time as the memory holds.
        """
        torch = self._torch
        keep = min(keep, query.n_blends)
        tile = max(1, min(n_pairs, TILE_BYTES // (4 * max(query.n_blends, 1))))
        costs, places, at = [], [], 0
        while at < n_pairs:
            some = min(tile, n_pairs - at)
            try:
                every = self.costs(query, first_pair + at, some)
                top = torch.topk(every, keep, dim=1, largest=False, sorted=True)
                costs.append(top.values)
                places.append(top.indices.to(torch.int32))
                every = top = None
            except torch.OutOfMemoryError as error:
                every = top = None
                torch.cuda.empty_cache()
                if tile == 1:
                    raise TableError(
                        f"The GPU must have memory for the {query.n_blends:,} blends of one pair; "
                        f"it has not. Free its memory, use fewer clusters, or search on the CPU."
                    ) from error
                tile //= 2
                continue
            at += some
        return torch.cat(costs), torch.cat(places)

    def _dealt(self, frames: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Frames, last, dealt to lanes: a lane's own are neighbours, first ones come first."""
        lanes = self.lanes
        each = -(-frames.shape[-1] // lanes)
        wide = [(0, 0)] * (frames.ndim - 1) + [(0, each * lanes - frames.shape[-1])]
        dealt = np.pad(frames, wide).reshape(*frames.shape[:-1], lanes, each)
        return np.ascontiguousarray(dealt.swapaxes(-1, -2)).reshape(*frames.shape[:-1], -1)

    def _on(self, array: npt.NDArray[Any] | None) -> Any:
        import torch

        try:
            return torch.from_numpy(np.array(array, order="C")).to(self.device)
        except torch.OutOfMemoryError as error:
            raise TableError(
                f"The GPU must have memory for the terms of {self.terms.n_windows:,} windows; it "
                f"has not. Free its memory, use fewer clusters, or search on the CPU."
            ) from error

    def _job(
        self, held: dict[str, Any], ranking: PlainRanking | None = None, **many: int
    ) -> ctypes.Structure:
        """The arguments of the kernel; the arrays live as long as they do."""
        terms = self.terms
        job = job_type(terms.taps.shape[1], len(terms.masses))()
        held = {**self._kept, **held}
        for name, tensor in held.items():
            setattr(job, name, tensor.data_ptr())
        for name, value in many.items():
            setattr(job, name, value)
        job.roll, job.fps, job.low = terms.roll, terms.fps, terms.low
        linear, log = (np.zeros(N_COLUMNS),) * 2 if ranking is None else ranking
        for name, values in (
            ("sole", terms.sole),
            ("taps", terms.taps.reshape(-1)),
            ("inverse_masses", 1.0 / terms.masses),
            ("linear", linear),
            ("log", log),
        ):
            getattr(job, name)[:] = [float(value) for value in values]
        job.held = held
        return job


def _stands(terms: PlainTerms) -> IntArray32:
    """Whether each ball stands, a bit for each frame of the window, first ones lowest (W, 2, n)."""
    inner = slice(terms.pad, terms.pad + terms.length)
    stands = terms.rows[:, STANDS : STANDS + 2, inner] > 0.5
    bits = np.pad(stands, ((0, 0), (0, 0), (0, -terms.length % 32)))
    return (
        np.packbits(bits, axis=-1, bitorder="little").view("<u4").astype(np.uint32).view(np.int32)
    )
