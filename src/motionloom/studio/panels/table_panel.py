"""The table tab: transitions from frame to frame by a table or by the motion graph."""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal, NamedTuple

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
from motionloom.studio.messages.bounds import fresh_number
from motionloom.studio.messages.result_messages import PathChoice, Place, Rating, TableDetail, Why
from motionloom.studio.messages.table_messages import OpenPlace, TableQuery
from motionloom.studio.panels.best_places import FOLLOW_S, best_places
from motionloom.studio.panels.library_tables import Tables
from motionloom.studio.panels.open_table import OpenTable
from motionloom.studio.panels.table_why import (
    candidate,
    equivalents,
    graph_why,
    is_taken,
    table_why,
)
from motionloom.studio.results.result import Result
from motionloom.studio.results.result_verdicts import Evaluation, evaluate
from motionloom.tables.path import HybridPath
from motionloom.tables.table_transition import TableTransition

MOST_CANDIDATES = 12
STORED = 8


class _Path(NamedTuple):
    """A motion of the table or of the graph."""

    by: Literal["graph", "table"]
    motion: Motion
    footplants: Footplants
    span: tuple[int, int]
    clips: tuple[str, ...]
    """Source's first, target's last."""
    clock: FloatArray
    """Frames of the source's and of the target's clip. (F, 2)"""


