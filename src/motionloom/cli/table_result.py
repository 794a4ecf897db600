"""motionloom table query and synthesize: what a table knows of two frames, and the motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionloom.cli.frame_arguments import place_of, place_text
from motionloom.cli.output import AsJson, note, print_json, printable
from motionloom.cli.output_paths import Force, check_target
from motionloom.cli.results import AllowFlawed, print_check, refuse_flawed, write_clip
from motionloom.errors import ArrayError

if TYPE_CHECKING:
    from motionloom.tables.score.recipe import Recipe
    from motionloom.tables.table import TransitionTable
    from motionloom.tables.table_transition import Candidate, TableTransition

__all__ = ["CollectionAt", "File", "Label", "query", "synthesize"]

File = Annotated[str, typer.Argument(metavar="LIB.mlt", help="A table.")]
Source = Annotated[str, typer.Argument(metavar="CLIP:FRAME", help="Where to leave from.")]
Target = Annotated[
    str | None, typer.Argument(metavar="[CLIP:FRAME]", help="Where to arrive; or --label.")
]
Label = Annotated[str | None, typer.Option("--label", help="Arrive at any frame with this label.")]
Rescore = Annotated[
    int, typer.Option("--rescore", help="Recipes judged with the real windows; 0: the first.")
]
Search = Annotated[bool, typer.Option("--search", help="Try all recipes, which takes longer.")]
CollectionAt = Annotated[
    str | None, typer.Option("--collection", help="The table's collection, where it was moved.")
]


def query(
    file: File,
    source: Source,
    target: Target = None,
    label: Label = None,
    rescore: Rescore = 32,
    search: Search = False,
    count: Annotated[int, typer.Option("--count", min=1, help="Candidates to show.")] = 5,
    collection: CollectionAt = None,
    as_json: AsJson = False,
) -> None:
    """Show the recipes from one frame to another, or to a label, and what they cost."""
    import motionloom as ml

    table = ml.TransitionTable.open(file, collection=collection)
    made = _asked(table, source, target, label, rescore=rescore, search=search)
    shown = made.candidates[:count]
    told = [_candidate_json(table, each) for each in shown]
    taken = next((k for k, each in enumerate(shown) if each.recipe.rows == made.recipe.rows), None)
    if as_json:
        print_json({"candidates": told, "taken": taken, "notes": list(made.notes)})
        return
    for k, each in enumerate(told):
        mark = "->" if k == taken else "  "
        parts = each["parts"]
        typer.echo(
            printable(
                f"{mark} {each['cost']:7.2f}  {each['inches']:6.2f} in  "
                f"(feet {parts['foot_in']:.2f}, balance {parts['zmp_max_in']:.2f})  "
                f"{' > '.join(each['windows'])}"
            )
        )
    for text in made.notes:
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
        int | None, typer.Option("--variation", help="A number: another of the same kind for each.")
    ] = None,
    search: Search = False,
    to: Annotated[
        str | None, typer.Option("--to", help="Format for standard output: bvh, glb ...")
    ] = None,
    allow_flawed: AllowFlawed = False,
    collection: CollectionAt = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make the transition from one frame to another, or to a label."""
    import motionloom as ml

    if not output:
        raise ArrayError("Say where the motion goes with -o FILE.")
    if output == "-" and as_json:
        raise ArrayError("--json and -o - both want standard output. Name a file.")
    check_target(output, [file], force=force, to=to)
    table = ml.TransitionTable.open(file, collection=collection)
    made = _asked(
        table, source, target, label,
        rescore=rescore, search=search, lead_s=lead, follow_s=follow, variation=variation,
    )  # fmt: skip
    refuse_flawed(made.verification, output, allowed=allow_flawed)
    write_clip(made.motion, output, to)
    told = _candidate_json(table, _taken(made))
    if as_json:
        print_json({**_motion_json(made, output), **told})
    elif output != "-":
        _print_made(made, told, output)


def _asked(
    table: TransitionTable, source: str, target: str | None, label: str | None, **options: Any
) -> TableTransition:
    if (target is None) == (label is None):
        raise ArrayError("Say where to arrive: CLIP:FRAME, or --label LABEL.")
    return table.transition(
        place_of(source), None if target is None else place_of(target), label=label, **options
    )


def _taken(made: TableTransition) -> Candidate:
    return next(each for each in made.candidates if each.recipe.rows == made.recipe.rows)


def _candidate_json(table: TransitionTable, candidate: Candidate) -> dict[str, Any]:
    return {
        "windows": _windows(table, candidate.recipe),
        "ways": candidate.recipe.n_ways,
        "cost": candidate.cost,
        "inches": candidate.paper_inches,
        "parts": dict(candidate.columns),
    }


def _windows(table: TransitionTable, recipe: Recipe) -> list[str]:
    return [place_text(*table.frames.place_of(row)) for row in recipe.rows]


def _motion_json(made: TableTransition, output: str) -> dict[str, Any]:
    return {
        "file": output,
        "frames": made.motion.n_frames,
        "fps": made.motion.fps,
        "span": list(made.span),
        "notes": list(made.notes),
        "foot_error_cm": 100.0 * made.foot_error,
        "verification": made.verification.json(),
    }


def _print_made(made: TableTransition, told: dict[str, Any], output: str) -> None:
    typer.echo(printable(f"over  {' > '.join(told['windows'])}"))
    typer.echo(
        f"cost  {told['cost']:.2f}; {told['inches']:.2f} in by the papers' sum; feet moved "
        f"{100.0 * made.foot_error:.1f} cm to where they stand"
    )
    print_check(made.verification)
    for text in made.notes:
        typer.echo(printable(f"note  {text}"))
    typer.echo(
        printable(
            f"wrote  {output}  {made.motion.n_frames} frames at {made.motion.fps:g} fps, blended "
            f"from {made.span[0]} to {made.span[1]}"
        )
    )
