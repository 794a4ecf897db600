"""Best blends by the papers' sum and by the search ranking, compared with what was captured."""

from __future__ import annotations

import numpy as np

from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.clusters import find_clusters
from motionloom.tables.score.columns import PAPER, Ranking
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.score.terms import term_source, terms_of
from motionloom.tables.search.pair_search import NONE
from motionloom.tables.search.search import search_pair
from studies.tables.natural_candidates import sister_clips, window_length
from studies.tables.natural_truth import FAMILY, WAYS, Candidates, measured_errors

CLUSTERS = 24
QUERIES = 60
"""Of each group: the first ones."""
RANKINGS: dict[str, Ranking] = {"foot + ZMP [I7]": PAPER, "the search ranking": NATURAL}


def searched_errors(
    frames: Frames, data: Candidates, sisters: list[list[str]]
) -> dict[str, np.ndarray]:
    """Errors of the best of all 2-, 3- and 4-way blends by each ranking, cm; one a query.

    Source and target are the windows of the query's 2-way candidate.
    """
    length = window_length(frames)
    medoids = np.asarray(find_clusters(frames, length=length, clusters=CLUSTERS).medoids)
    clips = np.searchsorted(frames.starts, medoids, side="right") - 1
    terms = terms_of(frames, np.concatenate([medoids, medoids[:2]]), length, family=FAMILY)
    source, ends = term_source(frames), (CLUSTERS, CLUSTERS + 1)
    two = np.flatnonzero(data.kind == "two")[:QUERIES]
    errors: dict[str, list[np.ndarray]] = {name: [] for name in RANKINGS}
    for k in two:
        placed = np.concatenate([medoids, data.rows[k, :2]])
        for place, row in zip(ends, placed[CLUSTERS:], strict=True):
            terms.put(source, place, int(row))
        out = sister_clips(frames, sisters, frames.clip_at(int(data.query[k])))
        free = np.flatnonzero(~np.isin(clips, out))
        for name, ranking in RANKINGS.items():
            best = search_pair(terms, *ends, free, keep=1, ranking=ranking).recipes[0, 0]
            rows = np.full(WAYS, -1)
            stored = best[best != NONE]
            rows[: len(stored)] = placed[stored]
            errors[name].append(rows)
    queries = data.query[two]
    return {name: measured_errors(frames, np.array(rows), queries) for name, rows in errors.items()}
