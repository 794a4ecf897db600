"""MemoryTable: a table of few representatives, without a collection on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from motionloom._arrays import IntArray
from motionloom._records import record
from motionloom.tables.collection.frames import Frames
from motionloom.tables.collection.labels import Label, label_rows
from motionloom.tables.index.clusters import find_clusters
from motionloom.tables.index.lookup import Lookup, find_lookup
from motionloom.tables.index.neighbours import WindowIndex, build_index
from motionloom.tables.runtime_table import NO_RECIPE, NO_WINDOW
from motionloom.tables.score.columns import PAPER, Ranking
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.search import NONE, SearchJob, search_chunk

__all__ = ["MemoryTable", "table_in_memory"]


@dataclass(frozen=True, slots=True)
@record
class LabelledFrames:
    """Labels of frames in memory."""

    frames: Frames
    labels: tuple[Label, ...]

    def label_rows(self, label: str) -> IntArray:
        """Rows of every frame that carries a label, sorted."""
        return label_rows(self.labels, label, self.frames)


@dataclass(frozen=True, eq=False)
@record
class MemoryTable:
    """What transitions need of a table, in memory; see ``RuntimeTable``."""

    frames: Frames
    length: int
    family: str
    medoids: IntArray
    ends: IntArray
    between: npt.NDArray[np.uint8]
    costs: npt.NDArray[np.float16]
    lookup: Lookup
    neighbours: WindowIndex
    ranking: Ranking
    collection: LabelledFrames

    def __reduce__(self) -> tuple[object, ...]:
        # Not what was made ready: a copy makes its own.
        return MemoryTable, tuple(getattr(self, each.name) for each in fields(self))


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
    and nothing is kept on disk. For more, :func:`motionloom.build_table`.

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
    found = [search_chunk(job, chunk) for chunk in range(job.n_chunks)]
    recipes = np.concatenate([each.recipes for each in found])  # (pairs, keep, 4)
    costs = np.concatenate([each.costs for each in found])
    between = np.full((*recipes.shape[:2], 2), NO_WINDOW, dtype=np.uint8)
    n_ways = np.sum(recipes != NONE, axis=-1)
    for k in range(2):
        between[..., k] = np.where(n_ways > k + 2, recipes[..., k + 1], NO_WINDOW)
    between[~np.isfinite(costs)] = NO_RECIPE
    shape = (len(medoids), len(medoids), keep)
    return MemoryTable(
        frames,
        length,
        family,
        medoids,
        medoids,
        between.reshape(*shape, 2),
        costs.reshape(shape).astype(np.float16),
        lookup,
        build_index(frames, length=length, seed=seed),
        ranking,
        LabelledFrames(frames, tuple(labels)),
    )
