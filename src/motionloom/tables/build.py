"""build_table: representatives, the search of all recipes between them, and the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from motionloom._arrays import flag, known_options, of_kind
from motionloom._progress import progress_bar
from motionloom.errors import ArrayError, TableError
from motionloom.files.reading import path_of
from motionloom.tables.build_parts import Parts, locked
from motionloom.tables.build_plan import (
    STRIDE_S,
    BuildPlan,
    plan_build,
)
from motionloom.tables.build_request import BuildOptions, BuildSettings, checked_request
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.frames import check_frames
from motionloom.tables.collection.generations import forget_before
from motionloom.tables.collection.store import disk_errors
from motionloom.tables.engines.engine import Checked, Engine
from motionloom.tables.engines.engine_choice import engine_of
from motionloom.tables.index.clusters import find_clusters
from motionloom.tables.index.lookup import find_lookup
from motionloom.tables.paper.paper_build import search_paper
from motionloom.tables.paper.paper_search import PaperJob
from motionloom.tables.score.natural import ranking_of
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.search import NONE, SearchJob, Shortlist
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_arrays import NO_RECIPE, NO_WINDOW, check_representatives
from motionloom.tables.table_file import write_table_file
from motionloom.tables.table_header import relative_to
from motionloom.tables.window_index import window_index

COSTS_KEPT = 8
"""Recipes whose costs are kept too: their order says the rest."""
SHORTLIST = 96
"""Recipes of the coarse search that are tried again between finer representatives."""
Arrays = dict[str, npt.NDArray[Any]]


def build_table(
    collection: Collection,
    *,
    out: str | Path | None = None,
    length_s: float = 1.0,
    clusters: int | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    progress: bool = True,
    **options: Unpack[BuildOptions],
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
    known_options("build_table", BuildSettings, options)
    settings = BuildSettings(**options)
    request = checked_request(collection.fps, length_s, clusters, seed, settings)
    plan = plan_build(collection, request)
    progress = flag(progress, "progress")
    if engine is None:
        engine = engine_of(jobs=settings.jobs)
    elif settings.jobs is not None:
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
        _build(collection, plan, target, settings.jobs if plan.paper else engine, progress)
        forget_before(collection.source_folder, collection.path)
    return TransitionTable.open(target, collection=collection)


def _build(
    collection: Collection,
    plan: BuildPlan,
    target: Path,
    engine: Engine | int | None,
    progress: bool,
) -> None:
    """Search what is left to search, by an engine or, in the papers' way, threads; write it all."""
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
    recipes, costs = parts.search(job, "search", engine, progress)
    if is_fine:
        parents = chosen["lookup.coarse"][fine].astype(np.int64)
        ends = len(coarse) + np.arange(len(fine))
        short = Shortlist(_four_way(recipes), parents, parents)
        job = SearchJob(
            terms, ends, ends, between, plan.ways, plan.keep, job.ranking, shortlist=short
        )
        recipes, costs = parts.search(job, "refine", engine, progress)
    return recipes, costs


def _representatives(
    collection: Collection, plan: BuildPlan, parts: Parts, inputs: str, progress: bool
) -> Arrays:
    """Medoids of both sets and the lookup of every row, made or found among the parts."""
    stored = parts.load(
        "representatives",
        inputs,
        lambda file: check_representatives(file, plan.length, collection.frames.starts),
    )
    if stored is not None:
        return stored
    parts.discard()  # all of it was made from something else
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
