"""motionloom table fit-masses: masses of a subject, for the balance of its table."""

from __future__ import annotations

from typing import Annotated

import typer

import motionloom as ml
from motionloom.cli.output import AsJson, note, print_json, printable
from motionloom.cli.output_paths import Force, check_target


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
