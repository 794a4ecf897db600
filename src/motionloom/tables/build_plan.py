"""The plan of a table: what is to be built, from a request and a collection."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from motionloom.errors import ArrayError
from motionloom.tables.build_request import BuildRequest
from motionloom.tables.collection.collection import Collection
from motionloom.tables.index.windows import windows_of
from motionloom.tables.score.natural import ranking_of

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
