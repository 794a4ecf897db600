"""The table room: transitions from frame to frame by a table, or by the motion graph beside it."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

import msgspec
import numpy as np

from motionloom._arrays import FloatArray
from motionloom._progress import report_step
from motionloom.cleanup.finalize import finalize
from motionloom.errors import TableError
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.studio.clips.matches import Matched
from motionloom.studio.messages.answers import Why
from motionloom.studio.messages.table_messages import Place, Somewhere, TableQuery
from motionloom.studio.messages.unique_numbers import fresh_number
from motionloom.studio.panels.best_places import best_places
from motionloom.studio.panels.open_tables import OpenTable, Tables
from motionloom.studio.panels.table_why import candidate, equivalents, graph_why, table_why
from motionloom.studio.results.result import Result
from motionloom.studio.results.result_verdicts import Judged, judge
from motionloom.tables.graph.graph_walk import GraphPath
from motionloom.tables.path import HybridPath
from motionloom.tables.table_transition import TableTransition

__all__ = ["TableRoom"]

MOST_CANDIDATES = 12
KEPT = 8


class _Way(NamedTuple):
    """What was made, whoever made it."""

    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    clips: tuple[str, ...]
    """Source's first, target's last."""
    clock: FloatArray
    """Frames of the source's and of the target's clip. (F, 2)"""


class TableRoom:
    """Transitions of the open table."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._kept: OrderedDict[tuple[OpenTable, tuple[str, ...]], Matched] = OrderedDict()

    def make(self, wish: TableQuery) -> Result:
        """A transition, and why it is as it is."""
        opened = self.tables.current()
        wish = _settled(opened, wish)
        source, target = _place(wish.source), _place(wish.target) if wish.target else None
        made = opened.table.transition(
            source, target, label=wish.label, lead_s=wish.lead_s,
            follow_s=wish.follow_s, rescore=wish.rescore, variation=wish.variation,
            search=wish.search,
        )  # fmt: skip
        report_step("searching the motion graph")
        hybrid = self._hybrid(opened, wish.by, source, target)
        if hybrid is not None and _takes_graph(wish, hybrid):
            assert hybrid.graph_path is not None
            way = _of_graph(opened, hybrid, hybrid.graph_path)
        else:
            way = _of_table(opened, made)
        matched = self._matched(opened, way.clips)
        finished = _judged(way, matched)
        by_graph = hybrid is not None and _takes_graph(wish, hybrid)
        why = (
            graph_why(opened, wish, hybrid, finished)
            if hybrid is not None and by_graph
            else table_why(opened, wish, made, finished)
        )
        detail = _detail(opened, wish, made, way, hybrid, by_graph=by_graph)
        return self.result(opened, way, finished, matched, why, detail)

    def judged(self, source: Place, target: Place, detail: dict[str, Any]) -> Result:
        """A transition without its score, as ``table evaluate`` makes it, to be judged by eye."""
        opened = self.tables.current()
        made = opened.table.transition(source, target, lead_s=0.5, follow_s=0.5)
        way = _of_table(opened, made)
        matched = self._matched(opened, way.clips)
        finished = _judged(way, matched)
        wish = TableQuery(id=0, source=source, target=target)
        same = equivalents(opened, wish, passed=finished.verification.passed)
        why = Why("plain", "Natural, or not? N or U.", [], [], [], *same)
        shown = {"room": "table", "span": list(way.span), **detail}
        return self.result(opened, way, finished, matched, why, shown)

    def result(
        self,
        opened: OpenTable,
        way: _Way,
        finished: Judged,
        matched: Matched,
        why: Why,
        detail: dict[str, Any],
    ) -> Result:
        """The common form of what was made."""
        ends = (0, len(way.clips) - 1)
        motions = tuple(matched.motions[k] for k in ends)
        return Result(
            motion=finished.motion,
            footplants=finished.footplants,
            body=matched.body,
            sources=tuple(opened.library_clip(way.clips[k]) for k in ends),
            source_frames=way.clock,
            placements=tuple(
                _placement(way.motion, source, way.clock[:, k]) for k, source in enumerate(motions)
            ),
            source_motions=motions,
            source_plants=tuple(matched.footplants[k] for k in ends),
            source_keys=tuple(f"table.{matched.key(k)}" for k in ends),
            why=why,
            detail=detail,
            arrays={},
        )

    def _hybrid(
        self, opened: OpenTable, by: str, source: Place, target: Place | None
    ) -> HybridPath | None:
        if by == "table":
            return None
        if target is None:
            raise TableError("The motion graph must be told a frame to arrive at, not a label.")
        found = opened.table.path(source, target)
        if by == "graph" and found.graph_path is None:
            raise TableError("The motion graph has no way there; the table has one.")
        return found

    def _matched(self, opened: OpenTable, clips: tuple[str, ...]) -> Matched:
        key = opened, clips  # itself: the id of one that was let go is another's later
        found = self._kept.pop(key, None)
        if found is None:
            frames = opened.table.frames
            spans = [(frames.row_of(clip, 0), frames.ids.index(clip)) for clip in clips]
            rows = [(first, int(frames.starts[at + 1])) for first, at in spans]
            motions = [
                frames.motion(first, end - 1, name=clip)
                for clip, (first, end) in zip(clips, rows, strict=True)
            ]
            plants = [Footplants(np.array(frames.planted[first:end])) for first, end in rows]
            found = Matched(tuple(motions), tuple(plants), frames.body_map, (), fresh_number())
        self._kept[key] = found
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found


