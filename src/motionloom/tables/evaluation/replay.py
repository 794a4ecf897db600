"""Entries of a table measured again: replays, which must match bit for bit, and naturalness."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import IntArray
from motionloom.tables.collection.frames import FloatArray32, check_frames
from motionloom.tables.paper.paper_search import PaperJob
from motionloom.tables.paper.time_alignment import FAMILY_NUMBERS, RecipeTimes, WarpedTerms
from motionloom.tables.score.columns import score_recipes
from motionloom.tables.score.natural import naturalness, reference_of
from motionloom.tables.score.recipe import MOST_WAYS
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.pair_search import NONE
from motionloom.tables.search.search import SearchJob, Shortlist, search_chunk
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_contents import NO_RECIPE, NO_WINDOW


class Mismatch(NamedTuple):
    """An entry that came out otherwise."""

    source: int
    target: int
    what: str

    def __str__(self) -> str:
        return f"entry ({self.source}, {self.target}) came out otherwise when replayed: {self.what}"


def replay_entries(table: TransitionTable, *, count: int = 50, seed: int = 0) -> list[Mismatch]:
    """Entries that are not what the search finds now; none in a sound table.

    Each is searched again over all two- and three-way blends, and over the four-way ones that it
    holds: if those are the best, the search puts them back in the same order, at the same costs.

    Parameters
    ----------
    table
        An open table.
    count
        How many entries, drawn at random; all of them where there are fewer.
    seed
        Of the draw.
    """
    check_frames(table.frames)
    n_ends = table.n_ends
    rng = np.random.Generator(np.random.PCG64(seed))
    pairs = rng.choice(n_ends * n_ends, min(count, n_ends * n_ends), replace=False)
    if table.method == "paper":
        return _replay_paper(table, np.sort(pairs))
    rows = np.concatenate([table.medoids, table.ends])
    terms = terms_of(
        table.frames, rows, table.length, family=table.family, masses=table.header.masses
    )
    ways = tuple(int(n) for n in table.settings["ways"])
    mismatches = []
    for source, target in (divmod(int(pair), n_ends) for pair in np.sort(pairs)):
        held = table.between[source, target]
        job = SearchJob(
            terms,
            _one(len(table.medoids) + source),
            _one(len(table.medoids) + target),
            np.arange(len(table.medoids)),
            ways,
            len(held),
            table.ranking,
            Shortlist(_four_way(held), _one(0), _one(0)),
        )
        again = search_chunk(job, 0)
        what = _difference(table, source, target, again.recipes[0], again.costs[0])
        if what:
            mismatches.append(Mismatch(source, target, what))
    return mismatches


def _replay_paper(table: TransitionTable, pairs: IntArray) -> list[Mismatch]:
    """Entries of the papers' table that are not what the search finds now."""
    header, times = table.header, RecipeTimes.of_file(table.arrays)
    ways, families = (tuple(table.settings[name]) for name in ("ways", "families"))
    job = PaperJob(
        table.frames, np.asarray(table.medoids), table.length, ways, families, table.ranking,
        header.edition, header.masses,
    )  # fmt: skip
    warped, mismatches = WarpedTerms(job.terms), []
    for source, target in (divmod(int(pair), table.n_ends) for pair in pairs):
        best = warped.search(job.record, (source, target), job.middles, table.ranking, families)
        what = _difference(table, source, target, best.recipes, best.costs)
        windows = best.recipes[0][best.recipes[0] != NONE].astype(np.int64)
        held, family = times.entry(source, target, len(windows))
        if not what and FAMILY_NUMBERS[family] != int(best.families[0]):
            what = f"it has weights of the family {family}"
        if not what and not np.array_equal(held, warped.times(job.record, windows)):
            what = "its time alignment differs"
        if what:
            mismatches.append(Mismatch(source, target, what))
    return mismatches


def _one(place: int) -> IntArray:
    return np.array([place], dtype=np.int64)


def _four_way(held: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint16]:
    """Intermediaries of an entry's four-way recipes (1, 1, R, 2), sorted, NONE for the others."""
    between = held.astype(np.uint16)
    between[(held >= NO_RECIPE).any(axis=-1)] = NONE
    order = np.lexsort((between[:, 1], between[:, 0]))
    return between[order][None, None]


def _difference(
    table: TransitionTable,
    source: int,
    target: int,
    recipes: npt.NDArray[np.uint16],
    costs: npt.NDArray[np.float32],
) -> str:
    """What differs between an entry and what the search found, in words; empty if nothing."""
    held = table.between[source, target]
    stored_costs = table.costs[source, target]
    n_held = int(np.count_nonzero(held[:, 0] != NO_RECIPE))
    n_found = int(np.isfinite(costs).sum())
    if n_held != n_found:
        return f"{n_held} recipes are held and {n_found} found"
    for k in range(n_held):
        windows = recipes[k][recipes[k] != NONE][1:-1].tolist()
        stored = [int(c) for c in held[k] if c != NO_WINDOW]
        if windows != stored:
            return f"recipe {k} goes over clusters {stored}, found was {windows}"
    again = np.minimum(costs[: len(stored_costs)], np.finfo(np.float16).max).astype(np.float16)
    if again[:n_held].tobytes() != stored_costs[:n_held].tobytes():
        return f"the best costs {float(stored_costs[0]):.4g}, found was {float(again[0]):.4g}"
    return ""


def naturalness_map(table: TransitionTable) -> FloatArray32:
    """Naturalness (E, E) of the best recipe from each representative (row) to each (column).

    Not a number where there is no recipe. Recipes are measured again, which takes about 10 us each.
    """
    medoids, ends = np.asarray(table.medoids), np.asarray(table.ends)
    rows = np.concatenate([medoids, ends]).astype(np.int64)
    masses = table.header.masses
    terms = terms_of(table.frames, rows, table.length, family=table.family, masses=masses)
    n_ends = len(ends)
    places = len(medoids) + np.stack(
        np.meshgrid(np.arange(n_ends), np.arange(n_ends), indexing="ij"), axis=-1
    ).reshape(-1, 2)
    between = np.asarray(table.between)[:, :, 0].reshape(-1, 2)
    missing = between[:, 0] == NO_RECIPE
    n_between = np.where(missing[:, None], 0, between != NO_WINDOW).sum(axis=1)
    recipes = np.full((len(places), MOST_WAYS), -1, dtype=np.int32)
    recipes[:, 0] = places[:, 0]
    for k in range(2):
        recipes[n_between > k, 1 + k] = between[n_between > k, k]
    recipes[np.arange(len(places)), 1 + n_between] = places[:, 1]
    natural = naturalness(score_recipes(terms, recipes), reference_of(terms, places))
    natural[missing] = np.nan
    return natural.reshape(n_ends, n_ends).astype(np.float32)
