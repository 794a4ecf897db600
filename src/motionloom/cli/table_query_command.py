"""motionloom table query and synthesize: recipes between two frames, and the motion."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import motionloom as ml
from motionloom.cli.character_option import CharacterFile, wearer_of
from motionloom.cli.engine_option import Engine, Layout, RootAt
from motionloom.cli.frame_arguments import place_of, place_text
from motionloom.cli.output import AsJson, note, print_json, printable
from motionloom.cli.output_paths import Force, check_target, refuse_unwritable
from motionloom.cli.results import AllowFlawed, joined_json, print_check, refuse_flawed, write_clip

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
