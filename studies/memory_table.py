"""Small tables in memory: a collection and a transition table without files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.frames import Frames
from motionloom.tables.collection.labels import Label
from motionloom.tables.index.clusters import find_clusters, find_lookup
from motionloom.tables.index.index_build import build_index
from motionloom.tables.paper.paper_search import PaperJob, search_rows, times_of
from motionloom.tables.score.columns import PAPER, Ranking
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.pair_search import NONE
from motionloom.tables.search.search import SearchJob, search_chunk
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_contents import NO_RECIPE, NO_WINDOW, TableHeader, TableSources
from motionloom.tables.table_file import TableFile

__all__ = ["MemoryCollection", "MemoryTable", "paper_table_in_memory", "table_in_memory"]

EDITION = 2007


class MemoryCollection(Collection):
    """Frames and labels in memory."""

    def __init__(self, frames: Frames, labels: Sequence[Label]) -> None:
        self.path, self.frames, self.label_faults = Path("memory"), frames, ()
        self._ids, self._stored = frozenset(frames.ids), list(labels)

    def __reduce__(self) -> tuple[object, ...]:
        return MemoryCollection, (self.frames, self._stored)


class MemoryTable(TransitionTable):
    """A transition table that is pickled and copied with all its arrays."""

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self._opened, self.header, self.collection, self.neighbours)


def _unpickled(*parts: object) -> MemoryTable:
    *given, index = parts
    return MemoryTable(*given, index=index)  # type: ignore[arg-type]


def table_in_memory(
    frames: Frames,
    *,
    length: int,
    clusters: int = 8,
    keep: int = 32,
    ways: tuple[int, ...] = (2, 3, 4),
    ranking: Ranking = PAPER,
    family: str = "eased",
    labels: Sequence[Label] = (),
    seed: int = 0,
) -> MemoryTable:
    """A table between a few medoids, which are representatives and intermediaries at once.

    For a handful of clips: the search goes with the fourth power of ``clusters``, in one process,
    and nothing is written to disk. For more, :func:`motionloom.build_table`.

    Parameters
    ----------
    frames
        From :func:`motionloom.tables.collection.frames.frames_of`.
    length
        Frames of a transition.
    clusters, keep, ways, ranking, family, seed
        As for the table on disk.
    labels
        Names for some frames.
    """
    medoids = np.asarray(find_clusters(frames, length=length, clusters=clusters, seed=seed).medoids)
    lookup = find_lookup(frames, medoids, medoids, length=length)
    places = np.arange(len(medoids))
    terms = terms_of(frames, medoids, length, family=family)
    job = SearchJob(terms, places, places, places, ways, keep, ranking)
    chunks = [search_chunk(job, chunk) for chunk in range(job.n_chunks)]
    recipes = np.concatenate([each.recipes for each in chunks])  # (pairs, keep, 4)
    costs = np.concatenate([each.costs for each in chunks])
    arrays = {"medoids": medoids, "fine_medoids": medoids, **_recipe_arrays(recipes, costs),
              **{f"lookup.{name}": array for name, array in lookup.arrays().items()}}  # fmt: skip
    settings = {"family": family, "ways": list(ways)}
    header = TableHeader(length, settings, ranking, _NO_SOURCES, 0)
    return _table(frames, arrays, header, labels, seed)


_NO_SOURCES = TableSources("", "", {})


def paper_table_in_memory(frames: Frames, *, length: int, clusters: int) -> MemoryTable:
    """The papers' table of 2007, as ``build_table(method="paper")`` makes it."""
    medoids = np.asarray(find_clusters(frames, length=length, clusters=clusters, seed=0).medoids)
    lookup = find_lookup(frames, medoids, medoids, length=length)
    families = ("bernstein",)
    job = PaperJob(frames, medoids, length, (2, 3, 4), families, PAPER, EDITION, None)
    rows = sorted(search_rows(job, list(range(job.size)), 1), key=lambda row: row.source)
    recipes = np.stack([row.recipes for row in rows])  # (K, K, 4)
    costs = np.stack([row.costs for row in rows])
    chosen = np.stack([row.families for row in rows])
    arrays = {"medoids": medoids, "fine_medoids": medoids,
              **_recipe_arrays(recipes.reshape(-1, 1, 4), costs.reshape(-1, 1)),
              **times_of(job, recipes, chosen).arrays(),
              **{f"lookup.{name}": array for name, array in lookup.arrays().items()}}  # fmt: skip
    settings = {"family": families[0], "ways": [2, 3, 4], "method": "paper", "edition": EDITION,
                "families": list(families)}  # fmt: skip
    return _table(frames, arrays, TableHeader(length, settings, PAPER, _NO_SOURCES, 0), ())


def _recipe_arrays(recipes: np.ndarray, costs: np.ndarray) -> dict[str, np.ndarray]:
    """Recipes (pairs, keep, 4) and their costs (pairs, keep) as a file holds them."""
    between = np.full((*recipes.shape[:2], 2), NO_WINDOW, dtype=np.uint8)
    n_ways = np.sum(recipes != NONE, axis=-1)
    for k in range(2):
        between[..., k] = np.where(n_ways > k + 2, recipes[..., k + 1], NO_WINDOW)
    between[~np.isfinite(costs)] = NO_RECIPE
    size = round(len(recipes) ** 0.5)
    shape = (size, size, recipes.shape[1])
    return {"between": between.reshape(*shape, 2), "costs": costs.reshape(shape).astype(np.float16)}


def _table(
    frames: Frames,
    arrays: dict[str, np.ndarray],
    header: TableHeader,
    labels: Sequence[Label],
    seed: int = 0,
) -> MemoryTable:
    """A table of arrays that no file holds."""
    return MemoryTable(
        TableFile(Path("memory"), {"sections": []}, arrays, 0),
        header,
        MemoryCollection(frames, labels),
        index=build_index(frames, length=header.length, seed=seed),
    )
