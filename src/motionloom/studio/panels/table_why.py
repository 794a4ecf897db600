"""Why a transition of a table is as it is, its recipes, and the same run outside the studio."""

from __future__ import annotations

from typing import Any

from motionloom.studio.messages.answers import Verdict, Why, WhyRow
from motionloom.studio.messages.table_messages import TableQuery
from motionloom.studio.panels.open_tables import OpenTable
from motionloom.studio.results.equivalents import command_line, python_call
from motionloom.studio.results.result_verdicts import Judged, check_warnings, quality_rows, worst
from motionloom.tables.path import HybridPath
from motionloom.tables.score.columns import INCH
from motionloom.tables.score.natural import THRESHOLD, naturalness
from motionloom.tables.table_transition import Candidate, TableTransition

__all__ = ["candidate", "equivalents", "graph_why", "table_why"]

DOUBTFUL = 0.3
"""From this naturalness up to the threshold a transition is worth a look."""


def candidate(opened: OpenTable, each: Candidate, made: TableTransition) -> dict[str, Any]:
    """A recipe with the parts of its cost, for the page."""
    parts = each.columns
    return {
        "windows": [_said(opened, row) for row in each.recipe.rows],
        "cost": each.cost,
        "natural": float(
            naturalness(list(parts.values()), made.candidates.reference(each.recipe))[0]
        ),
        "inches": each.paper_inches,
        "feet_cm": 100.0 * INCH * parts["foot_in"],
        "balance_cm": 100.0 * INCH * parts["zmp_mean_in"],
        "spread_cm": 100.0 * parts["spread_m"],
        "taken": each.recipe.rows == made.recipe.rows,
    }


def _said(opened: OpenTable, row: int) -> str:
    clip, frame = opened.table.frames.place_of(row)
    return f"{clip}:{frame}"


def table_why(opened: OpenTable, wish: TableQuery, made: TableTransition, finished: Judged) -> Why:
    """Why a transition by the table is as it is."""
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
    command, python = equivalents(opened, wish, passed=finished.verification.passed)
    return Why(
        worst(rows, finished.verification.passed),
        f"{opened.table.length_s:g} s over {made.recipe.n_ways} windows: {windows}",
        rows,
        check_warnings(finished),
        list(made.notes),
        command,
        python,
    )


def graph_why(opened: OpenTable, wish: TableQuery, hybrid: HybridPath, finished: Judged) -> Why:
    """Why a way of the motion graph is as it is."""
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
        worst(rows, finished.verification.passed),
        f"{hybrid.graph_path.duration_s:.2f} s over "
        f"{len(hybrid.graph_path.pieces)} captured pieces",
        rows,
        check_warnings(finished),
        [hybrid.why, "The motion graph has no command line: take the Python."],
        "",
        "\n".join(python),
    )


def equivalents(opened: OpenTable, wish: TableQuery, *, passed: bool) -> tuple[str, str]:
    """The same run as a command line and as Python."""
    places = [wish.source, *([wish.target] if wish.target is not None else [])]
    words = [f"{clip}:{frame}" for clip, frame in places]
    options: list[str] = ["--label", wish.label] if wish.label is not None else []
    options += ["--lead", f"{wish.lead_s:g}", "--follow", f"{wish.follow_s:g}"]
    options += ["--rescore", str(wish.rescore)] if wish.rescore != 32 else []
    options += ["--variation", str(wish.variation)] if wish.variation is not None else []
    options += ["--search"] if wish.search else []
    options += [] if passed else ["--allow-flawed"]
    command = command_line(
        "table", "synthesize", str(opened.table.file), *words, "-o", "table.bvh", *options
    )
    call = python_call(
        "table.transition", [str(tuple(place)) for place in places], label=wish.label,
        lead_s=wish.lead_s, follow_s=wish.follow_s,
        rescore=None if wish.rescore == 32 else wish.rescore, variation=wish.variation,
        search=wish.search or None,
    )  # fmt: skip
    lines = [*_opening(opened), f"t = {call}", 'ml.save(t.motion, "table.bvh")']
    return command, "\n".join(lines)


def _opening(opened: OpenTable) -> list[str]:
    file = str(opened.table.file)
    return ["import motionloom as ml", "", f"table = ml.TransitionTable.open({file!r})"]
