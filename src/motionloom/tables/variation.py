"""A variation: another transition between the frames of a first one, drawn by a number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from motionloom.tables.query_engine import Best, QueryEngine
from motionloom.tables.query_records import Choice
from motionloom.tables.score.columns import COLUMNS
from motionloom.tables.score.recipe import MOST_WAYS

DRAWS = 12
"""Recipes that a variation is chosen among."""
NEAREST = 12
"""Captured windows that start like the source and end like the target, to draw from."""
WORSE = 0.5
"""A variation may cost this much more than the first transition, as part of that cost and at least
of one inch."""

Key = tuple[int, ...]
"""First rows of a recipe's windows, -1 where there are fewer, and 1 if pinned."""


def vary(engine: QueryEngine, first: Best, variation: int, *, still: bool) -> Best | None:
    """The first drawn recipe that is as good as it must be; None if no drawn one is.

    It passes the quality check, costs at most a little more than the first transition, and is
    natural if that one is natural.

    Parameters
    ----------
    engine
        Of the table.
    first
        The transition to vary; a variation leaves and arrives at the same frames.
    variation
        The same number gives the same answer.
    still
        If True, planted feet of captured windows are held still.
    """
    own = first.choice.key(first.number)
    drawn = list(dict.fromkeys(_draws(engine, own, variation)))
    choice = engine.ranked(_unscored([own, *drawn]))
    at = choice.find(own)
    cost, natural = float(choice.costs[at]), engine.is_natural(choice, at)
    limit = cost + WORSE * max(abs(cost), 1.0)
    for key in drawn:
        at = choice.find(key)
        if choice.costs[at] > limit or (natural and not engine.is_natural(choice, at)):
            continue
        best = engine.synthesize_best(choice.only(at), still=still)
        if best.checked.passed:
            return best._replace(choice=choice, number=at)
    return None


def _draws(engine: QueryEngine, own: Key, variation: int) -> Iterator[Key]:
    """Recipes between the same windows as one, in the order in which they were drawn.

    In a blend over two windows, each becomes another member of its cluster. Captured windows that
    are pinned become other captured windows. A blend over one window, and a plain blend, become a
    blend over a captured window, over a member of that one's cluster, or pinned captured windows.
    """
    rows, pinned = [row for row in own[:-1] if row >= 0], own[-1]
    source, target, between = rows[0], rows[-1], rows[1:-1]
    draw = np.random.Generator(np.random.PCG64([variation, source, target]))
    near = engine.captured(source, target, count=NEAREST)
    members = [engine.members_of(row) for row in between]
    for _ in range(DRAWS):
        if len(between) == 2 and not pinned:
            chosen, pin = [int(draw.choice(some)) for some in members if len(some)], 0
        else:
            kind = 2 if pinned else int(draw.integers(3))
            over_members = kind == 1 and members and len(members[0])
            pool, pin = (members[0] if over_members else near), int(kind == 2)
            count = min(1 + pin, len(pool))
            chosen = sorted(draw.choice(pool, count, replace=False).tolist())
        if chosen and sorted(chosen) != sorted(between):
            windows = (source, *chosen, target)
            yield (*windows, *[-1] * (MOST_WAYS - len(windows)), pin)


def _unscored(keys: list[Key]) -> Choice:
    """Recipes of which nothing is measured yet."""
    rows = np.array([key[:-1] for key in keys], dtype=np.int64)
    columns = np.full((len(keys), len(COLUMNS)), np.nan, dtype=np.float32)
    pinned = np.array([bool(key[-1]) for key in keys])
    return Choice(rows, np.full(len(keys), np.nan), columns, 0, pinned)
