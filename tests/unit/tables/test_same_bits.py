"""Scores and searches have the same bytes on every machine, in any number of threads and parts."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from motionloom.tables.engines.engine import LocalEngine
from motionloom.tables.score.columns import PAPER, score_recipes
from motionloom.tables.score.natural import NATURAL
from motionloom.tables.score.terms import TermArrays, Terms
from motionloom.tables.search import search as searching
from motionloom.tables.search.search import SearchJob, search_chunk

WINDOWS, LENGTH, PAD, PLANTS = 14, 45, 6, 3
PADDED = LENGTH + 2 * PAD
RANKINGS = {"paper": PAPER, "natural": NATURAL}
KNOWN = {
    "scores": "3a56cb6f599c0aba",
    "paper": "c4a9b49b18eafec3",
    "natural": "4757c11f4efdfdf1",
}
"""Digests that every machine must find."""


class Drawn:
    """Numbers that need nothing but whole numbers to be drawn: no library rounds them otherwise."""

    def __init__(self) -> None:
        self.state = 14

    def uniform(self, low: float, high: float, *shape: int) -> np.ndarray:
        """In single precision."""
        out = np.zeros(int(np.prod(shape)))
        for k in range(out.size):
            self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
            out[k] = low + (high - low) * ((self.state >> 40) / 2**24)
        return out.astype(np.float32).reshape(shape)

    def below(self, most: int, *shape: int) -> np.ndarray:
        return np.floor(self.uniform(0.0, most, *shape)).astype(np.int32) % most


@pytest.fixture(scope="module")
def terms():
    """Windows of no body, with steps, plants and postures of a likely size."""
    drawn = Drawn()
    rows = drawn.uniform(-0.02, 0.02, WINDOWS, 17, PADDED)
    rows[:, 3:10] = drawn.uniform(-0.3, 0.3, WINDOWS, 7, 1) + 0.1 * rows[:, 3:10]
    rows[:, 8] = 0.95 + 0.1 * rows[:, 8]
    rows[:, 12:14] = np.abs(rows[:, 12:14])
    rows[:, 14:] = 1.0 + 10.0 * rows[:, 14:]
    base = drawn.uniform(-0.3, 0.3, WINDOWS, 1, 48)
    posture = base + drawn.uniform(-0.002, 0.002, WINDOWS, PADDED, 48)
    spans = np.zeros((WINDOWS, 2, PLANTS, 2), dtype=np.int32)
    spans[..., 0] = 15 * np.arange(PLANTS) + drawn.below(4, WINDOWS, 2, PLANTS)
    spans[..., 1] = spans[..., 0] + 2 + drawn.below(9, WINDOWS, 2, PLANTS)
    counts = drawn.below(PLANTS + 1, WINDOWS, 2)
    rows[:, 10:12] = 0.0
    for window, foot in np.ndindex(WINDOWS, 2):
        for first, last in spans[window, foot, : counts[window, foot]]:
            rows[window, 10 + foot, PAD + first : PAD + last + 1] = 1.0
    turn = drawn.below(2, WINDOWS, 2, PLANTS)
    ahead = np.stack([0.6 + 0.2 * turn, 0.8 - 0.2 * turn], axis=-1).astype(np.float32)
    weights = np.zeros((4, 4, PADDED), dtype=np.float32)
    time = np.clip((np.arange(PADDED) - PAD) / np.float64(LENGTH - 1), 0.0, 1.0)
    for n in range(1, 5):
        apart = np.abs((n - 1) * time - np.arange(n)[:, None])
        weights[n - 1, :n] = np.maximum(0.0, 1.0 - apart)
    taps = np.zeros((3, 12), dtype=np.float32)
    around = np.arange(-5, 6)
    taps[0, :11] = 1.0 / 11.0
    taps[1, :11] = 60.0 * around / 110.0
    taps[2, :11] = 3600.0 * (around**2 - 10.0) / 429.0
    arrays = TermArrays(
        rows,
        posture,
        drawn.uniform(-0.3, 0.3, WINDOWS, 4, PADDED),
        spans,
        ahead,
        counts,
        drawn.below(PAD + 1, WINDOWS, 2),
    )
    sole = np.array([0.18, 0.06, 0.045, 1.7], dtype=np.float32)
    masses = np.full(16, 1.0 / 16.0, dtype=np.float32)
    return Terms(arrays, LENGTH, 60.0, PAD, taps, weights, sole, 0.03, masses)


def recipes_of(count):
    ids = Drawn().below(WINDOWS, count, 4)
    ways = 1 + np.arange(count) % 4
    ids[np.arange(4) >= ways[:, None]] = -1
    return ids


def digest(*arrays):
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def job_of(terms, ranking):
    between = np.arange(WINDOWS)
    return SearchJob(terms, between, between, between, keep=5, ranking=ranking)


def test_scores_are_those_of_every_machine(terms):
    columns = score_recipes(terms, recipes_of(2000))
    assert np.isfinite(columns).all()
    assert (columns.max(axis=0) > 0.0).all()
    assert digest(columns) == KNOWN["scores"]


@pytest.mark.parametrize("name", RANKINGS)
def test_what_is_found_is_what_every_machine_finds(terms, name):
    job = job_of(terms, RANKINGS[name])
    found = [search_chunk(job, chunk) for chunk in range(job.n_chunks)]
    recipes, costs = (np.concatenate([getattr(f, k) for f in found]) for k in ("recipes", "costs"))
    assert digest(recipes, costs, *job.spreads) == KNOWN[name]


def test_a_recipe_scores_the_same_alone_as_among_others(terms):
    ids = recipes_of(40)
    alone = np.concatenate([score_recipes(terms, one[None]) for one in ids])
    assert np.array_equal(score_recipes(terms, ids[::-1])[::-1], alone)


@pytest.mark.parametrize("name", RANKINGS)
def test_threads_and_sizes_of_chunks_change_no_byte(terms, name, monkeypatch):
    job = job_of(terms, RANKINGS[name])

    def bytes_found(threads):
        found = sorted(LocalEngine(threads).search(job), key=lambda each: each.chunk)
        return [np.concatenate([getattr(f, k) for f in found]) for k in ("recipes", "costs")]

    first = digest(*bytes_found(1))
    for threads, pairs in ((3, 50), (2, 7), (1, 1)):
        monkeypatch.setattr(searching, "CHUNK_PAIRS", pairs)
        assert digest(*bytes_found(threads)) == first
