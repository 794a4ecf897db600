"""What explains a transition of a table: its figures, its recipes, the same run outside."""

from __future__ import annotations

from collections.abc import Iterable

from motionloom.studio.messages.answers import Verdict
from motionloom.studio.messages.result_messages import RecipeFigures, Why, WhyRow
from motionloom.studio.messages.table_messages import TableQuery
from motionloom.studio.panels.open_table import OpenTable
from motionloom.studio.results.equivalents import command_line, python_call
from motionloom.studio.results.result_verdicts import Evaluation, explain
from motionloom.tables.path import HybridPath
from motionloom.tables.score.columns import INCH
from motionloom.tables.score.natural import THRESHOLD, naturalness
from motionloom.tables.table_transition import Candidate, TableTransition

DOUBTFUL = 0.3
"""From this naturalness up to the threshold a transition is worth a look."""


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
