"""The plan of a table: what is to be built, from the options of build_table."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy.typing as npt

from motionloom._arrays import items, one_of, positive, whole
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection.collection import Collection
from motionloom.tables.index.windows import windows_of
from motionloom.tables.score.natural import RANKINGS, ranking_of
from motionloom.tables.score.recipe import FAMILIES, weights_of
from motionloom.tables.score.score import mass_parts
from motionloom.tables.table_arrays import NO_RECIPE
from motionloom.tables.table_header import EDITIONS, LONGEST_S, METHODS, SHORTEST

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
Method = tuple[int | None, str, str, tuple[int, tuple[str, ...]] | None]
"""Lookup, score, weights, and edition and families of the papers' method."""


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


class BuildOptions(TypedDict, total=False):
    """Keyword arguments of :func:`build_table` that few callers need."""

    ways: Iterable[int]
    lookup: int | None
    score: str | None
    weights: str | None
    jobs: int | None
    method: str
    edition: int
    masses: npt.ArrayLike | None


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """The rarer options of a build; :func:`build_table` describes them."""

    ways: Iterable[int] = (2, 3, 4)
    lookup: int | None = None
    score: str | None = None
    weights: str | None = None
    jobs: int | None = None
    method: str = METHODS[0]
    edition: int = EDITIONS[0]
    masses: npt.ArrayLike | None = None


def plan_build(
    collection: Collection,
    length_s: float,
    clusters: int | None,
    seed: int,
    settings: BuildSettings,
) -> BuildPlan:
    """The plan of a build, every option checked."""
    lookup, score, weights, paper = _method_of(settings)
    length = round(min(positive(length_s, "length_s"), 2.0 * LONGEST_S) * collection.fps)
    if not SHORTEST <= length <= LONGEST_S * collection.fps:
        raise TableError(
            f"`length_s` must be at least {SHORTEST} frames ({SHORTEST / collection.fps:.2g} s at "
            f"{collection.fps:g} fps) and at most {LONGEST_S:g} s, got {length_s:g}."
        )
    several = items(settings.ways, "ways", "numbers among 2, 3 and 4, as (2, 3)")
    wanted = tuple(sorted({whole(n, "ways", least=2, most=4) for n in several}))
    if not wanted:
        raise ArrayError("`ways` must be among 2, 3 and 4, got none.")
    seed = whole(seed, "seed", least=0)
    stride = max(1, round(STRIDE_S * collection.fps))
    if clusters is None:
        enough = min(max(round(collection.frames.n_rows / collection.fps / CLUSTER_S), 12), 50)
        clusters = min(
            enough, len(windows_of(collection.frames, length, stride=stride, at_least=2))
        )
    clusters = whole(clusters, "clusters")
    lookup = None if lookup is None else whole(lookup, "lookup")
    ranking_of(score)
    weights_of(one_of(weights, FAMILIES, "weights"), 2, length)
    masses = None if settings.masses is None else tuple(mass_parts(settings.masses).tolist())
    if not 2 <= clusters <= NO_RECIPE:
        raise ArrayError(f"`clusters` must be 2 to {NO_RECIPE}, got {clusters}.")
    n_windows = len(windows_of(collection.frames, length, stride=stride, at_least=clusters))
    if lookup is None:
        lookup = clusters if paper else max(clusters, min(FINE, n_windows // 4))
    elif paper and lookup != clusters:
        raise ArrayError(
            f'`lookup` must be `clusters` ({clusters}) with `method="paper"`, got {lookup}. Leave '
            "it out."
        )
    elif not clusters <= lookup <= n_windows:
        raise ArrayError(
            f"`lookup` must be {clusters} (as many as clusters) to {n_windows} (every window), "
            f"got {lookup}."
        )
    keep = 1 if paper else KEPT
    return BuildPlan(length, clusters, lookup, wanted, seed, score, weights, keep, paper, masses)


def _method_of(settings: BuildSettings) -> Method:
    """Lookup, score and weights as given or by the method, and edition and families of papers."""
    method = one_of(settings.method, METHODS, "method")
    edition = whole(settings.edition, "edition")
    if edition not in EDITIONS:
        raise ArrayError(f"`edition` must be 2006 or 2007, got {edition}.")
    score, weights = settings.score, settings.weights
    if method == METHODS[0]:
        score = "natural" if score is None else score
        return settings.lookup, score, "eased" if weights is None else weights, None
    if score is not None and one_of(score, RANKINGS, "score") != "paper":
        raise ArrayError(f'`score` must be "paper" with `method="paper"`, got {score!r}.')
    weights = "bernstein" if weights is None else one_of(weights, (*FAMILIES, "search"), "weights")
    families = tuple(FAMILIES) if weights == "search" else (weights,)
    return settings.lookup, "paper", families[0], (edition, families)
