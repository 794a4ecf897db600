"""build_table: representatives, the search of all recipes between them, and the file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from motionloom._arrays import flag, items, of_kind, one_of, positive, whole
from motionloom._progress import progress_bar
from motionloom.body.masses import mass_parts
from motionloom.errors import ArrayError, TableError
from motionloom.files.reading import path_of
from motionloom.tables.collection.catalogue import checked_rate, disk_errors
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.frames import check_frames
from motionloom.tables.collection.store import forget_before
from motionloom.tables.engines.engine import Checked, Engine
from motionloom.tables.engines.engine_choice import engine_of
from motionloom.tables.index.clusters import find_clusters, find_lookup
from motionloom.tables.index.index_build import window_index
from motionloom.tables.index.windows import windows_of
from motionloom.tables.paper.paper_search import PaperJob, search_paper
from motionloom.tables.score.natural import RANKINGS, ranking_of
from motionloom.tables.score.recipe import FAMILIES, weights_of
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.pair_search import NONE
from motionloom.tables.search.search import SearchJob, Shortlist
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_contents import (
    EDITIONS,
    LONGEST_S,
    METHODS,
    NO_RECIPE,
    NO_WINDOW,
    SHORTEST,
    check_representatives,
    relative_to,
)
from motionloom.tables.table_file import Arrays, Parts, TableFile, locked, write_table_file

BUILD = 1
"""Raised when the same inputs would give another table: parts of older builds do not fit then."""
FINE = 200
"""Representatives that sources and targets are looked up among; see ``trials``: with 50 the
recipes fit real frames worse."""
KEPT = 32
"""Recipes kept for each pair of representatives."""
CLUSTER_S = 4.0
"""Seconds of a collection for each cluster, where their number is not given."""
STRIDE_S = 1.0 / 12.0
"""Windows are clustered at this distance: a shorter one finds no better clusters."""
COSTS_KEPT = 8
"""Recipes whose costs are kept too: their order says the rest."""
SHORTLIST = 96
"""Recipes of the coarse search that are tried again between finer representatives."""


def build_table(
    collection: Collection,
    *,
    out: str | Path | None = None,
    length_s: float = 1.0,
    clusters: int | None = None,
    ways: Iterable[int] = (2, 3, 4),
    seed: int = 0,
    lookup: int | None = None,
    score: str | None = None,
    weights: str | None = None,
    method: str = METHODS[0],
    edition: int | None = None,
    masses: npt.ArrayLike | None = None,
    jobs: int | None = None,
    engine: Engine | None = None,
    progress: bool = True,
) -> TransitionTable:
    """The table of the best recipes between a collection's representative windows, on disk.

    All blends between all pairs of representatives are tried. A build that was stopped resumes
    where it was when it is started again in the same way; the same collection, settings and seed
    give the same bytes, whatever ``jobs``.

    Parameters
    ----------
    collection
        From :meth:`Collection.ingest` or :meth:`Collection.open`.
    out
        The file; by default next to the collection, with the suffix ``.mlt``.
    length_s
        Duration of a transition, seconds.
    clusters
        Number of clusters of windows; their medoids are the intermediaries of recipes. By default
        one for every 4 s of the collection, at least 12 and at most 50. The time of a search grows
        with the fourth power of this number, and few clips hold few different motions.
    ways
        How many windows a blend may have: 2, 3, 4.
    seed
        Of what is drawn at random.
    lookup
        Representatives that sources and targets are looked up among; 200, or fewer in a small
        collection. As many as ``clusters`` makes the table of the paper.
    score
        What is best: ``"natural"`` is fitted to captured motion, ``"paper"`` is the papers' sum of
        inches, which finds what is feasible.
    weights
        How windows are weighed over a blend: ``"eased"``, as transitions are made, leaves the
        source gently; ``"bernstein"`` is the papers'; ``"hat"`` shows each intermediary alone once.
        With ``method="paper"`` also ``"search"``: the best of all three for each recipe.
    method
        ``"paper"`` builds the table of the papers: windows are matched in time, one recipe is kept
        for each pair of clusters with its time alignment, and transitions are made as the papers
        make them. Then ``score`` is ``"paper"``, ``weights`` is ``"bernstein"``, ``lookup`` is
        ``clusters``.
    edition
        With ``method="paper"`` only: 2007, the default, averages joint positions and restores bone
        lengths; 2006 interpolates rotations and matches windows from border minima.
    masses : (16,)
        Parts of body mass of the segments, for balance, as :func:`motionloom.fit_masses` finds
        them for a subject; those of Winter's average body by default.
    jobs
        Threads; by default one for each processor.
    engine
        Where to search instead: from :func:`motionloom.engine_of`, on a
        GPU or on a cluster.
    progress
        Whether to draw bars with the time left, if standard error is a terminal.

    Returns
    -------
    TransitionTable
        The table, open; its file is ``table.file``, and ``table.dead_ends()`` names clips and
        labels that a live character can only continue badly.

    Raises
    ------
    TableError
        The collection is too small for these settings, or the table cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import motionloom as ml
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for kind in ("walk", "run"):
    ...         ml.save(ml.synthetic.clip(kind, duration_s=1.5, fps=20).motion,
    ...                 Path(place) / f"{kind}.bvh")
    ...     lib = ml.Collection.ingest(place, out=Path(place) / "lib.mlc", fps=20)
    ...     table = build_table(lib, length_s=0.5, clusters=3, progress=False)
    ...     table.transition(("walk", 3), ("run", 20), longest_s=0.5).motion.n_frames
    10
    """
    of_kind(collection, Collection, "collection")
    given = GivenOptions(
        length_s, clusters, ways, seed, lookup, score, weights, method, edition, masses
    )
    plan = plan_build(collection, checked_request(collection.fps, given))
    progress = flag(progress, "progress")
    if engine is None:
        engine = engine_of(jobs=jobs)
    elif jobs is not None:
        raise ArrayError("`jobs` are threads of this machine: give `jobs` or `engine`.")
    elif plan.paper is not None:
        raise ArrayError('A table with `method="paper"` is built on threads: leave `engine` out.')
    if not callable(getattr(engine, "search", None)):
        raise ArrayError(
            f"`engine` must search on threads, a GPU or a cluster, got {engine!r:.80}."
        )
    if isinstance(engine, Checked):
        engine.check()  # before anything is written
    place = collection.path
    if place.name in ("", ".."):
        place = place.resolve()
    target = path_of(place.with_suffix(".mlt") if out is None else out, "out")
    if target.is_dir():
        raise TableError(f"{target} must be a file to write, but is a folder. Add a file name.")
    with disk_errors(target, "Nothing was changed."):
        target.parent.mkdir(parents=True, exist_ok=True)
    with locked(target):
        _build(collection, plan, target, jobs if plan.paper else engine, progress)
        forget_before(collection.source_folder, collection.path)
    return TransitionTable.open(target, collection=collection)


Method = tuple[str, str, tuple[int, tuple[str, ...]] | None]
"""Score, family of weights, and edition and families of the papers' method."""


