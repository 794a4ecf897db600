"""The search of a window index by the core."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from motionloom._arrays import IntArray
from motionloom._core import Record, kernel, record
from motionloom.tables.collection.clip_frames import FloatArray32
from motionloom.tables.index.kmeans import Partition

LEADING = 16
"""Components that the lists are made by."""
HEAD = 8
"""Those of them that every window in a list is looked at by."""

Codes = tuple[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.int16]]
"""Starts and ends (R, C) and ways (R, 3) of all rows."""
Given = tuple[FloatArray32 | None, FloatArray32 | None, FloatArray32 | None]
"""Contexts of start and end (D,), and displacement (3,); None is not asked for."""
Effort = tuple[int, int, int]
"""How many groups and lists are looked into, and after how many windows the search ends."""

_search = kernel("ml_neighbour_search")


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


def windows_record(length: int, books: Books, codes: Codes) -> Record:
    """Codes of all windows and how they are written, as the core takes them."""
    starts, ends, ways = codes
    return record(
        "ml_window_index",
        n_rows=len(starts),
        n_codes=starts.shape[1],
        n_columns=len(books.start_mean),
        length=length,
        starts=np.ascontiguousarray(starts, dtype=np.int8),
        ends=np.ascontiguousarray(ends, dtype=np.int8),
        ways=np.ascontiguousarray(ways, dtype=np.int16),
        **{
            name: np.ascontiguousarray(values, dtype=np.float32)
            for name, values in books._asdict().items()
        },
    )


def lists_record(lists: Partition, sides: tuple[bool, bool, bool]) -> Record:
    """A partition by starts, by ends, and by displacements, as the core takes it."""
    return record(
        "ml_window_lists",
        n_groups=len(lists.groups),
        n_lists=len(lists.centres),
        n_members=len(lists.members),
        width=lists.centres.shape[1],
        n_head=lists.heads.shape[1],
        by_start=sides[0],
        by_end=sides[1],
        by_way=sides[2],
        groups=np.ascontiguousarray(lists.groups, dtype=np.float32),
        group_first=np.ascontiguousarray(lists.group_first, dtype=np.int64),
        centres=np.ascontiguousarray(lists.centres, dtype=np.float32),
        list_first=np.ascontiguousarray(lists.list_first, dtype=np.int64),
        members=np.ascontiguousarray(lists.members, dtype=np.uint32),
        heads=np.ascontiguousarray(lists.heads, dtype=np.int8),
    )


def scratch_size(windows: Record, lists: Record, effort: Effort) -> int:
    """Numbers that a search keeps on its way."""
    question = 4 * windows.struct.n_codes + 6 + 2 * lists.struct.width + 2 * lists.struct.n_head
    return int(question + effort[0] + effort[1])


def search_lists(
    windows: Record,
    lists: Record,
    given: Given,
    *,
    count: int,
    apart: int,
    spans: IntArray,
    effort: Effort,
) -> tuple[IntArray, FloatArray32]:
    """Rows and squared distances of the nearest windows, in the lists nearest to the question.

    Parameters
    ----------
    windows
        From :func:`windows_record`.
    lists
        From :func:`lists_record`.
    given
        What is looked for.
    count, apart, spans
        Windows wanted, rows between two of them, rows to leave out.
    effort
        Windows left out do not count. If the lists hold fewer windows than are wanted, all lists
        are searched.
    """
    rows, squared = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.float32)
    n_rows = np.zeros(1, dtype=np.int64)
    _search(
        windows,
        lists,
        *given,
        apart,
        len(spans),
        spans,
        *effort,
        np.zeros(effort[0] + effort[1], dtype=np.int64),
        np.zeros(scratch_size(windows, lists, effort), dtype=np.float32),
        count,
        rows,
        squared,
        n_rows,
    )
    return rows[: n_rows[0]], squared[: n_rows[0]]
