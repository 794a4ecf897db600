"""The contents of a table file, its header and its arrays, checked value by value."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import FloatArray, IntArray
from motionloom._core import integer
from motionloom.errors import TableError
from motionloom.files.reading import path_of
from motionloom.tables.collection.collection import Collection
from motionloom.tables.index.clusters import NOWHERE, Lookup
from motionloom.tables.paper.time_alignment import PAPER_ARRAYS, check_recipe_times
from motionloom.tables.score.columns import COLUMNS, Ranking
from motionloom.tables.score.recipe import FAMILIES, Recipe
from motionloom.tables.score.terms import N_SEGMENTS
from motionloom.tables.table_file import TableFile

SHORTEST = 4
"""Frames of the shortest transition."""
LONGEST_S = 60.0
"""Seconds of the longest transition: what is kept of its windows grows with it."""
LARGEST_WEIGHT = 1e6
"""Of a column in a ranking; the largest that is in use is about 10."""
LONGEST_TEXT = 4096
SETTINGS = {"clusters": 2, "lookup": 1, "seed": 0, "keep": 1}
"""Whole numbers among the settings, and their least values."""
LARGEST_SETTING = 1 << 62
METHODS = ("default", "paper")
"""How a table makes its transitions; files that name none are of the first."""
EDITIONS = (2007, 2006)
"""Years of the papers."""
NO_WINDOW, NO_RECIPE = integer("ML_TABLE_NO_WINDOW"), integer("ML_TABLE_NO_RECIPE")
"""In ``between``: the recipe has fewer intermediaries; there is no recipe."""
ARRAYS = (
    *("medoids", "fine_medoids", "between", "costs"),
    *("lookup.coarse", "lookup.fine", "lookup.coarse_distance", "lookup.fine_distance"),
)
BLOCK = 1 << 18
RecipeForm = tuple[int, str]
"""Frames of a recipe, and the family of its weights."""
HALF_EXPONENT = 0x7C00
"""Bits of a half-precision number that are all set where it is infinite or no number."""
HALF_SIGN = 0x8000


class TableSources(NamedTuple):
    """The collection that a table was built on."""

    path: str
    """As seen from the folder of the table."""
    digest: str
    clips: dict[str, str]
    """Digest of each clip by its id, in the order of the rows."""


class TableHeader(NamedTuple):
    """Settings and sources of a table."""

    length: int
    """Frames of a transition."""
    settings: dict[str, Any]
    ranking: Ranking
    sources: TableSources
    extended: int
    """Clips that were added after the search."""

    @property
    def family(self) -> str:
        """Weights of the blends that the table was searched with."""
        return str(self.settings["family"])

    @property
    def method(self) -> str:
        """How transitions are made, one of :data:`METHODS`."""
        return str(self.settings.get("method", METHODS[0]))

    @property
    def edition(self) -> int:
        """Year of the paper whose poses the papers' method makes."""
        return int(self.settings.get("edition", EDITIONS[0]))

    @property
    def masses(self) -> FloatArray | None:
        """Parts of body mass of the segments; None for the usual ones. (S,)."""
        masses = self.settings.get("masses")
        return None if masses is None else np.array(masses, dtype=np.float64)


def read_header(file: TableFile) -> TableHeader:
    """The header of a table.

    Raises
    ------
    TableError
        A value is missing, of the wrong type or out of its range.
    """
    header = file.header
    length, extended = header.get("length"), header.get("extended", 0)
    if type(length) is not int or not SHORTEST <= length <= LARGEST_SETTING:
        raise file.damaged(f"its transitions must have at least {SHORTEST} frames")
    if type(extended) is not int or not 0 <= extended <= LARGEST_SETTING:
        raise file.damaged("the number of clips that were added must be a whole number")
    return TableHeader(length, _settings(file), _ranking(file), read_sources(file), extended)


def _settings(file: TableFile) -> dict[str, Any]:
    settings = file.header.get("settings")
    if not isinstance(settings, dict):
        raise file.damaged("its settings are missing")
    for name, least in SETTINGS.items():
        if type(settings.get(name)) is not int or not least <= settings[name] <= LARGEST_SETTING:
            raise file.damaged(f"its setting {name!r} must be a whole number of at least {least}")
    ways = settings.get("ways")
    if (
        not isinstance(ways, list)
        or not ways
        or not all(type(n) is int and n in (2, 3, 4) for n in ways)
    ):
        raise file.damaged("its setting 'ways' must be among 2, 3 and 4")
    if not isinstance(settings.get("family"), str) or settings["family"] not in FAMILIES:
        raise file.damaged(f"its setting 'family' must be one of {', '.join(FAMILIES)}")
    if not _is_text(settings.get("score")):
        raise file.damaged("its setting 'score' must be a name")
    _check_method(file, settings)
    names = (*SETTINGS, "ways", "family", "score", "method", "edition", "families", "masses")
    return {name: value for name, value in settings.items() if name in names}