@dataclass(frozen=True, slots=True)
class GivenOptions:
    """Options that decide about the recipes of a table, as given to :func:`build_table`."""

    length_s: float
    clusters: int | None
    ways: Iterable[int]
    seed: int
    lookup: int | None
    score: str | None
    weights: str | None
    method: str
    edition: int | None
    masses: npt.ArrayLike | None


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """Checked options; clusters and lookup may be left to the collection."""

    length: int
    """Frames of a window."""
    clusters: int | None
    lookup: int | None
    ways: tuple[int, ...]
    seed: int
    score: str
    weights: str
    paper: tuple[int, tuple[str, ...]] | None
    """Edition and families of weights of the papers' method."""
    masses: tuple[float, ...] | None


def check_build_options(
    *,
    fps: float = 60.0,
    length_s: float = 1.0,
    clusters: int | None = None,
    ways: Iterable[int] = (2, 3, 4),
    seed: int = 0,
    lookup: int | None = None,
    score: str | None = None,
    weights: str | None = None,
    method: str = METHODS[0],
    edition: int | None = None,
    masses: npt.ArrayLike | None = None,
    jobs: int | None = None,
) -> int:
    """Check options of :func:`build_table` before the collection is made, which takes time.

    What depends on the clips, such as the largest number of clusters, is checked by the build.

    Parameters
    ----------
    fps
        Rate of the collection.
    length_s, clusters, seed, ways, lookup, score, weights, jobs, method, edition, masses
        As of :func:`build_table`.

    Returns
    -------
    int
        Frames of a transition of ``length_s``.

    Raises
    ------
    ArrayError, TableError
        An option is wrong; the text says what must hold.

    Examples
    --------
    >>> check_build_options(fps=30.0, length_s=0.5)
    15
    """
    given = GivenOptions(
        length_s, clusters, ways, seed, lookup, score, weights, method, edition, masses
    )
    if jobs is not None:
        whole(jobs, "jobs", least=1)
    return checked_request(checked_rate(fps, "fps"), given).length


