"""The table room: transitions from frame to frame by a table, or by the motion graph beside it."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from motionloom._arrays import FloatArray
from motionloom.errors import TableError
from motionloom.motion.contacts import Footplants
from motionloom.motion.motion import Motion
from motionloom.rotation import quat
from motionloom.studio.answers import Verdict, Why, WhyRow
from motionloom.studio.equivalents import command_line, python_call
from motionloom.studio.finishing import (
    Finished,
    Matched,
    finish,
    gate_warnings,
    quality_rows,
    worst,
)
from motionloom.studio.result import Result
from motionloom.studio.table_messages import Place, TableQuery
from motionloom.studio.tables import OpenTable, Tables
from motionloom.transitions.columns import INCH
from motionloom.transitions.graph import GraphPath
from motionloom.transitions.natural import THRESHOLD, naturalness
from motionloom.transitions.path import HybridPath
from motionloom.transitions.runtime import Candidate, TableTransition

__all__ = ["TableRoom"]

MOST_CANDIDATES = 12
MOST_S = 30.0
"""Of a clip before and after."""
KEPT = 8
DOUBTFUL = 0.2
"""From this naturalness up to the threshold a transition is worth a look."""


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
        self._numbers = itertools.count(1)
        self._kept: OrderedDict[tuple[int, tuple[str, ...]], Matched] = OrderedDict()

    def make(self, wish: TableQuery) -> Result:
        """A transition, and why it is as it is."""
        opened = self.tables.current()
        for seconds in (wish.lead_s, wish.follow_s):
            if not 0.0 <= seconds <= MOST_S:
                raise TableError(f"A clip can go on for 0 to {MOST_S:g} s, got {seconds:g}.")
        made = opened.table.transition(
            wish.source, wish.target, label=wish.label, lead_s=wish.lead_s,
            follow_s=wish.follow_s, rescore=wish.rescore, variation=wish.variation,
            search=wish.search,
        )  # fmt: skip
        hybrid = self._hybrid(opened, wish)
        if hybrid is not None and _takes_graph(wish, hybrid):
            assert hybrid.graph_path is not None
            way = _of_graph(opened, hybrid, hybrid.graph_path)
        else:
            way = _of_table(opened, made)
        matched = self._matched(opened, way.clips)
        finished = finish(way.motion, way.footplants, matched, clean=False)
        by_graph = hybrid is not None and _takes_graph(wish, hybrid)
        why = (
            _graph_why(opened, wish, hybrid, finished)
            if hybrid is not None and by_graph
            else _table_why(opened, wish, made, finished)
        )
        detail = _detail(opened, wish, made, way, hybrid, by_graph=by_graph)
        return self.result(opened, way, finished, matched, why, detail)

    def judged(self, source: Place, target: Place, detail: dict[str, Any]) -> Result:
        """A transition without its score, as ``table evaluate`` makes it, to be judged by eye."""
        opened = self.tables.current()
        made = opened.table.transition(source, target, lead_s=0.5, follow_s=0.5)
        way = _of_table(opened, made)
        matched = self._matched(opened, way.clips)
        finished = finish(way.motion, way.footplants, matched, clean=False)
        why = Why("plain", "Natural, or not? N or U.", [], [], [], "", "")
        shown = {"room": "table", "span": list(way.span), **detail}
        return self.result(opened, way, finished, matched, why, shown)

    def result(
        self,
        opened: OpenTable,
        way: _Way,
        finished: Finished,
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

    def _hybrid(self, opened: OpenTable, wish: TableQuery) -> HybridPath | None:
        if wish.by == "table":
            return None
        if wish.target is None:
            raise TableError("The motion graph must be told a frame to arrive at, not a label.")
        found = opened.table.path(wish.source, wish.target)
        if wish.by == "graph" and found.graph_path is None:
            raise TableError("The motion graph has no way there; the table has one.")
        return found

    def _matched(self, opened: OpenTable, clips: tuple[str, ...]) -> Matched:
        key = id(opened), clips
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
            found = Matched(tuple(motions), tuple(plants), frames.body_map, (), next(self._numbers))
        self._kept[key] = found
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found


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
    path = None
    if hybrid is not None:
        graph_s = hybrid.graph_s if np.isfinite(hybrid.graph_s) else None
        path = {"chosen": hybrid.chosen, "why": hybrid.why, "graph_s": graph_s,
                "table_in": hybrid.table_in}  # fmt: skip
    return {
        "room": "table",
        "span": list(way.span),
        "source": source,
        "target": target,
        "by": "graph" if by_graph else "table",
        "candidates": [_candidate(opened, each, made) for each in shown],
        "looked_at": len(made.candidates),
        "path": path,
    }


def _candidate(opened: OpenTable, each: Candidate, made: TableTransition) -> dict[str, Any]:
    parts = each.columns
    return {
        "windows": [_said(opened, row) for row in each.recipe.rows],
        "cost": each.cost,
        "natural": float(naturalness(list(parts.values()))[0]),
        "inches": each.paper_inches,
        "feet_cm": 100.0 * INCH * parts["foot_in"],
        "balance_cm": 100.0 * INCH * parts["zmp_mean_in"],
        "spread_cm": 100.0 * parts["spread_m"],
        "taken": each.recipe.rows == made.recipe.rows,
    }


def _said(opened: OpenTable, row: int) -> str:
    clip, frame = opened.table.frames.place_of(row)
    return f"{clip}:{frame}"


def _table_why(
    opened: OpenTable, wish: TableQuery, made: TableTransition, finished: Finished
) -> Why:
    taken, score = made.taken, made.score
    parts = taken.columns
    likely = float(score.naturalness or 0.0)
    verdict: Verdict = "good" if likely >= THRESHOLD else "fair" if likely >= DOUBTFUL else "bad"
    rows = [
        WhyRow(
            "naturalness", 100.0 * likely, "%", verdict,
            about="how like captured motion the blend is, before its feet are held; from 50 % on "
            "it is called natural",
        ),
        WhyRow(" feet off", 100.0 * INCH * parts["foot_in"], "cm",
               about="mean distance of planted feet from where they stand, before they are held"),
        WhyRow(" balance", 100.0 * INCH * parts["zmp_mean_in"], "cm",
               about="mean distance of the zero moment point from the support"),
        WhyRow(" postures differ", 100.0 * parts["spread_m"], "cm",
               about="how much the blended windows differ, weighed by mass"),
        WhyRow(" hardest swing", parts["peak_acc"], "m/s²",
               about="largest acceleration of a part of the body"),
        WhyRow("papers' sum", score.total, "in",
               about="feet and balance in inches; the papers call it good under 6"),
        WhyRow("feet moved", 100.0 * made.foot_error, "cm",
               about="mean distance by which feet were moved to where they stand"),
        *quality_rows(finished),
    ]  # fmt: skip
    windows = " > ".join(_said(opened, row) for row in made.recipe.rows)
    command, python = _equivalents(opened, wish, passed=finished.gate.passed)
    return Why(
        worst(rows, finished.acceptable),
        f"{opened.table.length_s:g} s over {made.recipe.n_ways} windows: {windows}",
        rows,
        gate_warnings(finished),
        list(made.notes),
        command,
        python,
    )


def _graph_why(opened: OpenTable, wish: TableQuery, hybrid: HybridPath, finished: Finished) -> Why:
    assert hybrid.graph_path is not None
    assert wish.target is not None
    rows = [
        WhyRow("the graph's way", hybrid.graph_s, "s", about="captured frames and short blends"),
        WhyRow("the table's sum", hybrid.table_in, "in", about="what the table would pay"),
        *quality_rows(finished),
    ]
    call = python_call("table.path", [str(tuple(wish.source)), str(tuple(wish.target))])
    python = [*_opening(opened), f"p = {call}",
              'ml.save(p.graph.synthesize(p.graph_path).motion, "table.bvh")']  # fmt: skip
    return Why(
        worst(rows, finished.acceptable),
        f"{hybrid.graph_s:.2f} s over {len(hybrid.graph_path.pieces)} captured pieces",
        rows,
        gate_warnings(finished),
        [hybrid.why, "The motion graph has no command line: take the Python."],
        "",
        "\n".join(python),
    )


def _equivalents(opened: OpenTable, wish: TableQuery, *, passed: bool) -> tuple[str, str]:
    places = [wish.source, *([wish.target] if wish.target is not None else [])]
    words = [f"{clip}:{frame}" for clip, frame in places]
    options: list[str] = ["--label", wish.label] if wish.label is not None else []
    options += ["--lead", f"{wish.lead_s:g}", "--follow", f"{wish.follow_s:g}"]
    options += ["--rescore", str(wish.rescore)] if wish.rescore != 32 else []
    options += ["--variation", str(wish.variation)] if wish.variation is not None else []
    options += ["--search"] if wish.search else []
    options += [] if passed else ["--anyway"]
    command = command_line(
        "table", "synthesize", str(opened.table.file), *words, "-o", "table.bvh", *options
    )
    call = python_call(
        "table.transition", [str(tuple(place)) for place in places], label=wish.label,
        lead_s=wish.lead_s, follow_s=wish.follow_s,
        rescore=None if wish.rescore == 32 else wish.rescore, variation=wish.variation,
        search=wish.search or None,
    )  # fmt: skip
    lines: Sequence[str] = [*_opening(opened), f"t = {call}", 'ml.save(t.motion, "table.bvh")']
    return command, "\n".join(lines)


def _opening(opened: OpenTable) -> list[str]:
    file = str(opened.table.file)
    return ["import motionloom as ml", "", f"table = ml.TransitionTable.open({file!r})"]
