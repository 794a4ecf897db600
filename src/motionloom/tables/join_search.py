"""Join search: the best candidate of any duration between two frames that passes the check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from itertools import islice, product

import numpy as np

from motionloom._arrays import IntArray
from motionloom.tables.query_engine import RANKED, Best, QueryEngine
from motionloom.tables.query_records import Choice
from motionloom.tables.transition_request import TransitionRequest

MOST_LENGTHS = 4
"""The longest transition, in lengths of a window; as in core/src/tables/table.h."""
LONGEST_S = 2.0
"""Seconds of the longest transition, unless windows of the table are longer."""
JOINS = 2
"""Searches for a natural candidate that also passes the quality check, at most."""
MOST_RESCORED = 1_000_000
"""More recipes than any two frames have in a table: a greater number means all of them."""


class Found:
    """A synthesized candidate, and what decides between several."""

    def __init__(self, engine: QueryEngine, best: Best) -> None:
        self._engine, self.best = engine, best
        self.is_passed = best.checked.passed

    @cached_property
    def margin(self) -> float:
        """How far it is above what counts as natural; see :meth:`QueryEngine.margin`."""
        return self._engine.margin(self.best.choice, self.best.number)

    @property
    def is_good(self) -> bool:
        """Whether it passes the quality check and is natural."""
        return self.is_passed and self.margin >= 0.0

    def is_better(self, other: Found) -> bool:
        """Whether it passes the quality check and the other does not, or is less natural."""
        return self.is_passed and (not other.is_passed or self.margin > other.margin)


def joined(engine: QueryEngine, source: int, targets: IntArray, request: TransitionRequest) -> Best:
    """The best candidate of any duration up to the longest one that is natural and passes.

    Where what is natural fails the quality check, it is left out and the search goes on. If nothing
    natural passes, the most natural candidate that passes is taken, or the one that fails least.
    If nothing good is found, the search is repeated without the tolerance and with the usual time,
    where these are less; if nothing passes, between the frames asked for alone, and recipes of the
    table are tried. The best result is taken. So a tolerance, or more time than usual, never makes
    a natural result unnatural.
    """
    result: Found | None = None
    for attempt in _attempts(engine, request):
        for found in _searched(engine, source, targets, attempt):
            result = _better(result, found)
            if result.is_good:
                return result.best
    assert result is not None
    if result.is_passed:
        return result.best
    window_s = engine.length / engine.frames.fps
    for found in _searched(engine, source, targets, replace(request, longest_s=window_s)):
        result = _better(result, found)
    if result.is_passed:
        return result.best
    rescore = min(int(request.rescore), MOST_RESCORED)
    recipes = engine.choose(source, targets, rescore=rescore)
    found = Found(engine, engine.synthesize_best(recipes, still=request.still_feet))
    return _better(result, found).best


def _attempts(engine: QueryEngine, request: TransitionRequest) -> Iterator[TransitionRequest]:
    """The request, and with the usual time and without its tolerance where these are less."""
    yield request
    times = {_longest(engine, request.longest_s): request.longest_s}
    usual = _longest(engine, None)
    if usual < min(times):
        times[usual] = None
    others = product(dict.fromkeys((request.tolerance_s, 0.0)), times.values())
    for tolerance_s, longest_s in islice(others, 1, None):  # the first is the request
        yield replace(request, longest_s=longest_s, tolerance_s=tolerance_s)


def _searched(
    engine: QueryEngine, source: int, targets: IntArray, request: TransitionRequest
) -> Iterator[Found]:
    """What is synthesized, until something is natural and passes, or nothing natural is left.

    If nothing passes, the other blends at the places that were found come last, the cheapest first.
    """
    rescore = min(int(request.rescore), MOST_RESCORED)
    longest, later = _longest(engine, request.longest_s), _later(engine, targets, request)
    banned: set[tuple[int, ...]] = set()
    looked_at: list[Choice] = []
    is_passed = False
    for _ in range(JOINS):
        choice = engine.join(
            source, targets, rescore=rescore, longest=longest, later=later, banned=[*banned]
        )
        if not len(choice.rows):
            break
        looked_at.append(choice)
        is_natural = engine.is_natural(choice, 0)
        best = engine.synthesize_best(choice, still=request.still_feet, ranked=is_natural)
        yield (found := Found(engine, best))
        is_passed |= found.is_passed
        if not is_natural:
            break
        banned |= {choice.key(n) for n in range(min(RANKED, choice.ranked))}
    for choice in looked_at if banned else ():
        others = engine.ranked(choice).without(banned)
        if is_passed or not len(others.rows):
            continue
        yield (found := Found(engine, engine.synthesize_best(others, still=request.still_feet)))
        is_passed = found.is_passed


def _better(first: Found | None, other: Found) -> Found:
    """The better of two candidates; the first where they are equal."""
    return other if first is None or other.is_better(first) else first


def _later(engine: QueryEngine, targets: IntArray, request: TransitionRequest) -> IntArray:
    """Frames that may follow each target: of the tolerance, and of the label asked for. (n,)."""
    most = round(min(request.tolerance_s * engine.frames.fps, engine.length))
    later = np.full(len(targets), most, dtype=np.int64)
    if request.label is None or most == 0:
        return later
    labelled = np.zeros(engine.frames.n_rows + 1, dtype=np.bool_)
    labelled[engine.collection.label_rows(request.label)] = True
    for n, last in enumerate((targets + engine.length - 1).tolist()):
        after = labelled[last + 1 : last + 1 + most]
        later[n] = len(after) if after.all() else int(np.argmin(after))
    return later


def _longest(engine: QueryEngine, longest_s: float | None) -> int:
    """Frames that a transition may take."""
    longest_s = LONGEST_S if longest_s is None else longest_s
    most = MOST_LENGTHS * engine.length
    return max(engine.length, round(min(longest_s * engine.frames.fps, most)))
