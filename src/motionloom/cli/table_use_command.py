"""motionloom table: what a table that was built is used for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import place_of, place_text
from motionloom.cli.output import AsJson, note, print_json, printable
from motionloom.cli.results import (
    AllowFlawed,
    CharacterFile,
    Engine,
    Force,
    Layout,
    RootAt,
    check_target,
    joined_json,
    print_check,
    refuse_flawed,
    refuse_unwritable,
    wearer_of,
    write_clip,
)

File = Annotated[str, typer.Argument(metavar="LIB.mlt", help="A table.")]
Source = Annotated[str, typer.Argument(metavar="CLIP:FRAME", help="Where to leave from.")]
Target = Annotated[
    str | None, typer.Argument(metavar="[CLIP:FRAME]", help="Where to arrive; or --label.")
]
Label = Annotated[str | None, typer.Option("--label", help="Arrive at any frame with this label.")]
Rescore = Annotated[
    int,
    typer.Option(
        "--rescore",
        help="Recipes scored with the real windows; 0 scores none and uses the first stored one "
        "that passes its check.",
    ),
]
Longest = Annotated[
    float | None, typer.Option("--longest", help="Seconds that it may take; 2 by default.")
]
Tolerance = Annotated[
    float, typer.Option("--tolerance", help="Seconds by which it may arrive after the target.")
]
Search = Annotated[bool, typer.Option("--search", help="Try all recipes, which takes longer.")]
StillFeet = Annotated[
    bool, typer.Option("--still-feet", help="Held feet stand still, not as in captured motion.")
]
CollectionAt = Annotated[
    str | None, typer.Option("--collection", help="The table's collection, if it was moved.")
]
MOST = 1_000_000
"""Entries, transitions or pairs: more take days."""


def query(
    file: File,
    source: Source,
    target: Target = None,
    label: Label = None,
    rescore: Rescore = 32,
    search: Search = False,
    longest: Longest = None,
    tolerance: Tolerance = 0.0,
    still_feet: StillFeet = False,
    count: Annotated[int, typer.Option("--count", min=1, help="Candidates to show.")] = 5,
    collection: CollectionAt = None,
    as_json: AsJson = False,
) -> None:
    """Print the recipes from one frame to another, or to a label, and their costs."""
    table = ml.TransitionTable.open(file, collection=collection)
    joined = _asked(
        table, source, target, label,
        rescore=rescore, search=search, longest_s=longest, tolerance_s=tolerance,
        still_feet=still_feet,
    )  # fmt: skip
    shown = joined.candidates[:count]
    candidates = [_candidate_json(table, each) for each in shown]
    own = _candidate_json(table, joined.taken)
    taken = next((k for k, each in enumerate(candidates) if each == own), None)
    if as_json:
        facts = {"candidates": candidates, "taken": taken, "why": joined.why}
        print_json({**facts, "notes": list(joined.notes)})
        return
    for k, each in enumerate(candidates):
        mark = "->" if k == taken else "  "
        parts = each["parts"]
        typer.echo(
            printable(
                f"{mark} {each['cost']:7.2f}  {each['inches']:6.2f} in  "
                f"(feet {parts['foot_in']:.2f}, balance {parts['zmp_max_in']:.2f})  "
                f"{' > '.join(each['windows'])}"
            )
        )
    note(joined.why)
    for text in joined.notes:
        note(text)


def synthesize(
    file: File,
    source: Source,
    target: Target = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="File or -; the suffix picks the format."),
    ] = "",
    label: Label = None,
    lead: Annotated[
        float, typer.Option("--lead", help="Seconds of the source's clip before it.")
    ] = 0.0,
    follow: Annotated[
        float, typer.Option("--follow", help="Seconds of the target's clip after it.")
    ] = 0.0,
    rescore: Rescore = 32,
    variation: Annotated[
        int | None, typer.Option("--variation", help="A number; each gives another transition.")
    ] = None,
    search: Search = False,
    longest: Longest = None,
    tolerance: Tolerance = 0.0,
    still_feet: StillFeet = False,
    to: Annotated[
        str | None, typer.Option("--to", help="Format for standard output: bvh, glb ...")
    ] = None,
    allow_flawed: AllowFlawed = False,
    character: CharacterFile = None,
    engine: Engine = None,
    root: RootAt = None,
    collection: CollectionAt = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make the transition from one frame to another, or to a label."""
    if not output:
        raise ml.ArrayError("The motion needs a file. Add -o FILE.")
    if output == "-" and as_json:
        raise ml.ArrayError("--json and -o - both use standard output. Name a file.")
    check_target(output, [file], force=force, to=to)
    refuse_unwritable(output)
    wearer, layout = wearer_of(character), Layout(engine, root)
    layout.check(output)
    table = ml.TransitionTable.open(file, collection=collection)
    joined = _asked(
        table, source, target, label,
        rescore=rescore, search=search, lead_s=lead, follow_s=follow, variation=variation,
        longest_s=longest, tolerance_s=tolerance, still_feet=still_feet,
    )  # fmt: skip
    refuse_flawed(
        joined.verification,
        output,
        allowed=allow_flawed,
        advice="Choose another frame, or a greater --longest or --tolerance,",
    )
    made_of = joined.provenance
    write_clip(joined.motion, output, to, wearer=wearer, layout=layout, provenance=made_of)
    facts = _candidate_json(table, joined.taken)
    if as_json:
        print_json({**_motion_json(joined, output), **facts})
    elif output != "-":
        _print_joined(joined, facts, output)


