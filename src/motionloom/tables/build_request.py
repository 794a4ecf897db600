"""The options of a table to build, checked before a collection is read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy.typing as npt

from motionloom._arrays import items, known_options, one_of, positive, whole
from motionloom.body.proportions import mass_parts
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection.catalogue_check import checked_rate
from motionloom.tables.score.natural import RANKINGS, ranking_of
from motionloom.tables.score.recipe import FAMILIES, weights_of
from motionloom.tables.table_arrays import NO_RECIPE
from motionloom.tables.table_header import EDITIONS, LONGEST_S, METHODS, SHORTEST

Method = tuple[int | None, str, str, tuple[int, tuple[str, ...]] | None]


class BuildOptions(TypedDict, total=False):
    """Keyword arguments of :func:`motionloom.build_table` that few callers need."""

    ways: Iterable[int]
    lookup: int | None
    score: str | None
    weights: str | None
    jobs: int | None
    method: str
    edition: int | None
    masses: npt.ArrayLike | None


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """The rarer options of a build; :func:`motionloom.build_table` describes them."""

    ways: Iterable[int] = (2, 3, 4)
    lookup: int | None = None
    score: str | None = None
    weights: str | None = None
    jobs: int | None = None
    method: str = METHODS[0]
    edition: int | None = None
    masses: npt.ArrayLike | None = None


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
    seed: int = 0,
    **options: Unpack[BuildOptions],
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
    known_options("check_build_options", BuildSettings, options)
    settings = BuildSettings(**options)
    if settings.jobs is not None:
        whole(settings.jobs, "jobs", least=1)
    return checked_request(checked_rate(fps, "fps"), length_s, clusters, seed, settings).length


def checked_request(
    fps: float, length_s: float, clusters: int | None, seed: int, settings: BuildSettings
) -> BuildRequest:
    """Options of a build on a collection at ``fps``."""
    lookup, score, weights, paper = _method_of(settings)
    length = round(min(positive(length_s, "length_s"), 2.0 * LONGEST_S) * fps)
    if not SHORTEST <= length <= LONGEST_S * fps:
        raise TableError(
            f"`length_s` must be at least {SHORTEST} frames ({SHORTEST / fps:.2g} s at "
            f"{fps:g} fps) and at most {LONGEST_S:g} s, got {length_s:g}."
        )
    several = items(settings.ways, "ways", "numbers among 2, 3 and 4, as (2, 3)")
    ways = tuple(sorted({whole(n, "ways", least=2, most=4) for n in several}))
    if not ways:
        raise ArrayError("`ways` must be among 2, 3 and 4, got none.")
    seed = whole(seed, "seed", least=0)
    clusters = None if clusters is None else whole(clusters, "clusters")
    lookup = None if lookup is None else whole(lookup, "lookup")
    ranking_of(score)
    weights_of(one_of(weights, FAMILIES, "weights"), 2, length)
    masses = None if settings.masses is None else tuple(mass_parts(settings.masses).tolist())
    if clusters is not None and not 2 <= clusters <= NO_RECIPE:
        raise ArrayError(f"`clusters` must be 2 to {NO_RECIPE}, got {clusters}.")
    return BuildRequest(length, clusters, lookup, ways, seed, score, weights, paper, masses)


def _method_of(settings: BuildSettings) -> Method:
    """Lookup, score and weights as given or by the method, and edition and families of papers."""
    method = one_of(settings.method, METHODS, "method")
    edition = EDITIONS[0] if settings.edition is None else whole(settings.edition, "edition")
    if edition not in EDITIONS:
        raise ArrayError(f"`edition` must be 2006 or 2007, got {edition}.")
    score, weights = settings.score, settings.weights
    if method == METHODS[0]:
        if settings.edition is not None:
            raise ArrayError(
                f'`edition` must be left out without `method="paper"`, got {edition}. Add '
                'method="paper", or leave `edition` out.'
            )
        score = "natural" if score is None else score
        return settings.lookup, score, "eased" if weights is None else weights, None
    if score is not None and one_of(score, RANKINGS, "score") != "paper":
        raise ArrayError(f'`score` must be "paper" with `method="paper"`, got {score!r}.')
    weights = "bernstein" if weights is None else one_of(weights, (*FAMILIES, "search"), "weights")
    families = tuple(FAMILIES) if weights == "search" else (weights,)
    return settings.lookup, "paper", families[0], (edition, families)