def checked_request(fps: float, given: GivenOptions) -> BuildRequest:
    """Options of a build on a collection at ``fps``."""
    score, weights, paper = _method_of(given)
    length_s = positive(given.length_s, "length_s")
    length = round(min(length_s, 2.0 * LONGEST_S) * fps)
    if not SHORTEST <= length <= LONGEST_S * fps:
        raise TableError(
            f"`length_s` must be at least {SHORTEST} frames ({SHORTEST / fps:.2g} s at "
            f"{fps:g} fps) and at most {LONGEST_S:g} s, got {length_s:g}."
        )
    several = items(given.ways, "ways", "numbers among 2, 3 and 4, as (2, 3)")
    ways = tuple(sorted({whole(n, "ways", least=2, most=4) for n in several}))
    if not ways:
        raise ArrayError("`ways` must be among 2, 3 and 4, got none.")
    seed = whole(given.seed, "seed", least=0)
    clusters = None if given.clusters is None else whole(given.clusters, "clusters")
    lookup = None if given.lookup is None else whole(given.lookup, "lookup")
    ranking_of(score)
    weights_of(one_of(weights, FAMILIES, "weights"), 2, length)
    masses = None if given.masses is None else tuple(mass_parts(given.masses).tolist())
    if clusters is not None and not 2 <= clusters <= NO_RECIPE:
        raise ArrayError(f"`clusters` must be 2 to {NO_RECIPE}, got {clusters}.")
    return BuildRequest(length, clusters, lookup, ways, seed, score, weights, paper, masses)


def _method_of(given: GivenOptions) -> Method:
    """Score and weights as given or by the method, and edition and families of the papers'."""
    method = one_of(given.method, METHODS, "method")
    edition = EDITIONS[0] if given.edition is None else whole(given.edition, "edition")
    if edition not in EDITIONS:
        raise ArrayError(f"`edition` must be 2006 or 2007, got {edition}.")
    score, weights = given.score, given.weights
    if method == METHODS[0]:
        if given.edition is not None:
            raise ArrayError(
                f'`edition` must be left out without `method="paper"`, got {edition}. Add '
                'method="paper", or leave `edition` out.'
            )
        score = "natural" if score is None else score
        return score, "eased" if weights is None else weights, None
    if score is not None and one_of(score, RANKINGS, "score") != "paper":
        raise ArrayError(f'`score` must be "paper" with `method="paper"`, got {score!r}.')
    weights = "bernstein" if weights is None else one_of(weights, (*FAMILIES, "search"), "weights")
    families = tuple(FAMILIES) if weights == "search" else (weights,)
    return "paper", families[0], (edition, families)


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """What is to be built."""

    length: int
    clusters: int
    fine: int
    ways: tuple[int, ...]
    seed: int
    score: str
    weights: str
    keep: int
    paper: tuple[int, tuple[str, ...]] | None = None
    """Edition and families of weights of the papers' method."""
    masses: tuple[float, ...] | None = None

    def settings(self) -> dict[str, Any]:
        """As values that JSON can hold; tables of before have none of the last three."""
        more: dict[str, Any] = {} if self.masses is None else {"masses": list(self.masses)}
        if self.paper is not None:
            edition, families = self.paper
            more |= {"method": "paper", "edition": edition, "families": list(families)}
        return more | {
            "clusters": self.clusters,
            "lookup": self.fine,
            "ways": list(self.ways),
            "seed": self.seed,
            "score": self.score,
            "keep": self.keep,
            "family": self.weights,
        }

    def digest(self, collection: Collection) -> str:
        """Name of everything that decides about the bytes of the table."""
        ranking = ranking_of(self.score).weights()
        inputs = [BUILD, collection.digest, self.length, self.settings(), ranking]
        text = json.dumps(inputs, sort_keys=True)
        return hashlib.blake2b(text.encode("ascii"), digest_size=16).hexdigest()