def _check_method(file: TableFile, settings: dict[str, Any]) -> None:
    """Check the settings that only some tables have."""
    if settings.get("method", METHODS[0]) not in METHODS:
        raise file.damaged(f"its setting 'method' must be one of {', '.join(METHODS)}")
    edition = settings.get("edition", EDITIONS[0])
    if type(edition) is not int or edition not in EDITIONS:
        raise file.damaged("its setting 'edition' must be 2006 or 2007")
    families = settings.get("families", [])
    if not isinstance(families, list) or not all(
        isinstance(name, str) and name in FAMILIES for name in families
    ):
        raise file.damaged(f"its setting 'families' must be among {', '.join(FAMILIES)}")
    masses = settings.get("masses")
    if masses is not None and not (
        isinstance(masses, list)
        and len(masses) == N_SEGMENTS
        and all(type(part) is float and 0.0 < part < 1.0 for part in masses)
    ):
        raise file.damaged(f"its setting 'masses' must be {N_SEGMENTS} parts of body mass")


def _ranking(file: TableFile) -> Ranking:
    ranking = file.header.get("ranking")
    if not isinstance(ranking, dict):
        raise file.damaged("its ranking is missing")
    linear, log = (_weights(file, name, ranking.get(name)) for name in ("linear", "log"))
    return Ranking.of(linear, log)


def _weights(file: TableFile, name: str, weights: object) -> dict[str, float]:
    if not isinstance(weights, dict) or not all(
        column in COLUMNS and type(weight) in (int, float) and abs(weight) <= LARGEST_WEIGHT
        for column, weight in weights.items()
    ):
        raise file.damaged(f"the weights {name!r} of its ranking must be numbers by column")
    return weights


def read_sources(file: TableFile) -> TableSources:
    """The collection in the header of a table; errors as in :func:`read_header`."""
    sources = file.header.get("collection")
    if not isinstance(sources, dict):
        raise file.damaged("its header does not describe the collection")
    path, digest, clips = (sources.get(name) for name in ("path", "digest", "clips"))
    if not _is_text(path) or not _is_text(digest):
        raise file.damaged("its header does not say where the collection is")
    if not isinstance(clips, list) or not all(map(_is_pair, clips)):
        raise file.damaged("the clips that it was built on must be pairs of id and digest")
    digests = dict(clips)
    if len(digests) < len(clips):
        raise file.damaged("a clip that it was built on is listed twice")
    return TableSources(str(path), str(digest), digests)


def _is_pair(clip: object) -> bool:
    if not isinstance(clip, list) or len(clip) != 2:
        return False
    return isinstance(clip[0], str) and isinstance(clip[1], str)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_TEXT and "\0" not in value


def check_duration(file: TableFile, length: int, fps: float) -> None:
    """Check that transitions are no longer than any that can be built."""
    if length > LONGEST_S * fps:
        raise file.damaged(
            f"its transitions must take at most {LONGEST_S:g} s ({LONGEST_S * fps:.0f} frames), "
            f"got {length} frames"
        )


def require_default(header: TableHeader, path: Path, what: str) -> None:
    """Raise an error that names the remedy if a table is of another method than the default."""
    if header.method != METHODS[0]:
        raise TableError(
            f"{what} needs a table of the default method, but {path.name} was built by the "
            f"{header.method} method. Build another table from the same collection."
        )


def find_collection(file: TableFile, given: str | Path | None) -> Collection:
    """The collection at the given place, else where it was, as seen from the table."""
    if given is not None:
        return _in_its_state(file, Collection.open(path_of(given, "collection")))
    path = read_sources(file).path
    seen_from = dict.fromkeys((file.path.parent.resolve(), file.path.resolve().parent))
    try:
        places = [(folder / path).resolve() for folder in seen_from]
        # Through a link: next to the link first, then next to the file that it leads to.
        place = next((each for each in places if each.is_dir()), places[-1])
    except (OSError, ValueError, RuntimeError) as error:  # names that no disk has, loops of links
        raise file.damaged(f"its collection cannot be at {path[:80]!r}") from error
    try:
        return _in_its_state(file, Collection.open(place))
    except TableError as error:
        raise TableError(
            f"{file.path} needs the collection it was built on. {error} "
            "Pass its place as collection=."
        ) from error


