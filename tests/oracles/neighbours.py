"""The search of a window index."""

from __future__ import annotations

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom.tables.index.kmeans import Partition
from motionloom.tables.index.neighbour_search import (
    LEADING,
    Books,
    Codes,
    Effort,
    Given,
    Question,
    scan_all,
)


def ask(books: Books, given: Given) -> Question:
    """The plain form of :func:`ask`."""
    n, (start, end, way) = len(books.start_steps), given
    none = np.zeros(n, dtype=np.float32)
    at_start = at_end = start_weight = end_weight = none
    if start is not None:
        at_start = books.start_axes @ (start - books.start_mean) / books.start_steps
        start_weight = np.square(books.start_steps)
    if end is not None:
        at_end = books.end_axes @ (end - books.end_mean) / books.end_steps
        end_weight = np.square(books.end_steps)
    step = books.way_step[0]
    steps = np.zeros(3, dtype=np.float32) if way is None else way / step
    weight = np.full(3, 0.0 if way is None else step * step, dtype=np.float32)
    return Question(at_start, at_end, steps, start_weight, end_weight, weight)


def search_lists(
    length: int,
    codes: Codes,
    lists: Partition,
    sides: tuple[bool, bool, bool],
    question: Question,
    *,
    count: int,
    apart: int,
    spans: IntArray,
    effort: Effort,
) -> tuple[IntArray, FloatArray]:
    """The plain form of :func:`search_lists`; heads spare it nothing."""
    groups, lists_looked_into, enough = effort
    point, counts = _among_centres(question, sides)
    near = np.argsort(_far(lists.groups, point, counts), kind="stable")[:groups]
    inside = np.concatenate(
        [np.arange(*lists.group_first[group : group + 2]) for group in near]
    ).astype(np.int64)
    far = _far(lists.centres[inside], point, counts)
    taken: dict[int, float] = {}
    seen = 0
    for k in inside[np.argsort(far, kind="stable")[:lists_looked_into]]:
        if seen >= enough and len(taken) == count:
            break
        members = lists.members[lists.list_first[k] : lists.list_first[k + 1]].astype(np.int64)
        seen += _take(members, length, codes, question, count, apart, spans, taken)
    if len(taken) < count:
        taken.clear()
        everything = lists.members.astype(np.int64)
        _take(everything, length, codes, question, count, apart, spans, taken)
    rows = sorted(taken, key=lambda row: taken[row])
    return np.array(rows, dtype=np.int64), np.array([taken[row] for row in rows])


def _among_centres(
    question: Question, sides: tuple[bool, bool, bool]
) -> tuple[FloatArray, BoolArray]:
    parts = (
        (question.start[:LEADING], question.start_weight[:LEADING]),
        (question.end[:LEADING], question.end_weight[:LEADING]),
        (question.way, question.way_weight),
    )
    used = [part for part, wanted in zip(parts, sides, strict=True) if wanted]
    weight = np.concatenate([weight for _, weight in used])
    return np.concatenate([steps for steps, _ in used]) * np.sqrt(weight), weight > 0.0


def _far(centres: FloatArray, point: FloatArray, counts: BoolArray) -> FloatArray:
    return np.asarray(np.square(centres - point)[:, counts].sum(axis=1))


def _take(
    members: IntArray,
    length: int,
    codes: Codes,
    question: Question,
    count: int,
    apart: int,
    spans: IntArray,
    taken: dict[int, float],
) -> int:
    """Put members among those taken, one after the other; how many of them might be."""
    first, last = spans[:, :1], spans[:, 1:]
    free = ~((members <= last) & (members + length - 1 >= first)).any(axis=0)
    members = members[free]
    for row, d in zip(members.tolist(), scan_all(members, codes, question, length), strict=True):
        if len(taken) == count and d >= max(taken.values()):
            continue
        close = [other for other in taken if abs(other - row) < apart] if apart > 1 else []
        if any(taken[other] <= d for other in close):
            continue
        for other in close:
            del taken[other]
        if len(taken) == count:
            del taken[max(reversed(taken), key=lambda other: taken[other])]
        taken[row] = float(d)
    return len(members)
