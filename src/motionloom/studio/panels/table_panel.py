"""The table tab: transitions of a table and of its motion graph, and why one was taken."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from math import ceil
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from motionloom._arrays import FloatArray, IntArray
from motionloom._progress import report_step
from motionloom.cleanup.finalize import finalize
from motionloom.errors import TableError
from motionloom.motion.motion import Footplants, Motion
from motionloom.rotation import quat
from motionloom.studio.clips.matches import Matched
from motionloom.studio.messages.answers import Verdict
from motionloom.studio.messages.bounds import fresh_number
from motionloom.studio.messages.result_messages import (
    PathChoice,
    Place,
    Rating,
    RecipeFigures,
    TableDetail,
    Why,
    WhyRow,
)
from motionloom.studio.messages.table_messages import OpenPlace, TableQuery
from motionloom.studio.panels.library_tables import OpenTable, Tables
from motionloom.studio.results.result import Result, command_line, python_call
from motionloom.studio.results.result_verdicts import Evaluation, evaluate, explain
from motionloom.tables.index.clusters import NOWHERE
from motionloom.tables.index.windows import window_from, window_to
from motionloom.tables.path import HybridPath
from motionloom.tables.score.columns import INCH
from motionloom.tables.score.natural import THRESHOLD, naturalness
from motionloom.tables.table import TransitionTable
from motionloom.tables.table_transition import Candidate, TableTransition

MOST_CANDIDATES = 12
STORED = 8
FOLLOW_S = 1.0
"""Seconds of the target clip that follow an arrival at its best frame, at least."""
TRIED = 8
"""Pairs of frames that are tried, those with the lowest expected cost."""
DOUBTFUL = 0.3
"""From this naturalness up to the threshold a transition is worth a look."""


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


def best_places(
    table: TransitionTable, source: OpenPlace, target: OpenPlace, *, follow_s: float = FOLLOW_S
) -> tuple[Place, Place]:
    """The given places where both have a frame; else the best frames for those without one.

    At least ``follow_s`` seconds of the target's clip follow its best frame, if the clip has them
    after a whole window; if it has less, half of what it has.
    """
    (leave, at), (enter, to) = source, target
    if at is not None and to is not None:
        return (leave, at), (enter, to)
    froms = _rows(table, source, leaving=True, left_s=0.0)
    tos = _rows(table, target, leaving=False, left_s=follow_s)
    pairs = _expected(table, froms, tos)
    costs = []
    for number, pair in enumerate(pairs):
        report_step("trying frames", number, len(pairs))
        costs.append(_cost(table, *pair))
    best = pairs[int(np.argmin(costs))]
    return _places(table, *best)


def _rows(table: TransitionTable, place: OpenPlace, *, leaving: bool, left_s: float) -> IntArray:
    """First rows of the windows that a place allows, with some seconds of the clip left."""
    frames, (clip, frame) = table.frames, place
    first = frames.row_of(clip, 0)
    if frame is not None:
        row = frames.row_of(clip, frame)
        window = window_from if leaving else window_to
        return np.array([window(frames, row, table.length)[0]])
    last = window_from(frames, int(frames.starts[frames.clip_at(first) + 1]) - 1, table.length)[0]
    left = ceil(left_s * frames.fps - 1e-9)
    last -= left if left <= last - first else (last - first) // 2
    rows: IntArray = np.arange(first, last + 1)
    rows = rows[np.asarray(table.nearest[rows]) != NOWHERE]
    if not len(rows):
        raise TableError(f"No window of clip {clip!r} is in the table. Choose another clip.")
    return rows


def _expected(table: TransitionTable, froms: IntArray, tos: IntArray) -> list[tuple[int, int]]:
    """Pairs of rows whose representatives have the cheapest recipes."""
    one, other = _nearest_rows(table, froms), _nearest_rows(table, tos)
    costs = table.costs[np.ix_(list(one), list(other))][..., 0].astype(np.float64)
    order = np.argsort(costs, axis=None, kind="stable")[:TRIED]
    rows, columns = np.unravel_index(order, costs.shape)
    left, right = list(one.values()), list(other.values())
    return [(left[i], right[j]) for i, j in zip(rows, columns, strict=True)]


def _nearest_rows(table: TransitionTable, rows: IntArray) -> dict[int, int]:
    """For each representative of these rows, the row nearest to it."""
    ids, apart = table.nearest[rows], table.lookup.fine_distance[rows]
    order = np.argsort(apart, kind="stable")
    nearest: dict[int, int] = {}
    for k in order:
        nearest.setdefault(int(ids[k]), int(rows[k]))
    return nearest


def _cost(table: TransitionTable, first: int, last: int) -> float:
    return table.transition(*_places(table, first, last)).cost


def _places(table: TransitionTable, first: int, last: int) -> tuple[Place, Place]:
    """The frames of two windows: the first is left at its start, the second reached at its end."""
    place = table.frames.place_of
    return place(first), place(last + table.length - 1)


def candidate(opened: OpenTable, each: Candidate, joined: TableTransition) -> RecipeFigures:
    """A recipe with the parts of its cost, for the page."""
    parts = each.columns
    reference = joined.candidates.reference(each.recipe)
    return RecipeFigures(
        windows=_windows(opened, each.recipe.rows),
        cost=each.cost,
        natural=float(naturalness(list(parts.values()), reference)[0]),
        inches=each.paper_inches,
        feet_cm=100.0 * INCH * parts["foot_in"],
        balance_cm=100.0 * INCH * parts["zmp_mean_in"],
        spread_cm=100.0 * parts["spread_m"],
        taken=is_taken(each, joined),
    )


def is_taken(each: Candidate, joined: TableTransition) -> bool:
    """Whether a transition was made of a candidate."""
    one, other = each.recipe, joined.recipe
    return (one.rows, one.pinned) == (other.rows, other.pinned)


def _windows(opened: OpenTable, rows: Iterable[int]) -> list[str]:
    places = [opened.table.frames.place_of(row) for row in rows]
    return [f"{clip}:{frame}" for clip, frame in places]


def table_why(
    opened: OpenTable, request: TableQuery, joined: TableTransition, evaluation: Evaluation
) -> Why:
    """The explanation of a transition by the table."""
    taken, score = joined.taken, joined.score
    parts = taken.columns
    likely = float(score.naturalness or 0.0)
    verdict: Verdict = "good" if likely >= THRESHOLD else "fair" if likely >= DOUBTFUL else "bad"
    rows = [
        WhyRow(
            "naturalness", 100.0 * likely, "%", verdict,
            about="similarity of the blend to captured motion before its feet are cleaned; natural "
            "from 50 %",
        ),
        WhyRow(" feet off", 100.0 * INCH * parts["foot_in"], "cm",
               about="mean distance of planted feet from their footprints before they are cleaned"),
        WhyRow(" balance", 100.0 * INCH * parts["zmp_mean_in"], "cm",
               about="mean distance of the zero moment point from the support"),
        WhyRow(" postures differ", 100.0 * parts["spread_m"], "cm",
               about="difference between the blended windows, weighted by mass"),
        WhyRow(" hardest swing", parts["peak_acc"], "m/s²",
               about="largest acceleration of a part of the body"),
        WhyRow("papers' sum", score.total, "in",
               about="feet and balance in inches; the papers call it good under 6"),
        WhyRow("feet moved", 100.0 * joined.foot_error, "cm",
               about="mean distance by which feet were moved to their footprints"),
    ]  # fmt: skip
    return explain(
        evaluation,
        f"{joined.motion.n_frames / joined.motion.fps:.2g} s. {joined.why}",
        rows,
        joined.notes,
        *equivalents(opened, request, passed=evaluation.verification.passed),
    )


def graph_why(
    opened: OpenTable, request: TableQuery, hybrid: HybridPath, evaluation: Evaluation
) -> Why:
    """The explanation of a path through the motion graph."""
    assert hybrid.graph_path is not None
    assert request.target is not None
    call = python_call("table.path", [str(tuple(request.source)), str(tuple(request.target))])
    python = [*_opening(opened), f"p = {call}",
              'ml.save(p.graph.synthesize(p.graph_path).motion, "table.bvh")']  # fmt: skip
    return explain(
        evaluation,
        f"{hybrid.graph_path.duration_s:.2f} s over "
        f"{len(hybrid.graph_path.pieces)} captured pieces",
        [
            WhyRow("graph's path", hybrid.graph_s, "s", about="captured frames and short blends"),
            WhyRow("table's sum", hybrid.table_in, "in", about="cost of the table's transition"),
        ],
        [hybrid.why, "The motion graph has no command line: use the Python code."],
        "",
        "\n".join(python),
    )


def equivalents(opened: OpenTable, request: TableQuery, *, passed: bool) -> tuple[str, str]:
    """The same run as a command line and as Python."""
    places = [request.source, *([request.target] if request.target is not None else [])]
    words = [f"{clip}:{frame}" for clip, frame in places]
    options: list[str] = ["--label", request.label] if request.label is not None else []
    options += ["--lead", f"{request.lead_s:g}", "--follow", f"{request.follow_s:g}"]
    options += ["--rescore", str(request.rescore)] if request.rescore != 32 else []
    options += ["--variation", str(request.variation)] if request.variation is not None else []
    options += ["--search"] if request.search else []
    options += [] if passed else ["--allow-flawed"]
    command = command_line(
        "table", "synthesize", str(opened.table.file), *words, "-o", "table.bvh", *options
    )
    call = python_call(
        "table.transition", [str(tuple(place)) for place in places], label=request.label,
        lead_s=request.lead_s, follow_s=request.follow_s,
        rescore=None if request.rescore == 32 else request.rescore, variation=request.variation,
        search=request.search or None,
    )  # fmt: skip
    lines = [*_opening(opened), f"t = {call}", 'ml.save(t.motion, "table.bvh")']
    return command, "\n".join(lines)


def _opening(opened: OpenTable) -> list[str]:
    file = str(opened.table.file)
    return ["import motionloom as ml", "", f"table = ml.TransitionTable.open({file!r})"]