def _in_its_state(file: TableFile, now: Collection) -> Collection:
    """The collection as the table knows it, while the table is still to be extended."""
    digest = read_sources(file).digest
    if now.digest == digest:
        return now
    return Collection.open_before(now.path, digest) or now


def check_sources(file: TableFile, collection: Collection) -> None:
    """Refuse another collection than that of the table; the error lists the changes."""
    sources = read_sources(file)
    was, now = sources.clips, collection.clip_digests
    if sources.digest == collection.digest:
        if was != now or list(was) != list(now):
            raise file.damaged("the clips that it names are not those that it was built on")
        return
    changes = [
        f"{what}: {', '.join(name[:80] for name in ids[:5])}{' and more' if len(ids) > 5 else ''}"
        for what, ids in (
            ("changed", [clip for clip in was if clip in now and now[clip] != was[clip]]),
            ("gone", [clip for clip in was if clip not in now]),
            ("new", [clip for clip in now if clip not in was]),
        )
        if ids
    ]
    raise TableError(
        f"{file.path} was built on another state of {collection.path}: "
        f"{'; '.join(changes) or 'its skeleton or rate changed'}. Build the table again, or pass "
        "the collection that it was built on."
    )


def relative_to(path: Path, folder: Path) -> str:
    """A path as seen from a folder, with slashes, so that both can be moved together."""
    return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()


class Entry(NamedTuple):
    """The best recipes between two windows, the best first.

    Attributes
    ----------
    source : int
        Number of the representative that the source window is nearest to.
    target : int
        The same of the target window.
    recipes : tuple of Recipe
        The recipes, best first.
    costs : array
        Costs of the first few of them, between the representatives. (C,)
    """

    source: int
    target: int
    recipes: tuple[Recipe, ...]
    costs: FloatArray

    def __repr__(self) -> str:
        return f"Entry({self.source} to {self.target}: {len(self.recipes)} recipes)"