def plan_build(collection: Collection, request: BuildRequest) -> BuildPlan:
    """The plan of a build: the request, with what it leaves to the collection."""
    length, clusters, lookup = request.length, request.clusters, request.lookup
    stride = max(1, round(STRIDE_S * collection.fps))
    if clusters is None:
        enough = min(max(round(collection.frames.n_rows / collection.fps / CLUSTER_S), 12), 50)
        clusters = min(
            enough, len(windows_of(collection.frames, length, stride=stride, at_least=2))
        )
    n_windows = len(windows_of(collection.frames, length, stride=stride, at_least=clusters))
    if lookup is None:
        lookup = clusters if request.paper else max(clusters, min(FINE, n_windows // 4))
    elif request.paper and lookup != clusters:
        raise ArrayError(
            f'`lookup` must be `clusters` ({clusters}) with `method="paper"`, got {lookup}. Leave '
            "it out."
        )
    elif not clusters <= lookup <= n_windows:
        raise ArrayError(
            f"`lookup` must be {clusters} (as many as clusters) to {n_windows} (every window), "
            f"got {lookup}."
        )
    return BuildPlan(
        length, clusters, lookup, request.ways, request.seed, request.score, request.weights,
        1 if request.paper else KEPT, request.paper, request.masses,
    )  # fmt: skip


def _build(
    collection: Collection,
    plan: BuildPlan,
    target: Path,
    engine: Engine | int | None,
    progress: bool,
) -> None:
    """Search by an engine or, with the papers' method, by threads; write table and window index."""
    check_frames(collection.frames)
    parts = Parts(target)
    inputs = plan.digest(collection)
    chosen = _representatives(collection, plan, parts, inputs, progress)
    masses = None if plan.masses is None else np.array(plan.masses)
    if engine is None or isinstance(engine, int):
        assert plan.paper is not None
        edition, families = plan.paper
        job = PaperJob(
            collection.frames, chosen["medoids"].astype(np.int64), plan.length, plan.ways,
            families, ranking_of(plan.score), edition, masses,
        )  # fmt: skip
        recipes, costs, times = search_paper(job, parts, jobs=engine, progress=progress)
        _write(target, collection, plan, {**chosen, **times}, recipes, costs)
    else:
        recipes, costs = _searched(collection, plan, parts, chosen, engine, progress)
        _write(target, collection, plan, chosen, recipes, costs)
    window_index(collection, plan.length)
    parts.discard()


def _representatives(
    collection: Collection, plan: BuildPlan, parts: Parts, inputs: str, progress: bool
) -> Arrays:
    """Medoids of both sets and the lookup of every row, computed or found among the parts."""
    stored = parts.load(
        "representatives",
        inputs,
        lambda file: check_representatives(file, plan.length, collection.frames.starts),
    )
    if stored is not None:
        return stored
    parts.discard()  # they belong to other inputs
    frames = collection.frames
    stride = max(1, round(STRIDE_S * collection.fps))
    options: dict[str, Any] = {"length": plan.length, "stride": stride, "seed": plan.seed}
    with progress_bar("finding clusters", 3, shown=progress) as advance:
        coarse = find_clusters(frames, clusters=plan.clusters, **options).medoids
        advance(1.0)
        fine = coarse
        if plan.fine > plan.clusters:
            fine = find_clusters(frames, clusters=plan.fine, method="means", **options).medoids
        advance(1.0)
        lookup = find_lookup(frames, coarse, fine, length=plan.length)
        advance(1.0)
    chosen: Arrays = {
        "medoids": coarse.astype(np.uint32),
        "fine_medoids": fine.astype(np.uint32),
        **{f"lookup.{name}": array for name, array in lookup.arrays().items()},
    }
    parts.save("representatives", inputs, chosen)
    return chosen


def _searched(
    collection: Collection,
    plan: BuildPlan,
    parts: Parts,
    chosen: Arrays,
    engine: Engine,
    progress: bool,
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.float32]]:
    """Best recipes (E, E, keep, 4) and their costs between all representatives."""
    coarse, fine = chosen["medoids"], chosen["fine_medoids"]
    masses = None if plan.masses is None else np.array(plan.masses)
    terms = terms_of(
        collection.frames, np.concatenate([coarse, fine]).astype(np.int64), plan.length,
        family=plan.weights, masses=masses,
    )  # fmt: skip
    between = np.arange(len(coarse))
    is_fine = plan.fine > plan.clusters
    job = SearchJob(
        terms, between, between, between, plan.ways,
        SHORTLIST if is_fine else plan.keep, ranking_of(plan.score),
    )  # fmt: skip
    recipes, costs = _search_chunks(parts, job, "search", engine, progress)
    if is_fine:
        parents = chosen["lookup.coarse"][fine].astype(np.int64)
        ends = len(coarse) + np.arange(len(fine))
        short = Shortlist(_four_way(recipes), parents, parents)
        job = SearchJob(
            terms, ends, ends, between, plan.ways, plan.keep, job.ranking, shortlist=short
        )
        recipes, costs = _search_chunks(parts, job, "refine", engine, progress)
    return recipes, costs


def _search_chunks(
    parts: Parts, job: SearchJob, name: str, engine: Engine, progress: bool
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.float32]]:
    """Best recipes (S, T, keep, 4) and their costs (S, T, keep) of a job, chunk by chunk."""
    inputs = job.digest()
    recipes = np.full((job.n_pairs, job.keep, 4), NONE, dtype=np.uint16)
    costs = np.full((job.n_pairs, job.keep), np.inf, dtype=np.float32)
    done = set()
    for chunk in range(job.n_chunks):
        pairs = job.pairs(chunk)
        check = partial(_check_chunk, shape=(len(pairs), job.keep), n_windows=job.terms.n_windows)
        stored = parts.load(f"{name}-{chunk:05d}", inputs, check)
        if stored is not None:
            recipes[pairs.start : pairs.stop] = stored["recipes"]
            costs[pairs.start : pairs.stop] = stored["costs"]
            done.add(chunk)
    left = job.n_pairs - sum(len(job.pairs(chunk)) for chunk in done)
    with progress_bar(f"searching {job.n_recipes:,} blends", left, shown=progress) as advance:
        for result in engine.search(job, skip=done, progress=advance):
            pairs = job.pairs(result.chunk)
            recipes[pairs.start : pairs.stop] = result.recipes
            costs[pairs.start : pairs.stop] = result.costs
            parts.save(
                f"{name}-{result.chunk:05d}",
                inputs,
                {"recipes": result.recipes, "costs": result.costs},
            )
    shape = len(job.sources), len(job.targets), job.keep
    return recipes.reshape(*shape, 4), costs.reshape(shape)