class TablePanel:
    """Transitions of the open table."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self._stored: OrderedDict[tuple[OpenTable, tuple[str, ...]], Matched] = OrderedDict()

    def make(self, request: TableQuery) -> Result:
        """A transition, and what explains it."""
        opened = self.tables.current()
        request = _with_frames(opened, request)
        source, target = _place(request.source), _place(request.target) if request.target else None
        joined = opened.table.transition(
            source, target, label=request.label, lead_s=request.lead_s,
            follow_s=request.follow_s, rescore=request.rescore, variation=request.variation,
            search=request.search,
        )  # fmt: skip
        report_step("searching the motion graph")
        hybrid = self._hybrid(opened, request.by, source, target)
        if hybrid is not None and _takes_graph(request, hybrid):
            path = _of_graph(opened, hybrid)
        else:
            path = _of_table(opened, joined)
        matched = self._matched(opened, path.clips)
        evaluation = _evaluated(path, matched)
        if hybrid is not None and path.by == "graph":
            why = graph_why(opened, request, hybrid, evaluation)
        else:
            why = table_why(opened, request, joined, evaluation)
        detail = _detail(opened, joined, hybrid, path)
        return _result(opened, path, evaluation, matched, why, detail)

    def unrated(self, source: Place, target: Place, rating: Rating) -> Result:
        """A transition without its score, as ``table evaluate`` makes it, for a rater."""
        opened = self.tables.current()
        joined = opened.table.transition(source, target, lead_s=0.5, follow_s=0.5)
        path = _of_table(opened, joined)
        matched = self._matched(opened, path.clips)
        evaluation = _evaluated(path, matched)
        request = TableQuery(id=0, source=source, target=target)
        same = equivalents(opened, request, passed=evaluation.verification.passed)
        why = Why("plain", "Natural, or not? N or U.", [], [], [], *same)
        detail = TableDetail(path.span, rating=rating)
        return _result(opened, path, evaluation, matched, why, detail)

    def _hybrid(
        self, opened: OpenTable, by: str, source: Place, target: Place | None
    ) -> HybridPath | None:
        if by == "table":
            return None
        if target is None:
            raise TableError("The motion graph needs a frame to arrive at. Choose B, not a label.")
        path = opened.table.path(source, target)
        if by == "graph" and path.graph_path is None:
            raise TableError("The motion graph has no path there. Use the table.")
        return path

    def _matched(self, opened: OpenTable, clips: tuple[str, ...]) -> Matched:
        key = opened, clips  # the object: its id() could be reused later
        matched = self._stored.pop(key, None)
        if matched is None:
            frames = opened.table.frames
            spans = [(frames.row_of(clip, 0), frames.ids.index(clip)) for clip in clips]
            rows = [(first, int(frames.starts[at + 1])) for first, at in spans]
            motions = [
                frames.motion(first, end - 1, name=clip)
                for clip, (first, end) in zip(clips, rows, strict=True)
            ]
            plants = [Footplants(np.array(frames.planted[first:end])) for first, end in rows]
            matched = Matched(tuple(motions), tuple(plants), frames.body_map, (), fresh_number())
        self._stored[key] = matched
        while len(self._stored) > STORED:
            self._stored.popitem(last=False)
        return matched


def _with_frames(opened: OpenTable, request: TableQuery) -> TableQuery:
    """The request with the best frames where it names none."""
    if request.target is None:
        leave, at = request.source
        usual = next((clip.frames // 2 for clip in opened.clips if clip.id == leave), 0)
        return msgspec.structs.replace(request, source=(leave, usual if at is None else at))
    follow_s = max(FOLLOW_S, request.follow_s)
    source, target = best_places(opened.table, request.source, request.target, follow_s=follow_s)
    return msgspec.structs.replace(request, source=source, target=target)


def _place(place: OpenPlace) -> Place:
    clip, frame = place
    assert frame is not None
    return clip, frame


def _takes_graph(request: TableQuery, hybrid: HybridPath) -> bool:
    return request.by == "graph" or (request.by == "better" and hybrid.chosen == "graph")


def _of_table(opened: OpenTable, joined: TableTransition) -> _Path:
    frames = opened.table.frames
    (source, leave), (target, enter) = (frames.place_of(joined.recipe.rows[k]) for k in (0, -1))
    first, last = joined.span
    now = np.arange(joined.motion.n_frames)
    clock = np.stack([leave + now - first, enter + now - first], axis=1).astype(np.float64)
    times = joined.recipe.times
    if times is not None:  # matched in time: windows wait for one another
        clock[first : last + 1] = times[:, [0, -1]] + [leave, enter]
        clock[last + 1 :, 1] = clock[last, 1] + 1 + np.arange(len(now) - last - 1)
    clock[now > last, 0] = np.nan
    clock[now < first, 1] = np.nan
    between = [clip for clip in joined.clips if clip not in (source, target)]
    ends = (source, *between, target)
    return _Path("table", joined.motion, joined.footplants, joined.span, ends, clock)


def _of_graph(opened: OpenTable, hybrid: HybridPath) -> _Path:
    frames, path = opened.table.frames, hybrid.graph_path
    assert path is not None
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
    ends = (clips[0], *between, clips[-1])
    return _Path("graph", walk.motion, walk.footplants, walk.span, ends, clock)


def _placement(result: Motion, source: Motion, clock: FloatArray) -> tuple[float, float, float]:
    """Turn and shift from a source to its pose in the result, at the first or last frame."""
    covered = np.flatnonzero(np.isfinite(clock))
    if not len(covered):
        return 0.0, 0.0, 0.0
    # Both ends of the result are captured poses that were only moved.
    at = int(covered[0]) if covered[0] == 0 else int(covered[-1])
    frame = round(float(clock[at]))
    w, _, y, _ = quat.multiply(
        result.local_quats[at, 0], quat.conjugate(source.local_quats[frame, 0])
    )
    theta = 2.0 * float(np.arctan2(y, w))
    (x, _, z), (to_x, _, to_z) = source.root_positions[frame], result.root_positions[at]
    c, s = np.cos(theta), np.sin(theta)
    return theta, float(to_x - c * x - s * z), float(to_z - c * z + s * x)


def _detail(
    opened: OpenTable, joined: TableTransition, hybrid: HybridPath | None, path: _Path
) -> TableDetail:
    frames, length = opened.table.frames, opened.table.length
    listed = joined.candidates[:MOST_CANDIDATES]
    if not any(is_taken(each, joined) for each in listed):  # better ones fail the quality check
        listed = [*listed[:-1], joined.taken]
    choice = None
    if hybrid is not None:
        choice = PathChoice(hybrid.chosen, hybrid.why, hybrid.graph_s, hybrid.table_in)
    return TableDetail(
        path.span,
        source=frames.place_of(joined.recipe.rows[0] - joined.plays[0]),
        target=frames.place_of(joined.recipe.rows[-1] + length - 1 + joined.plays[1]),
        by=path.by,
        candidates=[candidate(opened, each, joined) for each in listed],
        looked_at=len(joined.candidates),
        path=choice,
    )


def _result(
    opened: OpenTable,
    path: _Path,
    evaluation: Evaluation,
    matched: Matched,
    why: Why,
    detail: TableDetail,
) -> Result:
    ends = (0, len(path.clips) - 1)
    motions = tuple(matched.motions[k] for k in ends)
    return Result(
        motion=evaluation.motion,
        footplants=evaluation.footplants,
        body=matched.body,
        sources=tuple(opened.library_clip(path.clips[k]) for k in ends),
        source_frames=path.clock,
        placements=tuple(
            _placement(path.motion, source, path.clock[:, k]) for k, source in enumerate(motions)
        ),
        source_motions=motions,
        source_plants=tuple(matched.footplants[k] for k in ends),
        source_keys=tuple(f"table.{matched.key(k)}" for k in ends),
        why=why,
        detail=detail,
        arrays={},
    )


def _evaluated(path: _Path, matched: Matched) -> Evaluation:
    """Figures of a result whose feet are cleaned already."""
    checked = finalize(path.motion, path.footplants, matched.check, body=matched.body, clean=False)
    return evaluate(checked, matched)
