"""The compiled search of a window index, and the plain form that it is held against."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from motionloom._arrays import IntArray
from motionloom.transitions.collecting.frames import FloatArray32
from motionloom.transitions.compiled import variable

__all__ = ["HEAD", "LEADING", "Books", "Question", "ask", "scan_all", "search_lists"]

LEADING = 16
"""Components that the lists are made by."""
HEAD = 8
"""Those of them that every window in a list is looked at by."""


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


class Books(NamedTuple):
    """How contexts become codes: ``code = axes @ (context - mean) / steps``."""

    start_mean: FloatArray32
    start_axes: FloatArray32
    """(C, D)"""
    start_steps: FloatArray32
    """Metres a step, per component. (C,)"""
    end_mean: FloatArray32
    end_axes: FloatArray32
    end_steps: FloatArray32
    way_step: FloatArray32
    """Metres. (1,)"""


def scan_all(
    rows: IntArray,
    codes: tuple[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.int16]],
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


@njit(cache=True)
def ask(books, given, asked):  # type: ignore[no-untyped-def]
    """The question for contexts (D,) and a displacement (3,), of which those ``asked`` count."""
    start, end, way = given
    at_start, start_weight = _placed(
        start, books.start_mean, books.start_axes, books.start_steps, asked[0]
    )
    at_end, end_weight = _placed(end, books.end_mean, books.end_axes, books.end_steps, asked[1])
    step = books.way_step[0]
    weight = np.full(3, step * step if asked[2] else 0.0).astype(np.float32)
    steps = (way / step).astype(np.float32)
    return Question(at_start, at_end, steps, start_weight, end_weight, weight)


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def _placed(context, mean, axes, steps, asked):  # type: ignore[no-untyped-def]
    """A context in steps of the components, and what a squared step weighs."""
    code = np.zeros(len(steps), np.float32)
    weight = np.zeros(len(steps), np.float32)
    if asked:
        for c in range(len(steps)):
            along = np.float32(0.0)
            for d in range(len(mean)):
                along += axes[c, d] * (context[d] - mean[d])
            code[c] = along / steps[c]
            weight[c] = steps[c] * steps[c]
    return code, weight


@njit(cache=True)
def search_lists(  # type: ignore[no-untyped-def]
    lists, sides, codes, books, given, asked, length, count, apart, spans, effort
):
    """Rows and squared distances of the nearest windows, in the lists nearest to the question.

    Parameters
    ----------
    lists, sides
        The arrays of a partition; whether it is by starts, by ends, and by displacements.
    codes, books
        Starts, ends and ways of all rows, and how they are written.
    given, asked
        Contexts of start and end, and displacement; which of them count.
    length, count, apart, spans
        Frames of a window, windows wanted, rows between two of them, rows to leave out.
    effort
        How many groups and lists are looked into, and after how many windows the search ends;
        those left out do not count. If the lists hold fewer windows than are wanted, all lists are
        searched.
    """
    question = ask(books, given, asked)
    point, weight = _among_centres(question, sides, lists[0].shape[1])
    groups, group_first, centres, list_first, members, heads = lists
    head, head_weight = _head(question, sides, heads.shape[1])
    near_groups = np.full(min(effort[0], len(groups)), -1, np.int64)
    far = np.full(len(near_groups), np.inf, np.float32)
    _keep_nearest(groups, variable(0), len(groups), point, weight, near_groups, far)
    near = np.full(min(effort[1], len(centres)), -1, np.int64)
    far = np.full(len(near), np.inf, np.float32)
    for group in near_groups:
        first, last = group_first[group], group_first[group + 1]
        _keep_nearest(centres, first, last, point, weight, near, far)
    rows = np.full(count, -1, np.int64)
    squared = np.full(count, np.inf, np.float32)
    seen = 0
    for k in near:
        if k < 0 or (seen >= effort[2] and rows[count - 1] >= 0):
            break
        seen += _scan(
            members[list_first[k] : list_first[k + 1]],
            heads[list_first[k] : list_first[k + 1]],
            (head, head_weight),
            codes,
            question,
            length,
            apart,
            spans,
            rows,
            squared,
        )
    if rows[count - 1] < 0:
        for n in range(count):
            rows[n], squared[n] = -1, np.inf
        _scan(
            members,
            heads,
            (head, head_weight),
            codes,
            question,
            length,
            apart,
            spans,
            rows,
            squared,
        )
    found = 0
    while found < count and rows[found] >= 0:
        found += 1
    return rows[:found], squared[:found]


@njit(cache=True)
def _among_centres(question, sides, width):  # type: ignore[no-untyped-def]
    """The question among the centres of lists, metres, and which of its numbers count."""
    point, weight = np.zeros(width, np.float32), np.zeros(width, np.float32)
    first = 0
    for side in range(3):
        if not sides[side]:
            continue
        asked, step_squared, last = question.way, question.way_weight, width
        if side == 0:
            asked, step_squared, last = question.start, question.start_weight, first + LEADING
        elif side == 1:
            asked, step_squared, last = question.end, question.end_weight, first + LEADING
        for c in range(min(last, width) - first):
            if step_squared[c] > 0.0:
                point[first + c] = asked[c] * np.sqrt(step_squared[c])
                weight[first + c] = 1.0
        first = last
    return point, weight


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def _keep_nearest(centres, first, last, point, weight, near, far):  # type: ignore[no-untyped-def]
    """Put those of the centres that are near enough into the sorted list ``near``."""
    for k in range(first, last):
        squared = np.float32(0.0)
        for d in range(centres.shape[1]):
            step = centres[k, d] - point[d]
            squared += weight[d] * step * step
        if squared < far[-1]:
            _insert(k, squared, near, far)


@njit(cache=True)
def _head(question, sides, width):  # type: ignore[no-untyped-def]
    """The part of the question that heads answer, and what a squared step of each weighs."""
    head, weight = np.zeros(width, np.float32), np.zeros(width, np.float32)
    first = 0
    for side in range(2):
        if sides[side]:
            asked = question.start if side == 0 else question.end
            squared = question.start_weight if side == 0 else question.end_weight
            for c in range(HEAD):
                head[first + c], weight[first + c] = asked[c], squared[c]
            first += HEAD
    return head, weight


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def _scan(members, heads, head_asked, codes, question, length, apart, spans, rows, squared):  # type: ignore[no-untyped-def]
    """Try every member; how many of them might be taken."""
    starts, ends, ways = codes
    # Taken out of the tuples once: every time costs more than a component does.
    start, end, way, start_weight, end_weight, way_weight = question
    head, head_weight = head_asked
    seen = 0
    bound = squared[-1]
    for n in range(len(members)):
        row = np.int64(members[n])
        last = row + length - 1
        free = True
        for k in range(len(spans)):
            if row <= spans[k, 1] and last >= spans[k, 0]:
                free = False
        if not free:
            continue
        seen += 1
        d = np.float32(0.0)
        for c in range(heads.shape[1]):
            step = np.float32(heads[n, c]) - head[c]
            d += head_weight[c] * step * step
        if d >= bound:  # most are given up here, and the rest of their codes is never fetched
            continue
        d = np.float32(0.0)
        for c in range(3):
            step = np.float32(ways[row, c]) - way[c]
            d += way_weight[c] * step * step
        for c in range(starts.shape[1]):
            step = np.float32(starts[row, c]) - start[c]
            other = np.float32(ends[last, c]) - end[c]
            d += start_weight[c] * step * step + end_weight[c] * other * other
        if d < bound:
            if apart <= 1 or _clear(row, d, apart, rows, squared):
                _insert(row, d, rows, squared)
            bound = squared[-1]
    return seen


@njit(cache=True)
def _insert(row, d, rows, squared):  # type: ignore[no-untyped-def]
    """Into the sorted list, whose last one goes."""
    at = len(rows) - 1
    while at > 0 and squared[at - 1] > d:
        rows[at], squared[at] = rows[at - 1], squared[at - 1]
        at -= 1
    rows[at], squared[at] = row, d


@njit(cache=True)
def _clear(row, d, apart, rows, squared):  # type: ignore[no-untyped-def]
    """Whether there is no better one closer than ``apart``; worse ones that close are taken out."""
    for n in range(len(rows)):
        if rows[n] >= 0 and abs(rows[n] - row) < apart and squared[n] <= d:
            return False
    kept = 0
    for n in range(len(rows)):
        if rows[n] >= 0 and abs(rows[n] - row) >= apart:
            rows[kept], squared[kept] = rows[n], squared[n]
            kept += 1
    for n in range(kept, len(rows)):
        rows[n], squared[n] = -1, np.inf
    return True
