"""motionloom table verify and evaluate: whether a table is sound, and how good it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import motionloom as ml
from motionloom.cli.output import AsJson, print_json, printable
from motionloom.cli.table_query_command import CollectionAt

MOST = 1_000_000
"""Entries, transitions or pairs: more take days."""


def verify(
    file: Annotated[str, typer.Argument(metavar="LIB.mlt", help="A table.")],
    entries: Annotated[
        int, typer.Option("--entries", min=0, max=MOST, help="Entries that are searched again.")
    ] = 50,
    transitions: Annotated[
        int,
        typer.Option("--transitions", min=0, max=MOST, help="Random transitions made and checked."),
    ] = 20,
    collection: CollectionAt = None,
    as_json: AsJson = False,
) -> None:
    """Check a table: its file, its sources, its entries, its transitions.

    Exit 0: sound; 1: problems; 2: not a table.
    """
    problems = ml.verify_table(
        file, entries=entries, transitions=transitions, collection=collection, progress=True
    )
    if as_json:
        print_json({"file": file, "sound": not problems, "problems": problems})
    else:
        for problem in problems:
            typer.echo(f"{typer.style('WRONG', fg=typer.colors.RED)}  {printable(problem)}")
        if not problems:
            verdict = typer.style("ok", fg=typer.colors.GREEN)
            typer.echo(
                f"{verdict}  {printable(file)}: file, sources, {entries} entries replayed, "
                f"{transitions} transitions made"
            )
    if problems:
        raise typer.Exit(1)


def evaluate(
    file: Annotated[str, typer.Argument(metavar="LIB.mlt", help="A table.")],
    pairs: Annotated[
        int, typer.Option("--pairs", min=1, max=MOST, help="Random pairs of frames.")
    ] = 200,
    limit: Annotated[
        float, typer.Option("--limit", help="Cost up to which a transition is good, inches.")
    ] = 6.0,
    threshold: Annotated[
        float, typer.Option("--graph-cm", help="Threshold of the motion graph, cm.")
    ] = 8.0,
    verdicts: Annotated[
        Path | None,
        typer.Option(
            "--verdicts",
            metavar="FILE.csv",
            help="Ratings: transition (CLIP:FRAME>CLIP:FRAME), natural, rater.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the pairs.")] = 0,
    collection: CollectionAt = None,
    as_json: AsJson = False,
) -> None:
    """Compare a table with a motion graph on random pairs of frames, and with ratings of people.

    The papers' sum measures what is feasible, not what looks natural: only --verdicts do that.
    """
    table = ml.TransitionTable.open(file, collection=collection)
    compared = ml.compare_with_graph(
        table, pairs=pairs, limit_in=limit, graph_cm=threshold, seed=seed, progress=True
    )
    people = None if verdicts is None else ml.compare_with_people(table, verdicts)
    if as_json:
        print_json(_json(compared, people, pairs=pairs, limit_in=limit, graph_cm=threshold))
        return
    both, table_only, graph_only, neither = compared.quadrants.counts
    typer.echo(
        f"{pairs} random pairs, transitions of at most {limit:g} in, graph within "
        f"{table.length_s:g} s at {threshold:g} cm"
    )
    typer.echo(f"both {both}, table only {table_only}, graph only {graph_only}, neither {neither}")
    typer.echo(
        f"cost of the table's: median {compared.median_in:.2f} in; {compared.ms_per_query:.1f} ms "
        "each, with the motion"
    )
    if people is not None:
        typer.echo(printable(people.text()))


def _json(
    compared: ml.GraphComparison, people: ml.Evaluation | None, **settings: Any
) -> dict[str, Any]:
    counts = ("both", "table_only", "graph_only", "neither")
    facts: dict[str, Any] = {
        **settings,
        "counts": dict(zip(counts, compared.quadrants.counts, strict=True)),
        "median_in": compared.median_in,
        "gate_passed": compared.passed,
        "ms_per_query": compared.ms_per_query,
    }
    if people is not None:
        facts["people"] = {
            "text": people.text(),
            "good": people.n_good,
            "bad": people.n_bad,
            "areas": {name: area.value for name, area in people.areas.items()},
        }
    return facts
