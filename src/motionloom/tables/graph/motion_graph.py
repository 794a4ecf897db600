"""MotionGraph: clips joined where they are similar, and the shortest paths through them [KGP02]_.

The baseline of the second paper. It only ever plays captured frames and short blends between
frames that are nearly the same, so what it makes is good, but the way can be long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from motionloom._arrays import (
    FARTHEST,
    BoolArray,
    FloatArray,
    IntArray,
    flag,
    items,
    of_kind,
    positive,
)
from motionloom._core import kernel
from motionloom._progress import progress_bar
from motionloom._records import record
from motionloom.errors import ArrayError, TableError
from motionloom.tables.collection.frames import Frames
from motionloom.tables.graph.graph_joins import Nodes, find_places, nodes_of
from motionloom.tables.graph.graph_walk import GraphPath, GraphWalk, walk_path

Place = tuple[str, int]
"""Clip id and frame."""
_shortest = kernel("ml_graph_shortest")
_parts = kernel("ml_graph_parts")


@dataclass(frozen=True, slots=True, eq=False)
@record
class Steps:
    """Steps from node to node; those of node i are ``first[i]`` to ``first[i + 1] - 1``.

    Attributes
    ----------
    first : array of int
        (N + 1,)
    to : array of int
        Node that a step leads to. (E,)
    frames : array
        How long it takes. (E,)
    """

    first: IntArray
    to: IntArray
    frames: FloatArray

    def shortest(self, node: int) -> tuple[FloatArray, IntArray]:
        """Frames (N,) of the shortest ways from a node, infinite: none; and the nodes before.

        Returns
        -------
        frames, before : (N,) arrays
            Frames of each way, and the node before each node on it.
        """
        n = len(self.first) - 1
        frames, before = np.zeros(n), np.zeros(n, dtype=np.int64)
        work = np.zeros((2, n), dtype=np.int64)
        _shortest(n, len(self.to), self.first, self.to, self.frames, node, work, frames, before)
        return frames, before


class HasFrames(Protocol):
    """A collection: whatever has its frames in flat arrays."""

    @property
    def frames(self) -> Frames:
        """Every frame of the collection."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
@record
class GraphTransitions:
    """Places to change from one clip to another, or to another part of the same one.

    Attributes
    ----------
    leave : array of int
        Row that is the last one of the clip left; the blend starts there. (E,)
    enter : array of int
        Row that is the first one of the clip entered; the blend ends there. (E,)
    distance_cm : array
        Root mean square distance of the joints in the windows that are blended. (E,)
    """

    leave: IntArray
    enter: IntArray
    distance_cm: FloatArray

    def __len__(self) -> int:
        return len(self.leave)


