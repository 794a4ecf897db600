"""The header of a transition table: its settings and its collection, checked value by value."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import TableError
from motionloom.files.reading import path_of
from motionloom.tables.collection.collection import Collection
from motionloom.tables.score.columns import COLUMNS, Ranking
from motionloom.tables.score.recipe import FAMILIES
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


def check_duration(file: TableFile, length: int, fps: float) -> None:
    """Check that transitions are no longer than any that can be built."""
    if length > LONGEST_S * fps:
        raise file.damaged(
            f"its transitions must take at most {LONGEST_S:g} s ({LONGEST_S * fps:.0f} frames), "
            f"got {length} frames"
        )


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


def require_default(header: TableHeader, path: Path, what: str) -> None:
    """Raise an error that names the remedy if a table is of another method than the default."""
    if header.method != METHODS[0]:
        raise TableError(
            f"{what} needs a table of the default method, but {path.name} was built by the "
            f"{header.method} method. Build another table from the same collection."
        )
