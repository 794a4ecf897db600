"""Commands of motionloom table around a table: verify, evaluate, export, page and fit-masses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import motionloom as ml
from motionloom.cli.output import AsJson, note, print_json, printable
from motionloom.cli.output_paths import Force, check_target
from motionloom.cli.table_query_command import CollectionAt, File

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


def export(
    file: File,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="LIB.mlr", help="The file to write.")
    ],
    web: Annotated[
        bool,
        typer.Option("--web", help="Put motionloom.wasm and motionloom.mjs next to it as well."),
    ] = False,
    collection: CollectionAt = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a table and the poses of its clips into one file, for engines and browsers.

    The run time of the C core opens it: from C, C#, JavaScript or any language that calls C.
    """
    check_target(output, [file], force=force, pipe=False)
    for name in ("motionloom.wasm", "motionloom.mjs") if web else ():
        check_target(str(Path(output).with_name(name)), [file], force=force)
    table = ml.TransitionTable.open(file, collection=collection)
    size = ml.save_runtime(table, output)
    if web:
        ml.save_web_files(Path(output).parent)
    _report(table, output, size, as_json=as_json)


def page(
    file: File,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PLAY.html", help="The page to write.")
    ],
    title: Annotated[
        str | None, typer.Option("--title", help="Of the page; the table's name by default.")
    ] = None,
    plain: Annotated[
        bool,
        typer.Option("--plain", help="Leave data uncompressed, for browsers from before 2023."),
    ] = False,
    collection: CollectionAt = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a page on which a live character of the table is steered, without a server.

    Everything is in one file, which opens from disk in current browsers: labels are buttons, with
    the keys 1 to 9, and clips are targets too.
    """
    if Path(output).suffix.lower() not in (".html", ".htm"):
        raise ml.FormatError("A page must end in .html.", path=output, fix="Add .html.")
    check_target(output, [file], force=force, pipe=False)
    table = ml.TransitionTable.open(file, collection=collection)
    size = ml.save_play_page(table, output, title=title or Path(file).stem, plain=plain)
    _report(table, output, size, as_json=as_json)
    note(f"open {output} in a browser")


def _report(table: ml.TransitionTable, output: str, size: int, *, as_json: bool) -> None:
    """Print what was written, and what is in it."""
    frames = table.frames
    labels = sorted({each.label for each in table.collection.labels})
    facts: dict[str, Any] = {
        "file": output,
        "bytes": size,
        "clips": frames.n_clips,
        "frames": frames.n_rows,
        "fps": frames.fps,
        "joints": frames.skeleton.n_joints,
        "length_s": table.length / frames.fps,
        "labels": labels,
    }
    if as_json:
        print_json(facts)
        return
    lines = [
        f"{output}  {size / 1e6:.2f} MB",
        f"{facts['clips']} clips, {facts['frames']} frames at {frames.fps:g} fps, "
        f"{facts['joints']} joints; transitions of {facts['length_s']:g} s",
        f"labels  {', '.join(labels) or 'none'}",
    ]
    for line in lines:
        typer.echo(printable(line))


def fit_masses(
    folder: Annotated[str, typer.Argument(metavar="LIB.mlc", help="A collection of one subject.")],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE.csv", help="The file to write.")
    ],
    clips: Annotated[
        str | None,
        typer.Option("--clips", metavar="CLIP,...", help="Clips to fit to; all by default."),
    ] = None,
    strength: Annotated[
        float, typer.Option("--strength", help="How firmly masses are tied to average ones.")
    ] = 1.0,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Fit masses of the body to how its clips keep their balance, for table build --masses.

    A collection is made by table build, next to the table.
    """
    check_target(output, [folder], force=force, pipe=False)
    ids = None if clips is None else [each.strip() for each in clips.split(",")]
    fit = ml.fit_masses(ml.Collection.open(folder), clips=ids, strength=strength)
    fit.save(output)
    if as_json:
        print_json(
            {
                "file": output,
                "masses": fit.masses.tolist(),
                "before_m": fit.before,
                "after_m": fit.after,
            }
        )
        return
    typer.echo(
        printable(
            f"{output}  zero moment point {100.0 * fit.after:.2f} cm from the support "
            f"({100.0 * fit.before:.2f} cm with average masses), root mean square"
        )
    )
    note(printable(f"try: motionloom table build {folder} -o fitted.mlt --masses {output}"))
