"""What a GPU ranked first, judged again: candidates are ranked here by the kernel itself."""

from __future__ import annotations

import numpy as np
import pytest

import motionloom as ml
from motionloom.tables.collection.frames import frames_of
from motionloom.tables.engines.gpu import query_of, rescore_chunk
from motionloom.tables.score.columns import PAPER, score_recipes
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.score.terms import terms_of
from motionloom.tables.search.search import SearchJob, search_chunk


@pytest.mark.parametrize("ranking", [PAPER, NATURAL])
@pytest.mark.parametrize("most", [10, 40])
def test_candidates_judged_again_are_what_a_search_finds(ranking, most):
    frames = frames_of([ml.synthetic.clip(n).motion.replace(name=n) for n in ("walk", "run")])
    terms = terms_of(frames, frames.windows(30)[::37][:7], 30)
    between = np.arange(terms.n_windows)
    job = SearchJob(terms, between[:2], between[:3], between, keep=6, ranking=ranking)
    query, pairs = query_of(job), np.arange(job.n_pairs)
    every = np.tile(np.arange(query.n_blends), (job.n_pairs, 1))
    blends = query.recipes(pairs, every)
    costs = np.array([ranking.cost(score_recipes(terms, each)) for each in blends])
    places = np.argsort(costs, axis=1, kind="stable")[:, :most]
    ranked = np.take_along_axis(costs, places, axis=1).astype(np.float32)
    found = rescore_chunk(job, query, 0, ranked, places.astype(np.int32))
    wanted = search_chunk(job, 0)
    assert np.array_equal(found.costs, wanted.costs)
    assert np.array_equal(found.recipes, wanted.recipes)
