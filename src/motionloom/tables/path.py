"""path(): from frame to frame by motion graph or by table, whichever is better, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from motionloom._arrays import of_kind, positive
from motionloom._records import record
from motionloom.errors import ArrayError
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.tables.collection.frames import Frames
from motionloom.tables.graph.graph_walk import GraphWalk
from motionloom.tables.graph.motion_graph import GraphPath, MotionGraph

__all__ = ["HybridPath", "path"]

Place = tuple[str, int]
"""Clip id and frame."""


class Scored(Protocol):
    """What a transition is judged by."""

    @property
    def total(self) -> float:
        """The paper's sum, inches."""
        ...

    @property
    def natural(self) -> bool:
        """Whether it passes, by what the table holds to be natural."""
        ...

    @property
    def naturalness(self) -> float | None:
        """Likeness to captured motion, 0 to 1, where it is known."""
        ...


class Made(Protocol):
    """A transition from a table."""

    @property
    def motion(self) -> Motion:
        """The transition."""
        ...

    @property
    def footplants(self) -> Footplants:
        """Its plants."""
        ...

    @property
    def score(self) -> Scored:
        """How good it is."""
        ...


class Table(Protocol):
    """Whatever makes transitions between frames of a collection."""

    @property
    def frames(self) -> Frames:
        """Every frame of the collection."""
        ...

    @property
    def length(self) -> int:
        """Frames of a transition."""
        ...

    def transition(self, source: Place, target: Place) -> Made:
        """The best transition that it has."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
@record
class HybridPath:
    """What the motion graph and the table have to offer, and which of both was taken."""

    chosen: Literal["graph", "table", "neither"]
    why: str
    """In words, with both costs."""
    graph_path: GraphPath | None
    """The graph's shortest way; None where there is none."""
    transition: Made
    """The table's transition, always there."""
    limit_s: float
    """Seconds that the way was allowed to take."""
    limit_in: float | None
    """Cost that the transition was allowed to have, inches; None: its own verdict decided."""
    graph: MotionGraph

    @property
    def graph_s(self) -> float | None:
        """Seconds of the graph's way; None where there is none."""
        return None if self.graph_path is None else self.graph_path.duration_s

    @property
    def table_in(self) -> float:
        """Cost of the table's transition, inches."""
        return float(self.transition.score.total)

    @property
    def motion(self) -> Motion:
        """The motion of what was taken; where neither is good, the table's, which is quick."""
        return self._walk().motion if self.chosen == "graph" else self.transition.motion

    @property
    def footplants(self) -> Footplants:
        """Plants of that motion."""
        return self._walk().footplants if self.chosen == "graph" else self.transition.footplants

    def _walk(self) -> GraphWalk:
        assert self.graph_path is not None
        return self.graph.synthesize(self.graph_path)


def path(
    table: Table,
    source: Place,
    target: Place,
    *,
    graph: MotionGraph | None = None,
    limit_in: float | None = None,
    limit_s: float | None = None,
) -> HybridPath:
    """The better of motion graph and table between two frames (section 6.1 of [I7]_).

    The graph plays captured frames and blends only where clips are alike, so its way is taken where
    it is quick enough. Else the table's transition is taken where it is good enough. Else it is
    said that neither is good, with both costs.

    Parameters
    ----------
    table
        A transition table.
    source, target
        Clip id and frame.
    graph
        Of the same collection; built with its defaults where not given, which takes seconds: build
        it once for many paths.
    limit_in
        Cost by the papers' sum under which a transition counts as good, inches (they say 6); by
        default its score says whether it is natural.
    limit_s
        Seconds up to which a way counts as quick; the table's length by default.
    """
    frames = table.frames
    if limit_in is not None:
        positive(limit_in, "limit_in")
    quick = table.length / frames.fps if limit_s is None else positive(limit_s, "limit_s")
    graph = MotionGraph.build(frames) if graph is None else of_kind(graph, MotionGraph, "graph")
    if graph.frames.ids != frames.ids or not np.array_equal(graph.frames.starts, frames.starts):
        raise ArrayError(
            f"`graph` must be of the table's collection ({frames.n_clips} clips, {frames.n_rows} "
            f"frames), but is of another ({graph.frames.n_clips} clips, {graph.frames.n_rows} "
            "frames). Build it with MotionGraph.build(table.frames)."
        )
    (way,) = graph.paths([frames.row_at(source)], [frames.row_at(target)])
    made = table.transition(source, target)
    cost = float(made.score.total)
    offered = (
        "the motion graph has no way there"
        if way is None
        else f"the motion graph's way takes {way.duration_s:.2f} s over {len(way.pieces)} pieces"
    )
    costs = f"the table's transition costs {cost:.1f} in"
    if made.score.naturalness is not None:
        costs += f" and looks {100.0 * made.score.naturalness:.0f} % natural"
    good = made.score.natural if limit_in is None else cost < limit_in
    bound = "good enough" if limit_in is None else f"under {limit_in:g} in"
    chosen: Literal["graph", "table", "neither"]
    if way is not None and way.duration_s <= quick + 1e-9:
        chosen, why = "graph", f"{offered}, within {quick:.2f} s, of captured frames; {costs}"
    elif good:
        late = "" if way is None else f", more than {quick:.2f} s"
        chosen, why = "table", f"{offered}{late}; {costs}, {bound}"
    else:
        chosen, why = (
            "neither",
            f"{offered}; {costs}, not {bound}: choose another frame nearby, or allow more time",
        )
    return HybridPath(chosen, why, way, made, quick, limit_in, graph)
