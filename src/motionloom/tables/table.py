"""TransitionTable: the best recipes between representatives of a collection, in one file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

from motionloom._arrays import flag, positive, whole
from motionloom._core import constant
from motionloom._records import name_for, one_line
from motionloom.errors import TableError
from motionloom.files.reading import path_of
from motionloom.motion.motion import Skeleton
from motionloom.tables.collection.collection import Collection
from motionloom.tables.collection.frames import Frames
from motionloom.tables.index.index_build import window_index
from motionloom.tables.index.neighbours import WindowIndex
from motionloom.tables.index.windows import window_from, window_to
from motionloom.tables.score.columns import Ranking
from motionloom.tables.table_contents import (
    Entry,
    TableArrays,
    TableHeader,
    check_arrays,
    check_duration,
    check_sources,
    find_collection,
    read_header,
    require_default,
)
from motionloom.tables.table_file import TableFile, open_table_file
from motionloom.tables.table_places import RESCORED, Place

if TYPE_CHECKING:  # loaded by the methods that need them: a table opens in a fraction of the time
    from motionloom.motion.motion import Motion
    from motionloom.tables.graph.motion_graph import MotionGraph
    from motionloom.tables.paper.paper_engine import PaperEngine
    from motionloom.tables.path import HybridPath
    from motionloom.tables.query_engine import QueryEngine
    from motionloom.tables.stream import DeadEnds, Stream
    from motionloom.tables.synthesis.fill import Fill
    from motionloom.tables.table_transition import TableTransition

PATIENCE_S = constant("ML_STREAM_PATIENCE_S")
"""Seconds that an order of a live character waits for a transition that passes its check."""


class TransitionTable:
    """Recipes of transitions from any frame of a collection to any other.

    Built by :func:`motionloom.build_table`, opened by :meth:`open`. Arrays stay in the file and are
    read when they are used.

    Attributes
    ----------
    file : Path
        Where it lies.
    collection : Collection
        What the table was built on.
    length : int
        Frames of a transition.
    medoids, ends, between, costs, lookup
        As in :class:`~motionloom.tables.table_contents.TableArrays`.
    nearest : (R,)
        The representative of the window that starts at every row.

    Examples
    --------
    >>> import tempfile
    >>> import motionloom as ml
    >>> with tempfile.TemporaryDirectory() as place:
    ...     clips = {kind: ml.synthetic.clip(kind, fps=20).motion for kind in ("walk", "run")}
    ...     for kind, clip in clips.items():
    ...         ml.save(clip, Path(place) / f"{kind}.bvh")
    ...     lib = ml.Collection.ingest(place, out=Path(place) / "lib.mlc", fps=20)
    ...     lib.annotate("run", "run")
    ...     table = ml.build_table(lib, length_s=0.5, clusters=3, progress=False)
    ...     to_frame = table.transition(("walk", 3), ("run", 40), longest_s=0.5)
    ...     to_label = table.transition(("walk", 3), label="run", longest_s=0.5)
    ...     filled = table.fill(clips["walk"], 20, 30)
    ...     character = table.stream(("walk", 0))
    ...     character.go(label="run")
    ...     pose = character.step()
    ...     way = table.path(("walk", 3), ("run", 40))
    >>> to_frame.motion.n_frames, to_label.motion.n_frames, filled.span, pose.local_quats.shape
    (10, 10, (20, 30), (22, 4))
    >>> way.chosen in ("table", "graph", "neither")
    True
    """

    def __init__(
        self,
        file: TableFile,
        header: TableHeader,
        collection: Collection,
        *,
        index: WindowIndex | None = None,
    ) -> None:
        self.file = file.path
        self.collection = collection
        self.length, self.family = header.length, header.family
        self._arrays = TableArrays.of_file(file.arrays)
        self.medoids, self.ends, self.between, self.costs, self.lookup = self._arrays
        self.nearest = self.lookup.fine
        self.header = header
        self._opened = file
        self._index = index
        self._query: QueryEngine | None = None
        self._paper: PaperEngine | None = None
        self._graph: MotionGraph | None = None
        self._lock, self._graph_lock = Lock(), Lock()

    @classmethod
    def open(
        cls, path: str | Path, *, collection: Collection | str | Path | None = None
    ) -> TransitionTable:
        """The table in a file, with the collection it was built on.

        Parameters
        ----------
        path
            A file made by :func:`motionloom.build_table`.
        collection
            Where the collection is now; by default where it was, as seen from the table.

        Returns
        -------
        TransitionTable
            The table; arrays stay in the file.

        Raises
        ------
        TableError
            The file is damaged or no table, or the collection is gone or has changed.
        """
        file = open_table_file(path_of(path, "path"))
        header = read_header(file)
        if not isinstance(collection, Collection):
            collection = find_collection(file, collection)
        check_sources(file, collection)
        check_duration(file, header.length, collection.fps)
        check_arrays(file, header.length, collection.frames.starts, method=header.method)
        return cls(file, header, collection)

    @property
    def frames(self) -> Frames:
        """Every frame of the collection."""
        return self.collection.frames

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton of the collection."""
        return self.frames.skeleton

    @property
    def fps(self) -> float:
        """Frames per second of the collection."""
        return self.frames.fps

    @property
    def length_s(self) -> float:
        """Duration of a transition, seconds."""
        return self.length / self.frames.fps

    @property
    def n_ends(self) -> int:
        """Number of representatives, E."""
        return len(self.ends)

    @property
    def neighbours(self) -> WindowIndex:
        """The index of all captured windows by how they start, end and go."""
        if self._index is None:
            self._index = window_index(self.collection, self.length)
        return self._index

    @property
    def query_engine(self) -> QueryEngine:
        """The table with everything at hand that transitions look up; built once, on first use."""
        from motionloom.tables.query_engine import QueryEngine

        with self._lock:
            if self._query is None:
                self._query = QueryEngine(
                    self._arrays, self.header, self.collection, self.neighbours, owner=self
                )
            return self._query

    @property
    def method(self) -> str:
        """How transitions are made: ``"default"``, or ``"paper"`` as in the papers."""
        return self.header.method

    @property
    def paper_engine(self) -> PaperEngine:
        """The papers' table with everything at hand that transitions look up."""
        from motionloom.tables.paper.paper_engine import PaperEngine
        from motionloom.tables.paper.time_alignment import RecipeTimes

        query = self.query_engine
        with self._lock:
            if self._paper is None:
                times = RecipeTimes.of_file(self.arrays)
                self._paper = PaperEngine(query, times, self.header, owner=self)
            return self._paper

    @property
    def ranking(self) -> Ranking:
        """The cost that the search minimised."""
        return self.header.ranking

    @property
    def settings(self) -> dict[str, Any]:
        """What the table was built with."""
        return dict(self.header.settings)

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Every array of the file by its name."""
        return self._opened.arrays

    def recipes(self, source: int, target: int) -> Entry:
        """The recipes from one representative to another, by their numbers.

        Returns
        -------
        Entry
            The recipes and their costs, best first.
        """
        source, target = whole(source, "source"), whole(target, "target")
        for name, value in (("source", source), ("target", target)):
            if not 0 <= value < self.n_ends:
                raise TableError(
                    f"`{name}` must be a representative, 0 to {self.n_ends - 1}, got {value}."
                )
        ends = int(self.ends[source]), int(self.ends[target])
        return self._arrays.entry((source, target), ends, (self.length, self.family))

    def entry(self, source: Place, target: Place) -> Entry:
        """The recipes from a frame to a frame, with their own windows as source and target.

        The source window starts at the first frame, the target window ends at the second; near a
        clip's end or start the clip's last or first window is used.

        Returns
        -------
        Entry
            The recipes and their costs, best first.
        """
        frames = self.frames
        first, _ = window_from(frames, frames.row_at(source, "source"), self.length)
        last, _ = window_to(frames, frames.row_at(target, "target"), self.length)
        pair = int(self.nearest[first]), int(self.nearest[last])
        return self._arrays.entry(pair, (first, last), (self.length, self.family))

    def transition(
        self,
        source: Place,
        target: Place | None = None,
        *,
        label: str | None = None,
        lead_s: float = 0.0,
        follow_s: float = 0.0,
        longest_s: float | None = None,
        tolerance_s: float = 0.0,
        rescore: int = RESCORED,
        variation: int | None = None,
        search: bool | Literal["refine"] = False,
        still_feet: bool = False,
    ) -> TableTransition:
        """A motion from a frame to a frame, or to a label, with feet on the ground.

        Parameters
        ----------
        source, target
            Clip id and frame to leave from and to arrive at.
        label
            In place of ``target``: arrive at any frame that carries it.
        lead_s, follow_s
            Seconds of the source's clip before, and of the target's clip after.
        longest_s
            Seconds that a transition may take. If nothing as long as the table's windows is
            natural, the source clip plays longer and the target clip is entered earlier, within
            this time; 2 by default. At least one window and at most four; a note reports it where
            that differs from what was given.
        tolerance_s
            Seconds by which it may arrive after the target frame; 0 by default. At most one window;
            a note reports it if more was given.
        rescore
            Recipes of the table that are scored with the real windows if nothing else is natural;
            32 by default. 0 scores nothing: of the two best stored recipes and the plain blend,
            in this order, the first is taken that passes the quality check.
        variation
            A number that draws another transition between the same frames. It passes the quality
            check, is natural if the first choice is, and costs at most half as much again. If no
            drawn one does, the first choice is returned, and a note reports it.
        search
            ``"refine"`` exchanges intermediaries of the best recipe while that improves it; True
            scores all recipes first. Both take a few milliseconds. Neither they nor ``rescore=0``
            can be combined with ``longest_s`` and ``tolerance_s``: they try only the frames asked
            for.
        still_feet
            If True, planted feet of captured windows are held still; by default they drift as
            captured planted feet do, by 1 to 4 cm/s.

        Returns
        -------
        TableTransition
            The motion, the candidates between the frames it joins, and ``why`` this one was taken.
        """
        from motionloom.tables.transition_search import TransitionRequest, transition

        request = TransitionRequest(
            source, target, label, lead_s, follow_s, longest_s, tolerance_s, rescore, variation,
            search, still_feet,
        )  # fmt: skip
        if self.method == "paper":
            from motionloom.tables.paper.paper_engine import paper_transition

            return paper_transition(self.paper_engine, request)
        return transition(self.query_engine, request)

    def fill(
        self,
        motion: Motion,
        first: int,
        last: int,
        *,
        count: int | None = None,
        clean: bool = True,
        exclude: Sequence[str] = (),
        match: bool = True,
    ) -> Fill:
        """The motion with frames ``first`` to ``last`` synthesized from captured windows.

        If the result fails its quality check, other attempts are made: fast motion is averaged,
        too; feet are lifted where they drag, not held; fewer windows are averaged; windows are
        played at nearly the rate they were captured at. The first that passes is returned, or the
        one that fails least; ``Fill.verification`` and ``notes`` name what still fails.

        Parameters
        ----------
        motion
            Any motion of a body. If its skeleton or rate is not the collection's, the result is the
            motion resampled and retargeted, which ``Fill.notes`` report.
        first, last
            First and last frame of the gap in ``motion``, inclusive; there must be a frame before
            and one after. ``Fill.span`` has them in the result.
        count
            Windows that are averaged; 64 by default, fewer where that fails its check.
        clean
            If False, planted feet are left as the windows have them.
        exclude
            Clips that no window may come from.
        match
            If False, a motion with another skeleton or rate raises an error.

        Returns
        -------
        Fill
            The whole motion, the filled ``span``, and its check.
        """
        from motionloom.tables.synthesis.fill import GapMotion, fill_checked, matched_gap

        clean, match = flag(clean, "clean"), flag(match, "match")
        count = None if count is None else whole(count, "count", least=1)
        gap = GapMotion(motion, whole(first, "first"), whole(last, "last"))
        if match:
            gap = matched_gap(self.frames, motion, first, last)
        # The index holds windows of one length; gaps of others are compared with all windows.
        fits = gap.last - gap.first + 3 == self.length
        return fill_checked(
            self.query_engine.check,
            gap,
            index=self.neighbours if fits else None,
            count=count,
            feet=clean,
            exclude=exclude,
        )

    def stream(self, source: Place, *, patience_s: float = PATIENCE_S) -> Stream:
        """A live character that starts at a frame and follows orders.

        Parameters
        ----------
        source
            Clip id and frame.
        patience_s
            Seconds that an order waits for a transition that passes the quality check; after that
            the transition that fails least is taken.

        Returns
        -------
        Stream
            ``go``, ``hold`` and ``act`` send it to frames and labels, ``step`` returns the next
            pose.
        """
        from motionloom.tables.stream import Stream

        require_default(self.header, self.file, "A live character")
        return Stream(self.query_engine, source, patience_s=patience_s)

    def dead_ends(self, *, progress: bool = False) -> DeadEnds:
        """Clips and labels at whose ends a live character finds no transition that passes.

        There it plays the transition that fails least, and its state is
        ``Doing.CONTINUING_BADLY``. More clips of such motion, or longer ones, help.

        Parameters
        ----------
        progress
            Whether to draw a bar with the time left, if standard error is a terminal.

        Returns
        -------
        DeadEnds
            Names of clips and labels; both empty in a table that never ends.
        """
        from motionloom.tables.stream import find_dead_ends

        require_default(self.header, self.file, "A live character")
        return find_dead_ends(
            self.frames,
            self.collection.labels,
            self.length,
            self.stream,
            progress=flag(progress, "progress"),
        )

    def path(
        self,
        source: Place,
        target: Place,
        *,
        graph: MotionGraph | None = None,
        limit_in: float | None = None,
        limit_s: float | None = None,
    ) -> HybridPath:
        """The better of motion graph and table from a frame to a frame, and why.

        Parameters
        ----------
        source, target
            Clip id and frame.
        graph
            Of the same collection; built at the first call where not given, which takes seconds.
        limit_in
            Cost by the papers' sum below which a transition counts as good, inches (6 in the
            papers); by default naturalness decides.
        limit_s
            Seconds up to which a path through the graph counts as quick; the length of a transition
            by default.

        Returns
        -------
        HybridPath
            Both candidates, which one is ``chosen``, and ``why``.
        """
        from motionloom.tables.path import choose_path

        for name, place in (("source", source), ("target", target)):
            self.frames.row_at(place, name)
        graph = self._motion_graph() if graph is None else graph
        limit_s = self.length_s if limit_s is None else positive(limit_s, "limit_s")
        best = self.transition(source, target, longest_s=max(limit_s, self.length_s))
        return choose_path(best, graph, source, target, limit_in=limit_in, limit_s=limit_s)

    def _motion_graph(self) -> MotionGraph:
        """The motion graph of the collection; building it takes seconds."""
        from motionloom.tables.graph.motion_graph import MotionGraph

        with self._graph_lock:
            if self._graph is None:
                self._graph = MotionGraph.build(self.frames)
            return self._graph

    def info(self) -> dict[str, Any]:
        """What the table is, in values that JSON can hold.

        Returns
        -------
        dict
            Sizes, settings and labels.
        """
        return {
            "file": str(self.file),
            "bytes": self._opened.size,
            "collection": str(self.collection.path),
            "clips": self.frames.n_clips,
            "frames": self.frames.n_rows,
            "clips_added": self.header.extended,
            "fps": self.frames.fps,
            "length_frames": self.length,
            "length_s": self.length_s,
            "settings": self.settings,
            **self._arrays.info(),
            "labels": sorted({label.label for label in self.collection.labels}),
            "sections": {name: int(array.nbytes) for name, array in self.arrays.items()},
        }

    def find_damage(self) -> list[str]:
        """What is wrong with the file and its collection, in words; reads everything.

        Returns
        -------
        list of str
            One sentence for each thing that is wrong; empty if nothing is.
        """
        return self._opened.find_damage() + self.collection.find_damage()

    def __reduce__(self) -> tuple[object, ...]:
        reopen = partial(TransitionTable.open, collection=self.collection)
        return reopen, (str(self.file.absolute()),)

    def __repr__(self) -> str:
        return one_line(
            f"TransitionTable({name_for(self.file.name)}: {len(self.medoids)} clusters, "
            f"{self.length_s:g} s, {self.frames.n_clips} clips)"
        )