def _settled(opened: OpenTable, wish: TableQuery) -> TableQuery:
    """The wish with frames where it leaves them open."""
    if wish.target is None:
        leave, at = wish.source
        usual = next((clip.frames // 2 for clip in opened.clips if clip.id == leave), 0)
        return msgspec.structs.replace(wish, source=(leave, usual if at is None else at))
    source, target = best_places(opened.table, wish.source, wish.target)
    return msgspec.structs.replace(wish, source=source, target=target)


def _place(somewhere: Somewhere) -> Place:
    clip, frame = somewhere
    assert frame is not None
    return clip, frame


def _takes_graph(wish: TableQuery, hybrid: HybridPath) -> bool:
    return wish.by == "graph" or (wish.by == "better" and hybrid.chosen == "graph")


def _of_table(opened: OpenTable, made: TableTransition) -> _Way:
    frames = opened.table.frames
    (source, leave), (target, enter) = (frames.place_of(made.recipe.rows[k]) for k in (0, -1))
    first, last = made.span
    now = np.arange(made.motion.n_frames)
    clock = np.stack([leave + now - first, enter + now - first], axis=1).astype(np.float64)
    clock[now > last, 0] = np.nan
    clock[now < first, 1] = np.nan
    between = [clip for clip in made.clips if clip not in (source, target)]
    return _Way(made.motion, made.footplants, made.span, (source, *between, target), clock)


def _of_graph(opened: OpenTable, hybrid: HybridPath, path: GraphPath) -> _Way:
    frames = opened.table.frames
    walk = hybrid.graph.synthesize(path)
    count = walk.motion.n_frames
    clock = np.full((count, 2), np.nan)
    (first, last), (enter, end) = path.pieces[0], path.pieces[-1]
    lead = np.arange(first, last + 1)
    clock[: len(lead), 0] = [frames.place_of(int(row))[1] for row in lead]
    tail = np.arange(enter, end + 1)
    clock[count - len(tail) :, 1] = [frames.place_of(int(row))[1] for row in tail]
    clips = [frames.place_of(piece[0])[0] for piece in path.pieces]
    between = [clip for clip in dict.fromkeys(clips) if clip not in (clips[0], clips[-1])]
    span = (walk.spans[0][0], walk.spans[-1][1]) if walk.spans else (0, 0)
    return _Way(walk.motion, walk.footplants, span, (clips[0], *between, clips[-1]), clock)


def _placement(made: Motion, source: Motion, clock: FloatArray) -> tuple[float, float, float]:
    """Turn and slide that carry a source to where the result has it: at the first or last frame."""
    there = np.flatnonzero(np.isfinite(clock))
    if not len(there):
        return 0.0, 0.0, 0.0
    # Whatever is at an end of the result is captured there, and only moved.
    at = int(there[0]) if there[0] == 0 else int(there[-1])
    frame = round(float(clock[at]))
    w, _, y, _ = quat.multiply(
        made.local_quats[at, 0], quat.conjugate(source.local_quats[frame, 0])
    )
    theta = 2.0 * float(np.arctan2(y, w))
    (x, _, z), (to_x, _, to_z) = source.root_positions[frame], made.root_positions[at]
    c, s = np.cos(theta), np.sin(theta)
    return theta, float(to_x - c * x - s * z), float(to_z - c * z + s * x)


def _detail(
    opened: OpenTable,
    wish: TableQuery,
    made: TableTransition,
    way: _Way,
    hybrid: HybridPath | None,
    *,
    by_graph: bool,
) -> dict[str, Any]:
    frames, length = opened.table.frames, opened.table.length
    source = frames.place_of(made.recipe.rows[0])
    target = frames.place_of(made.recipe.rows[-1] + length - 1)
    shown = made.candidates[:MOST_CANDIDATES]
    if made.taken not in shown:  # better ones fail the quality check
        shown = [*shown[:-1], made.taken]
    path = None
    if hybrid is not None:
        path = {"chosen": hybrid.chosen, "why": hybrid.why, "graph_s": hybrid.graph_s,
                "table_in": hybrid.table_in}  # fmt: skip
    return {
        "room": "table",
        "span": list(way.span),
        "source": source,
        "target": target,
        "by": "graph" if by_graph else "table",
        "candidates": [candidate(opened, each, made) for each in shown],
        "looked_at": len(made.candidates),
        "path": path,
    }


def _judged(way: _Way, matched: Matched) -> Judged:
    """Figures of a result whose feet are held already, and its check against its clips."""
    checked = finalize(way.motion, way.footplants, matched.check, body=matched.body, clean=False)
    return judge(checked, matched)