@dataclass(frozen=True, slots=True, eq=False)
@record
class MotionGraph:
    """A graph over every n-th frame of a collection.

    Attributes
    ----------
    frames : Frames
        The collection's frames.
    nodes : Nodes
        Frames that are nodes.
    transitions : GraphTransitions
        Changes from clip to clip.
    connected : array of bool
        Nodes of the largest part in which every node reaches every other. (N,)
    threshold_cm : float
        Largest distance of two windows between which it may change, centimetres.
    blend : int
        Frames that a change of clip takes, at the collection's rate.
    steps : Steps
        Playing on, or changing.

    Examples
    --------
    >>> from motionloom import synthetic
    >>> from motionloom.tables.collection.frames import frames_of
    >>> clips = [synthetic.clip("walk").motion, synthetic.clip("jog").motion]
    >>> graph = MotionGraph.build(frames_of(clips), threshold_cm=12)
    >>> graph.path(("walk", 8), ("walk", 20)).n_frames
    12
    """

    frames: Frames
    nodes: Nodes
    transitions: GraphTransitions
    connected: BoolArray
    threshold_cm: float
    blend: int
    steps: Steps = field(repr=False)

    @classmethod
    def build(
        cls,
        collection: Frames | HasFrames,
        *,
        threshold_cm: float = 8.0,
        rate: float = 15.0,
        window_s: float = 1.0 / 3.0,
        progress: bool = False,
    ) -> MotionGraph:
        """A graph of all clips, with a change wherever two windows are most similar.

        Time grows with the square of the number of frames; memory does not.

        Parameters
        ----------
        collection
            A collection or its frames.
        threshold_cm
            Largest root mean square distance of the joints of two windows. Higher gives shorter
            ways and worse changes; 5 to 8 keep changes unseen, 12 already shows.
        rate
            Frames a second that are compared.
        window_s
            How long two stretches must be similar, and how long they are blended.
        progress
            Show a bar with the time left, if standard error is a terminal.

        Returns
        -------
        MotionGraph
            The graph; :meth:`path` finds ways in it.
        """
        frames = collection
        if not isinstance(frames, Frames):
            frames = of_kind(getattr(collection, "frames", collection), Frames, "collection")
        progress = flag(progress, "progress")
        threshold_cm = min(positive(threshold_cm, "threshold_cm"), FARTHEST)
        stride = max(1, round(frames.fps / positive(rate, "rate")))
        half = max(1, round(0.5 * (positive(window_s, "window_s") * frames.fps / stride - 1.0)))
        longest = int(np.diff(frames.starts).max())
        if (2 * half + 1) * stride > longest:
            raise ArrayError(
                f"`window_s` must fit into a clip: the longest has {longest / frames.fps:.2f} s, "
                f"got {window_s:g}."
            )
        nodes = nodes_of(frames, stride=stride)
        with progress_bar("motion graph", 1.0, shown=progress) as advance:
            places = find_places(
                nodes, half_window=half, threshold_cm=threshold_cm, progress=advance
            )
        # Similarity is symmetric: the window's first node of the one leads to its last of the
        # other. Frames i .. i + k - 1 of A are blended with j - k + 1 .. j of B.
        leave = np.concatenate([places.a - half, places.b - half])
        enter = np.concatenate([places.b + half, places.a + half])
        distance = np.concatenate([places.distance_cm, places.distance_cm])
        order = np.lexsort((enter, leave))
        leave, enter = leave[order], enter[order]
        steps = _steps(nodes, leave, enter, 2 * half)
        changes = GraphTransitions(nodes.rows[leave], nodes.rows[enter], distance[order])
        largest = _largest_component(steps)
        return cls(frames, nodes, changes, largest, float(threshold_cm), 2 * half * stride, steps)

    @property
    def connected_share(self) -> float:
        """Part of the nodes that are in the largest strongly connected part."""
        return float(self.connected.mean())

    def path(self, source: int | Place, target: int | Place) -> GraphPath:
        """The shortest way from one frame to another.

        A source outside the largest connected part plays on until it is inside, as it must; a
        target outside is reached if anything leads there.

        Parameters
        ----------
        source, target
            Rows of the collection, or clip id and frame.

        Returns
        -------
        GraphPath
            Runs of captured rows along the way, and how long it takes.
        """
        first, last = self._row(source, "source"), self._row(target, "target")
        path = self.paths([first], [last])[0]
        if path is None:
            raise TableError(
                f"The graph has no way from {self.frames.place_of(first)} to "
                f"{self.frames.place_of(last)} at {self.threshold_cm:g} cm. Raise `threshold_cm`, "
                "or ask the transition table."
            )
        return path

    def paths(
        self, sources: IntArray | list[int], targets: IntArray | list[int]
    ) -> list[GraphPath | None]:
        """Shortest ways from each source row to its target row, None where there is none.

        Returns
        -------
        list
            A :class:`GraphPath` or None for each pair.
        """
        starts = items(sources, "sources", "rows of the collection")
        ends = items(targets, "targets", "rows of the collection")
        if len(starts) != len(ends):
            raise ArrayError(
                f"`sources` and `targets` must go in pairs, got {len(starts)} and {len(ends)}."
            )
        results: list[GraphPath | None] = []
        for source, target in zip(starts, ends, strict=True):
            source, target = self._row(source, "sources"), self._row(target, "targets")
            best = None
            if self.frames.clip_at(source) == self.frames.clip_at(target) and target >= source:
                best = GraphPath(((source, target),), self.blend, self.frames.fps)
            start, goal = self._node_after(source), self._node_before(target)
            if start is not None:
                _, before = self.steps.shortest(start)
                if before[goal] >= 0 or start == goal:
                    way = self._path(source, target, start, goal, before)
                    if best is None or way.n_frames < best.n_frames:
                        best = way
            results.append(best)
        return results

    def reach(self, source: int | Place) -> FloatArray:
        """Frames of the shortest way from a frame to every node; infinite: there is none. (N,).

        Returns
        -------
        (N,) array
            Frames, infinite where no way leads.
        """
        row = self._row(source, "source")
        start = self._node_after(row)
        if start is None:
            return np.full(len(self.nodes.rows), np.inf)
        frames, _ = self.steps.shortest(start)
        return np.asarray(frames + (self.nodes.rows[start] - row))

    def synthesize(self, path: GraphPath, *, name: str = "") -> GraphWalk:
        """The motion along a path, standing where the first clip stood.

        Returns
        -------
        GraphWalk
            The motion, its contacts, and where each change is blended.
        """
        of_kind(path, GraphPath, "path")
        return walk_path(self.frames, path, name=of_kind(name, str, "name"))

    def _row(self, place: int | Place, name: str) -> int:
        if not isinstance(place, int | np.integer):
            return self.frames.row_at(place, name)
        if not 0 <= place < self.frames.n_rows:
            raise ArrayError(
                f"`{name}` must be a row from 0 to {self.frames.n_rows - 1}, got {place}."
            )
        return int(place)

    def _node_after(self, row: int) -> int | None:
        """The first node of the row's clip that is not before the row."""
        node = int(np.searchsorted(self.nodes.rows, row))
        if node == len(self.nodes.rows) or self.nodes.clips[node] != self.frames.clip_at(row):
            return None
        return node

    def _node_before(self, row: int) -> int:
        """The last node of the row's clip that is not after the row; there always is one."""
        return int(np.searchsorted(self.nodes.rows, row, side="right")) - 1

    def _path(self, source: int, target: int, start: int, goal: int, before: IntArray) -> GraphPath:
        """Runs of rows from the nodes' predecessors."""
        chain = [goal]
        while chain[-1] != start:
            chain.append(int(before[chain[-1]]))
        rows = [int(self.nodes.rows[node]) for node in reversed(chain)]
        pieces, first = [], source
        clips = [int(self.nodes.clips[node]) for node in reversed(chain)]
        for k in range(1, len(rows)):
            plays_on = clips[k] == clips[k - 1] and rows[k] - rows[k - 1] == self.nodes.stride
            if not plays_on:
                pieces.append((first, rows[k - 1]))
                first = rows[k]
        pieces.append((first, target))
        return GraphPath(tuple(pieces), self.blend, self.frames.fps)


def _steps(nodes: Nodes, leave: IntArray, enter: IntArray, blend: int) -> Steps:
    """Steps from node to node, playing on or changing."""
    on = np.flatnonzero(nodes.clips[1:] == nodes.clips[:-1])
    starts, ends = np.concatenate([on, leave]), np.concatenate([on + 1, enter])
    lengths = np.concatenate([np.ones(len(on)), np.full(len(leave), float(blend))])
    order = np.lexsort((ends, starts))
    first = np.searchsorted(starts[order], np.arange(len(nodes.rows) + 1))
    return Steps(first, ends[order], (nodes.stride * lengths)[order])


def _largest_component(steps: Steps) -> BoolArray:
    """Nodes of the largest strongly connected part; of two equally large ones the first. (N,)."""
    n = len(steps.first) - 1
    parts = np.zeros(n, dtype=np.int64)
    _parts(n, len(steps.to), steps.first, steps.to, np.zeros((4, n), dtype=np.int64), parts)
    sizes = np.bincount(parts)
    largest = sizes[parts] == sizes.max()
    return np.asarray(parts == parts[largest][0])