def _check_chunk(file: TableFile, *, shape: tuple[int, int], n_windows: int) -> None:
    """Check what a part holds of a search: places in the terms, the costs of the best first."""
    recipes = file.array("recipes", "<u2", (*shape, 4))
    if ((recipes >= n_windows) & (recipes != NONE)).any():
        raise file.damaged("a recipe names a window that is not there")
    if np.isnan(file.array("costs", "<f4", shape)).any():
        raise file.damaged("a recipe must have a cost")


def _four_way(recipes: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    """Intermediaries of the four-way recipes among (S, T, M, 4), NONE for the others, (S, T, M, 2).

    In the order of their intermediaries, for the search shares what neighbours have in common.
    """
    between = np.array(recipes[..., 1:3])
    between[recipes[..., 3] == NONE] = NONE
    keys = between[..., 0].astype(np.int64) * (NONE + 1) + between[..., 1]
    order = np.argsort(keys, axis=-1, kind="stable")
    return np.take_along_axis(between, order[..., None], axis=-2)


def _write(
    target: Path,
    collection: Collection,
    plan: BuildPlan,
    chosen: Arrays,
    recipes: npt.NDArray[np.uint16],
    costs: npt.NDArray[np.float32],
) -> None:
    # Source and target are the entry's own; of the intermediaries a byte each says which cluster.
    between = np.full((*costs.shape, 2), NO_WINDOW, dtype=np.uint8)
    three, four = recipes[..., 2] != NONE, recipes[..., 3] != NONE
    between[three, 0] = recipes[three, 1]
    between[four, 1] = recipes[four, 2]
    between[~np.isfinite(costs)] = NO_RECIPE
    stored_costs = np.minimum(costs[..., :COSTS_KEPT], np.finfo(np.float16).max).astype(np.float16)
    header = {
        "length": plan.length,
        "settings": plan.settings(),
        "ranking": ranking_of(plan.score).weights(),
        "collection": {
            "path": relative_to(collection.path, target.parent),
            "digest": collection.digest,
            "clips": list(collection.clip_digests.items()),
        },
    }
    write_table_file(target, header, {**chosen, "between": between, "costs": stored_costs})
