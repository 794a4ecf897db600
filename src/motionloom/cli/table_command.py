"""motionloom table: transitions between any frames of a collection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionloom.cli.clip_arguments import Reading, SourceFps, Unit, Up
from motionloom.cli.output import AsJson, note, print_json, printable, warn
from motionloom.cli.output_paths import Force, check_target
from motionloom.cli.table_export import export, page
from motionloom.cli.table_extend import extend_built, given_options
from motionloom.cli.table_result import query, synthesize
from motionloom.cli.table_trial import evaluate, verify
from motionloom.errors import ArrayError

if TYPE_CHECKING:
    from motionloom.tables.collection.collection import Collection
    from motionloom.tables.table import TransitionTable

__all__ = ["app"]

app = typer.Typer(
    name="table",
    no_args_is_help=True,
    help="Transitions between any frames of a collection of clips.",
    rich_markup_mode=None,
)


@app.command()
def build(
    context: typer.Context,
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Folder of clips, or a collection (.mlc).")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="LIB.mlt", help="The table to write.")
    ],
    length: Annotated[
        float, typer.Option("--length", help="Duration of a transition, seconds.")
    ] = 1.0,
    clusters: Annotated[
        int, typer.Option("--clusters", help="Kinds of motion that recipes go over.")
    ] = 50,
    ways: Annotated[
        str, typer.Option("--ways", help="How many windows a blend may have.")
    ] = "2,3,4",
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE.csv", help="Labels: clip, label, first, last."),
    ] = None,
    score: Annotated[
        str, typer.Option("--score", help="What is best: natural, or paper for the papers' sum.")
    ] = "natural",
    weights: Annotated[
        str, typer.Option("--weights", help="How windows are weighed: eased, bernstein, hat.")
    ] = "eased",
    lookup: Annotated[
        int | None, typer.Option("--lookup", help="Windows that frames are looked up among.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of what is drawn at random.")] = 0,
    jobs: Annotated[
        int | None, typer.Option("--jobs", help="Threads; one per processor by default.")
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", help="Search on a GPU instead: cuda.")
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Search on a dask cluster: its scheduler, or local to start one here.",
        ),
    ] = None,
    collection: Annotated[
        str | None,
        typer.Option(
            "--collection", metavar="LIB.mlc", help="Where the collection goes; beside the table."
        ),
    ] = None,
    fps: Annotated[
        float,
        typer.Option("--fps", metavar="RATE", help="Rate of the collection; clips are resampled."),
    ] = 60.0,
    source_fps: SourceFps = None,
    skeleton: Annotated[
        Path | None,
        typer.Option("--skeleton", metavar="FILE", help="A clip on the skeleton to use for all."),
    ] = None,
    ground: Annotated[
        bool, typer.Option("--ground", help="Put the floor of every clip to y = 0 first.")
    ] = False,
    plants: Annotated[
        str, typer.Option("--plants", help="How plants are found: thresholds, learned.")
    ] = "thresholds",
    keep_jumps: Annotated[
        bool, typer.Option("--keep-jumps", help="Use windows over frames captured wrong, too.")
    ] = False,
    unit: Unit = None,
    up: Up = None,
    extend: Annotated[
        bool,
        typer.Option(
            "--extend",
            help="Add the folder's new clips to the table, read as the old ones were (say "
            "--source-fps, --unit and --up again); nothing is searched again.",
        ),
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Build a table from a folder of clips.

    A build that was stopped goes on where it was when it is started again.
    """
    import motionloom as ml
    from motionloom.tables.engines.engine_choice import engine_of

    check_target(output, [folder], force=force or extend)
    if extend:
        given = given_options(context)
        table = extend_built(folder, output, collection=collection, labels=labels, given=given)
        _warn_of(table.collection)
        _tell(table, table.collection, as_json=as_json)
        return
    engine = engine_of(jobs=jobs, device=device, dask=dask)
    if Path(folder, "catalogue.json").is_file():
        lib = ml.Collection.open(folder)
    else:
        beside = Path(output).with_suffix(".mlc") if collection is None else Path(collection)
        lib = ml.Collection.ingest(
            folder,
            out=beside,
            fps=fps,
            source_fps=dict(Reading.of(source_fps=source_fps).source_fps) or None,
            skeleton=skeleton,
            labels=labels,
            unit=unit,
            up=up,
            ground=ground,
            plants=plants,
            keep_jumps=keep_jumps,
            progress=True,
        )
    _warn_of(lib)
    table = ml.build_table(
        lib,
        out=output,
        length_s=length,
        clusters=clusters,
        ways=_ways(ways),
        seed=seed,
        lookup=lookup,
        engine=engine,
        progress=True,
        score=score,
        weights=weights,
    )
    _tell(table, lib, as_json=as_json)


@app.command()
def info(
    file: Annotated[str, typer.Argument(metavar="LIB.mlt", help="A table.")],
    collection: Annotated[
        str | None, typer.Option("--collection", help="Its collection, where it was moved.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a table is: clips, clusters, recipes, labels, sizes."""
    import motionloom as ml

    table = ml.TransitionTable.open(file, collection=collection)
    _tell(table, table.collection, as_json=as_json)


app.command()(query)
app.command()(synthesize)
app.command()(verify)
app.command()(evaluate)
app.command()(export)
app.command()(page)


def _ways(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ArrayError(f"--ways must be numbers such as 2,3,4, got {text!r}.") from None


def _warn_of(lib: Collection) -> None:
    for clip, text in lib.report.warnings:
        warn(f"{clip}: {text.removeprefix('warning: ')}")
    for clip, text in lib.report.notes:
        if text.startswith("captured wrong"):
            warn(f"{clip}: {text}")
    for file, why in lib.report.left_out:
        warn(f"left out: {file}: {why}")


def _tell(table: TransitionTable, lib: Collection, *, as_json: bool) -> None:
    told = table.info()
    if as_json:
        print_json({**told, "report": _report_json(lib), "clip_ids": list(lib.ids)})
        return
    seconds = told["frames"] / told["fps"]
    ways = ", ".join(f"{count} by {n}" for n, count in told["best_by_ways"].items() if count)
    settings = told["settings"]
    lines = [
        f"{told['file']}  {told['bytes'] / 1e6:.2f} MB",
        f"collection  {told['collection']}  {told['clips']} clips, {told['frames']} frames at "
        f"{told['fps']:g} fps ({seconds:.0f} s)",
        f"transitions of {told['length_s']:g} s over {told['clusters']} clusters, looked up among "
        f"{told['representatives']} windows, {told['recipes_per_entry']} recipes each",
        f"best entries  {ways} ways; median cost {told['best_cost_median']:.2f} "
        f"({settings['score']})",
        f"labels  {', '.join(told['labels']) or 'none'}",
    ]
    if told["clips_added"]:
        lines.append(f"added since it was searched  {told['clips_added']} of the clips")
    for line in lines:
        typer.echo(printable(line))
    note(f"try: motionloom table synthesize {table.file} {lib.ids[0]}:0 {lib.ids[-1]}:60 -o a.bvh")


def _report_json(lib: Collection) -> dict[str, Any]:
    report = lib.report
    return {
        "retargeted": list(report.retargeted),
        "resampled": list(report.resampled),
        "warnings": [{"clip": clip, "text": text} for clip, text in report.warnings],
        "left_out": [{"file": file, "why": why} for file, why in report.left_out],
    }