def _asked(
    table: ml.TransitionTable, source: str, target: str | None, label: str | None, **options: Any
) -> ml.TableTransition:
    if (target is None) == (label is None):
        raise ml.ArrayError("A transition needs one target: CLIP:FRAME, or --label LABEL.")
    return table.transition(
        place_of(source), None if target is None else place_of(target), label=label, **options
    )


def _candidate_json(table: ml.TransitionTable, candidate: ml.TableCandidate) -> dict[str, Any]:
    return {
        "windows": _windows(table, candidate.recipe),
        "ways": candidate.recipe.n_ways,
        "pinned": candidate.recipe.pinned,
        "cost": candidate.cost,
        "inches": candidate.paper_inches,
        "parts": dict(candidate.columns),
    }


def _windows(table: ml.TransitionTable, recipe: ml.Recipe) -> list[str]:
    return [place_text(*table.frames.place_of(row)) for row in recipe.rows]


def _motion_json(joined: ml.TableTransition, output: str) -> dict[str, Any]:
    return {
        "output": output,
        **joined_json(joined),
        "plays": list(joined.plays),
        "late": joined.late,
        "why": joined.why,
        "foot_error_cm": 100.0 * joined.foot_error,
    }


def _print_joined(joined: ml.TableTransition, facts: dict[str, Any], output: str) -> None:
    typer.echo(printable(f"over  {' > '.join(facts['windows'])}"))
    typer.echo(printable(f"why  {joined.why}"))
    typer.echo(
        f"cost  {facts['cost']:.2f}; {facts['inches']:.2f} in by the papers' sum; planted feet "
        f"moved {100.0 * joined.foot_error:.1f} cm"
    )
    print_check(joined.verification)
    for text in joined.notes:
        typer.echo(printable(f"note  {text}"))
    typer.echo(
        printable(
            f"wrote  {output}  {joined.motion.n_frames} frames at {joined.motion.fps:g} fps, "
            f"blended from {joined.span[0]} to {joined.span[1]}"
        )
    )


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
        print_json(
            _evaluation_json(compared, people, pairs=pairs, limit_in=limit, graph_cm=threshold)
        )
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


def _evaluation_json(
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
    _report_file(table, output, size, as_json=as_json)


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
    _report_file(table, output, size, as_json=as_json)
    note(f"open {output} in a browser")


def _report_file(table: ml.TransitionTable, output: str, size: int, *, as_json: bool) -> None:
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
