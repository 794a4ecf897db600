"""The search of a window index."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from motionloom._arrays import BoolArray, FloatArray, IntArray
from motionloom._core import Record, kernel
from motionloom.tables.collection.frames import FloatArray32
from motionloom.tables.index.kmeans import Partition
from motionloom.tables.index.neighbours import LEADING, Books, Codes, Effort, Given, WindowIndex


class Question(NamedTuple):
    """What is looked for, in the units of the codes."""

    start: FloatArray32
    """In steps of the start's components. (C,)"""
    end: FloatArray32
    way: FloatArray32
    """In steps of the displacement. (3,)"""
    start_weight: FloatArray32
    """Square metres a squared step; all zero where the start was not asked for. (C,)"""
    end_weight: FloatArray32
    way_weight: FloatArray32


def scan_all(
    rows: IntArray,
    codes: Codes,
    question: Question,
    length: int,
) -> FloatArray32:
    """Squared distance of every one of the windows ``rows`` from what is asked for, (N,)."""
    starts, ends, ways = codes
    return np.asarray(
        np.square(starts[rows] - question.start) @ question.start_weight
        + np.square(ends[rows + length - 1] - question.end) @ question.end_weight
        + np.square(ways[rows] - question.way) @ question.way_weight
    )


def ask_core(windows: Record, given: Given) -> Question:
    """The question for contexts and a displacement, in the units of the codes."""
    n: int = windows.n_codes
    flat = np.zeros(4 * n + 6, dtype=np.float32)
    kernel("ml_neighbour_ask")(windows, *given, flat)
    start, end, start_weight, end_weight = flat[: 4 * n].reshape(4, n)
    return Question(
        start, end, flat[4 * n : 4 * n + 3], start_weight, end_weight, flat[4 * n + 3 :]
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


def question_of(index: WindowIndex, **asked: FloatArray) -> Question:
    """What is asked for, in the units of an index, by the core."""
    given = (asked.get(name) for name in ("start", "end", "displacement"))
    arrays = (None if each is None else np.array(each, dtype=np.float32) for each in given)
    return ask_core(index.windows_record(), tuple(arrays))