class TableArrays(NamedTuple):
    """Representatives, and the recipes between them."""

    medoids: IntArray
    """First rows of the clusters' medoids, the intermediaries of recipes. (K,)"""
    ends: IntArray
    """First rows of the representatives that sources and targets are looked up among. (E,)"""
    between: npt.NDArray[np.uint8]
    """Clusters between source and target of every recipe, the best recipe first; ``NO_WINDOW``
    where there are fewer, ``NO_RECIPE`` where there is none. (E, E, R, 2)"""
    costs: npt.NDArray[np.float16]
    """Costs of the first few recipes. (E, E, C)"""
    lookup: Lookup
    """The cluster and the representative of the window that starts at every row."""

    @classmethod
    def of_file(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> TableArrays:
        """From the named arrays of a table file; large ones stay mapped."""
        names = ("coarse", "fine", "coarse_distance", "fine_distance")
        return cls(
            arrays["medoids"].astype(np.int64),
            arrays["fine_medoids"].astype(np.int64),
            arrays["between"],
            arrays["costs"],
            Lookup(*(arrays[f"lookup.{name}"] for name in names)),
        )

    def info(self) -> dict[str, Any]:
        """Counts and costs, in values that JSON can hold."""
        best = self.costs[..., 0]
        off = best[~np.eye(len(best), dtype=bool)] if len(best) > 1 else best.ravel()
        n_between = np.count_nonzero(self.between[..., 0, :] != NO_WINDOW, axis=-1)
        return {
            "clusters": len(self.medoids),
            "representatives": len(self.ends),
            "recipes_per_entry": int(self.between.shape[2]),
            "best_cost_median": float(np.median(off)),
            "best_by_ways": {str(n + 2): int(np.sum(n_between == n)) for n in range(3)},
        }

    def entry(self, pair: tuple[int, int], windows: tuple[int, int], form: RecipeForm) -> Entry:
        """The recipes between two representatives, with given windows as source and target."""
        (source, target), (first, last) = pair, windows
        recipes = []
        for between in self.between[source, target]:
            if between[0] != NO_RECIPE:
                rows = (int(self.medoids[k]) for k in between if k != NO_WINDOW)
                recipes.append(Recipe((first, *rows, last), *form))
        costs = self.costs[source, target, : len(recipes)].astype(np.float64)
        return Entry(source, target, tuple(recipes), costs)


def check_arrays(
    file: TableFile, length: int, starts: IntArray, *, method: str = "default"
) -> None:
    """Check kind, shape and every value of the arrays of a table.

    Parameters
    ----------
    file
        The table.
    length
        Frames of a transition.
    starts
        First row of every clip of its collection, and the number of rows. (C + 1,)
    method
        How the table makes its transitions.

    Raises
    ------
    TableError
        An array is missing, unknown, or of another kind or shape, or a value is out of its range.
    """
    names = (*ARRAYS, *PAPER_ARRAYS) if method == "paper" else ARRAYS
    more = [name for name in file.arrays if name not in names]
    if more:
        raise file.damaged(f"it holds an array {more[0][:80]!r}, which no table has")
    check_length(file, length, starts)
    n_coarse, n_fine = check_representatives(file, length, starts)
    between = file.array("between", "|u1", (n_fine, n_fine, None, 2))
    if not 1 <= between.shape[2] <= NOWHERE:
        raise file.damaged(f"it must keep 1 to {NOWHERE} recipes of a pair, got {between.shape[2]}")
    if not _names_clusters(between, n_coarse):
        raise file.damaged("a recipe names a cluster that is not there")
    costs = file.array("costs", "<f2", (n_fine, n_fine, None))
    if not 1 <= costs.shape[2] <= between.shape[2]:
        raise file.damaged("it must have costs for one recipe of a pair, and for no more than all")
    if (~costs.view(np.uint16) & HALF_EXPONENT == 0).any():
        raise file.damaged("a recipe must have a finite cost")
    if method == "paper":
        check_recipe_times(file, length, n_fine)


def check_length(file: TableFile, length: int, starts: IntArray) -> None:
    """Check that some clip has a window of the length."""
    longest = int(np.diff(starts).max(initial=0))
    if length > longest:
        raise file.damaged(f"its transitions have {length} frames, but the longest clip {longest}")


def check_representatives(file: TableFile, length: int, starts: IntArray) -> tuple[int, int]:
    """Check medoids, representatives and lookup; returns how many medoids and representatives."""
    counts = []
    for name, most in (("medoids", NO_RECIPE), ("fine_medoids", NOWHERE - 1)):
        rows = file.array(name, "<u4", (None,)).astype(np.int64)
        if not 1 <= len(rows) <= most:
            raise file.damaged(f"it must have 1 to {most} {name!r}, got {len(rows)}")
        if not window_starts(rows, length, starts):
            raise file.damaged(f"{name!r} must be first rows of windows of {length} frames")
        counts.append(len(rows))
    lengths = np.diff(starts)
    has_window = np.repeat(lengths >= length, lengths)
    for name, count in zip(("coarse", "fine"), counts, strict=True):
        ids = file.array(f"lookup.{name}", "<u2", (len(has_window),))
        if not np.array_equal(ids < count, has_window) or (ids[~has_window] != NOWHERE).any():
            raise file.damaged(f"the lookup names a {name} representative that is not there")
        far = file.array(f"lookup.{name}_distance", "<f2", (len(has_window),))
        if not _is_distance(far):
            raise file.damaged(f"distances to {name} representatives must be numbers from 0")
    return counts[0], counts[1]


def window_starts(rows: IntArray, length: int, starts: IntArray) -> bool:
    """Whether every row is in the collection and starts a window that stays inside its clip."""
    if not len(rows):
        return True
    if int(rows.min()) < 0 or int(rows.max()) >= int(starts[-1]):
        return False
    ends = starts[np.searchsorted(starts, rows, side="right")]
    return bool((rows + length <= ends).all())


def _names_clusters(between: npt.NDArray[np.uint8], count: int) -> bool:
    """Whether recipes name clusters below ``count``, or both of their bytes say that none is there.

    Block by block: what fits into the cache of a processor is read four times as quickly.
    """
    flat = between.reshape(-1)
    shifted = np.zeros(min(BLOCK, flat.size), dtype=np.uint8)
    for first in range(0, flat.size, BLOCK):
        part = flat[first : first + BLOCK]
        # Bytes wrap round: NO_RECIPE and NO_WINDOW become 0 and 1, clusters follow from 2 on.
        clusters = np.add(part, np.uint8(256 - NO_RECIPE), out=shifted[: len(part)])
        if int(clusters.max()) >= count + 256 - NO_RECIPE:
            return False
        if int(clusters.min()) == 0:
            none = (clusters == 0).view(np.uint16)
            if (none >> 8 != none & 0xFF).any():
                return False
    return True


def _is_distance(values: npt.NDArray[Any]) -> bool:
    """Whether half-precision numbers are zero, positive or infinite."""
    bits = values.view(np.uint16)
    return bool(((bits <= HALF_EXPONENT) | (bits == HALF_SIGN)).all())
