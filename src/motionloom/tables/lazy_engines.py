"""Lazy engines: what transitions and paths of a table look up, built once, on first use."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from motionloom.tables.collection.collection import Collection
from motionloom.tables.index.neighbours import WindowIndex
from motionloom.tables.table_arrays import TableArrays
from motionloom.tables.table_header import TableHeader

if TYPE_CHECKING:  # loaded when they are built: a table opens in a fraction of the time
    from motionloom.tables.graph.motion_graph import MotionGraph
    from motionloom.tables.paper.paper_engine import PaperEngine
    from motionloom.tables.query_engine import QueryEngine


class LazyEngines:
    """Engines and motion graph of one table.

    Parameters
    ----------
    arrays, header
        Of the table.
    collection
        What it was built on.
    """

    def __init__(self, arrays: TableArrays, header: TableHeader, collection: Collection) -> None:
        self._arrays, self._header, self._collection = arrays, header, collection
        self._query: QueryEngine | None = None
        self._paper: PaperEngine | None = None
        self._graph: MotionGraph | None = None
        self._lock, self._graph_lock = Lock(), Lock()

    def query(self, index: Callable[[], WindowIndex], *, owner: object) -> QueryEngine:
        """The table with everything at hand that transitions look up; pickled as its owner's."""
        from motionloom.tables.query_engine import QueryEngine

        with self._lock:
            if self._query is None:
                self._query = QueryEngine(
                    self._arrays, self._header, self._collection, index(), owner=owner
                )
            return self._query

    def paper(
        self, query: QueryEngine, arrays: dict[str, npt.NDArray[Any]], *, owner: object
    ) -> PaperEngine:
        """The papers' table with everything at hand; ``arrays`` are all of the file's."""
        from motionloom.tables.paper.paper_engine import PaperEngine
        from motionloom.tables.paper.recipe_times import RecipeTimes

        with self._lock:
            if self._paper is None:
                times = RecipeTimes.of_file(arrays)
                self._paper = PaperEngine(query, times, self._header, owner=owner)
            return self._paper

    def graph(self) -> MotionGraph:
        """The motion graph of the collection; building it takes seconds."""
        from motionloom.tables.graph.motion_graph import MotionGraph

        with self._graph_lock:
            if self._graph is None:
                self._graph = MotionGraph.build(self._collection.frames)
            return self._graph
