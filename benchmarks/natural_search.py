"""Blends that a search of all finds, by the papers' sum and by naturalness, beside the truth."""

from __future__ import annotations

import numpy as np

from motionloom.transitions.collecting.frames import Frames
from motionloom.transitions.likeness.clusters import find_clusters
from motionloom.transitions.scoring.columns import PAPER, Ranking
from motionloom.transitions.scoring.natural import NATURAL
from motionloom.transitions.scoring.terms import term_source, terms_of
from motionloom.transitions.searching.search import NONE, search_pair
from natural_candidates import CLUSTERS, LENGTH, sister_clips
from natural_truth import WAYS, Candidates, measured_errors

RANKINGS: dict[str, Ranking] = {"foot + ZMP": PAPER, "naturalness": NATURAL}


def searched_errors(frames: Frames, data: Candidates, sisters: list) -> dict[str, np.ndarray]:
    """Errors of the best of all 2-, 3- and 4-way blends by each ranking, cm; one a query.

    Source and target are the windows of the query's 2-way candidate; the nearest captured window
    is offered beside the medoids only under ``"naturalness, nearest offered"``.
    """
    medoids = np.asarray(find_clusters(frames, length=LENGTH, clusters=CLUSTERS).medoids)
    clips = np.searchsorted(frames.starts, medoids, side="right") - 1
    offered = CLUSTERS + 2
    terms = terms_of(frames, np.concatenate([medoids, medoids[:3]]), LENGTH)
    source, ends = term_source(frames), (CLUSTERS, CLUSTERS + 1)
    two = np.flatnonzero(data.kind == "two")
    found = {name: [] for name in (*RANKINGS, "naturalness, nearest offered")}
    for k in two:
        near = data.rows[(data.query == data.query[k]) & (data.kind == "nearest")][0, 0]
        placed = np.concatenate([medoids, data.rows[k, :2], [near]])
        for place, row in zip((*ends, offered), placed[CLUSTERS:], strict=True):
            terms.put(source, place, int(row))
        out = sister_clips(frames, sisters, frames.clip_at(int(data.query[k])))
        free = np.flatnonzero(~np.isin(clips, out))
        for name in found:
            between = np.append(free, offered) if "offered" in name else free
            ranking = RANKINGS[name.split(",")[0]]
            best = search_pair(terms, *ends, between, keep=1, ranking=ranking).recipes[0, 0]
            rows = np.full(WAYS, -1)
            kept = best[best != NONE]
            rows[: len(kept)] = placed[kept]
            found[name].append(rows)
    queries = data.query[two]
    return {name: measured_errors(frames, np.array(rows), queries) for name, rows in found.items()}
