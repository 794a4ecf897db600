"""HybridPath: from frame to frame by motion graph or by table, whichever is better, and why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from motionloom._arrays import of_kind, positive
from motionloom._records import record
from motionloom.errors import ArrayError
from motionloom.features.checks.quality_check import QualityCheck
from motionloom.features.checks.verification import Verification
from motionloom.motion.motion import Footplants, Motion
from motionloom.motion.provenance import Provenance
from motionloom.tables.graph.graph_walk import GraphPath, GraphWalk
from motionloom.tables.graph.motion_graph import MotionGraph
from motionloom.tables.table_transition import TableTransition

Place = tuple[str, int]
"""Clip id and frame."""


@dataclass(frozen=True, eq=False)
@record
class HybridPath:
    """The path of the motion graph, the transition of the table, and which one was chosen.

    Attributes
    ----------
    chosen : {"graph", "table", "neither"}
        Which one was chosen; ``"neither"`` if none is good enough.
    why : str
        In two sentences, with both costs.
    graph_path : GraphPath or None
        The graph's shortest path; None if there is none.
    transition : TableTransition
        The table's transition.
    limit_s : float
        Seconds that the path was allowed to take.
    limit_in : float or None
        Cost that the transition was allowed to have, inches; None: its own verdict decided.
    graph : MotionGraph
        The graph that was searched.
    """

    chosen: Literal["graph", "table", "neither"]
    why: str
    graph_path: GraphPath | None
    transition: TableTransition
    limit_s: float
    limit_in: float | None
    graph: MotionGraph

    @property
    def graph_s(self) -> float | None:
        """Seconds of the graph's path; None if there is none."""
        return None if self.graph_path is None else self.graph_path.duration_s

    @property
    def table_in(self) -> float:
        """Cost of the table's transition, inches."""
        return float(self.transition.score.total)

    @property
    def motion(self) -> Motion:
        """The chosen motion; if neither is good enough, that of the table, which is quick."""
        return self._taken.motion

    @property
    def footplants(self) -> Footplants:
        """Contacts of that motion."""
        return self._taken.footplants

    @property
    def span(self) -> tuple[int, int]:
        """First and last blended frame of that motion; captured runs may lie between."""
        return self._taken.span

    @property
    def provenance(self) -> Provenance:
        """Clips, times and weights of every frame of that motion."""
        return self._taken.provenance

    @property
    def notes(self) -> tuple[str, ...]:
        """Why it was taken, what was decided, and failed checks."""
        if not isinstance(self._taken, GraphWalk):
            return (self.why, *self._taken.notes)
        return (self.why, *(f"failed check: {each}" for each in self.verification.failed))

    @cached_property
    def verification(self) -> Verification:
        """Quality check of that motion against the clips that it was made from."""
        taken = self._taken
        if not isinstance(taken, GraphWalk):
            return taken.verification
        frames = self.graph.frames
        clips = dict.fromkeys(frames.clip_at(first) for first, _ in taken.path.pieces)
        rows = [(int(frames.starts[clip]), int(frames.starts[clip + 1])) for clip in clips]
        check = QualityCheck(
            [frames.motion(first, end - 1) for first, end in rows],
            footplants=[Footplants(np.array(frames.planted[first:end])) for first, end in rows],
            body=frames.body_map,
        )
        return check.verify(taken.motion, footplants=taken.footplants, held=False)

    @property
    def cleanup(self) -> None:
        """No report: the graph holds no feet, and the table holds them while it blends."""
        return None

    @cached_property
    def _taken(self) -> GraphWalk | TableTransition:
        if self.chosen != "graph":
            return self.transition
        assert self.graph_path is not None
        return self.graph.synthesize(self.graph_path)


def choose_path(
    transition: TableTransition,
    graph: MotionGraph,
    source: Place,
    target: Place,
    *,
    limit_in: float | None,
    limit_s: float,
) -> HybridPath:
    """The better of motion graph and table between two frames (section 6.1 of [I7]_).

    The graph plays captured frames and blends only where clips are similar, so its path is taken if
    it is quick enough. Otherwise the table's transition is taken if it is good enough. Otherwise
    neither is chosen, and both costs are reported.

    Parameters
    ----------
    transition
        Of the table, between the same frames.
    graph
        Of the table's collection.
    source, target
        Clip id and frame.
    limit_in
        Cost by the papers' sum under which a transition counts as good, inches (they say 6); with
        None its score decides whether it is natural.
    limit_s
        Seconds up to which a path counts as quick.
    """
    frames = transition.frames
    if limit_in is not None:
        positive(limit_in, "limit_in")
    quick = positive(limit_s, "limit_s")
    of_kind(graph, MotionGraph, "graph")
    if graph.frames.ids != frames.ids or not np.array_equal(graph.frames.starts, frames.starts):
        raise ArrayError(
            f"`graph` must be of the table's collection ({frames.n_clips} clips, {frames.n_rows} "
            f"frames), but is of another ({graph.frames.n_clips} clips, {graph.frames.n_rows} "
            "frames). Build it with MotionGraph.build(table.frames)."
        )
    first, last = frames.row_at(source, "source"), frames.row_at(target, "target")
    (way,) = graph.paths([first], [last])
    score = transition.score
    cost = float(score.total)
    offered = "The motion graph has no path between these frames"
    if way is not None:
        offered = (
            f"The motion graph's path takes {way.duration_s:.2f} s in {len(way.pieces)} pieces"
        )
    costs = f"The table's transition costs {cost:.1f} in"
    if score.naturalness is not None:
        costs += f", has a naturalness of {100.0 * score.naturalness:.0f} %"
    good = score.natural if limit_in is None else cost < limit_in
    bound = "good enough" if limit_in is None else f"under {limit_in:g} in"
    costs += f" and is {'' if good else 'not '}{bound}"
    chosen: Literal["graph", "table", "neither"] = "table" if good else "neither"
    if way is not None and way.duration_s <= quick + 1e-9:
        chosen, why = "graph", f"{offered} of captured frames, within {quick:.2f} s. {costs}."
    else:
        late = "" if way is None else f", more than {quick:.2f} s"
        advice = "" if good else ": choose another frame nearby, or allow more time"
        why = f"{offered}{late}. {costs}{advice}."
    return HybridPath(chosen, why, way, transition, quick, limit_in, graph)
