"""motionloom table: transitions between any frames of a collection."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import Reading, SourceFps, Unit, Up, fps_of, warn_skipped
from motionloom.cli.option_words import in_options
from motionloom.cli.output import AsJson, note, print_json, printable, warn
from motionloom.cli.results import Force, check_target
from motionloom.cli.table_use_command import (
    evaluate,
    export,
    fit_masses,
    page,
    query,
    synthesize,
    verify,
)

OF_A_SEARCH = (
    "length", "clusters", "ways", "method", "edition", "score", "weights", "masses", "lookup",
    "seed", "jobs", "device", "dask",
)  # fmt: skip
OF_READING = ("fps", "skeleton", "unit", "up", "ground", "plants", "keep_glitches")

app = typer.Typer(
    name="table",
    no_args_is_help=True,
    help="Transitions between any frames of a collection of clips.",
    rich_markup_mode=None,
)

NAMED = 6
"""Clips or labels that a warning names."""


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
        int | None,
        typer.Option("--clusters", help="Clusters of windows; 12 to 50, by seconds of clips."),
    ] = None,
    ways: Annotated[str, typer.Option("--ways", help="Windows of a blend: 2, 3, 4.")] = "2,3,4",
    labels: Annotated[
        Path | None,
        typer.Option("--labels", metavar="FILE.csv", help="Labels: clip, label, first, last."),
    ] = None,
    method: Annotated[
        str, typer.Option("--method", help="default, or paper: the table of the papers.")
    ] = "default",
    edition: Annotated[
        int | None, typer.Option("--edition", help="With --method paper: 2007 (default) or 2006.")
    ] = None,
    score: Annotated[
        str | None,
        typer.Option("--score", help="Cost to minimise: natural, or paper for the papers' sum."),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            help="Weights of windows over a blend: eased, bernstein, hat; with --method paper also "
            "search, the best of the three for each blend.",
        ),
    ] = None,
    masses: Annotated[
        Path | None,
        typer.Option(
            "--masses",
            metavar="FILE.csv",
            help="Masses of the subject's segments, from table fit-masses.",
        ),
    ] = None,
    lookup: Annotated[
        int | None,
        typer.Option("--lookup", help="Representatives that frames are looked up among."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of random choices.")] = 0,
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
            "--collection",
            metavar="LIB.mlc",
            help="Collection to write; next to the table by default.",
        ),
    ] = None,
    fps: Annotated[
        float,
        typer.Option(
            "--fps",
            metavar="RATE",
            parser=fps_of,
            help="Rate of the collection; clips are resampled.",
        ),
    ] = 60.0,
    source_fps: SourceFps = None,
    skeleton: Annotated[
        Path | None,
        typer.Option("--skeleton", metavar="FILE", help="A clip on the skeleton for all."),
    ] = None,
    ground: Annotated[
        bool, typer.Option("--ground", help="Put the floor of every clip at y = 0 first.")
    ] = False,
    plants: Annotated[
        str, typer.Option("--plants", help="Detector of footplants: thresholds, learned.")
    ] = "thresholds",
    keep_glitches: Annotated[
        bool, typer.Option("--keep-glitches", help="Also use windows with capture glitches.")
    ] = False,
    unit: Unit = None,
    up: Up = None,
    extend: Annotated[
        bool,
        typer.Option(
            "--extend",
            help="Add the folder's new clips to the table; repeat --source-fps, --source-unit "
            "and --source-up. Nothing is searched again.",
        ),
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Build a table from a folder of clips.

    A build that was stopped continues when it is started again.
    """
    inputs = [folder, *(str(each) for each in (labels, masses, skeleton) if each is not None)]
    check_target(output, inputs, force=force or extend, pipe=False)
    if extend:
        _report(_extended(context), as_json=as_json)
        return
    engine = ml.engine_of(jobs=jobs, device=device, dask=dask)
    by_threads = method == "paper" and not (device or dask)
    settings: dict[str, Any] = {
        "length_s": length,
        "clusters": clusters,
        "seed": seed,
        "ways": _ways(ways),
        "lookup": lookup,
        "score": score,
        "weights": weights,
        "jobs": jobs if by_threads else None,
        "method": method,
        "edition": edition,
        "masses": None if masses is None else ml.read_masses(masses),
    }
    with _own_advice():
        if Path(folder, "catalogue.json").is_file():
            lib = ml.Collection.open(folder)
        else:
            ml.check_build_options(fps=fps, **settings)
            if Path(folder).is_dir():
                warn_skipped(str(folder), ml.find_clips(folder))
            lib = ml.Collection.ingest(
                folder,
                out=Path(output).with_suffix(".mlc") if collection is None else Path(collection),
                fps=fps,
                source_fps=dict(Reading.of(source_fps=source_fps).source_fps) or None,
                skeleton=skeleton,
                labels=labels,
                unit=unit,
                up=up,
                ground=ground,
                plants=plants,
                keep_glitches=keep_glitches,
                progress=True,
            )
        table = ml.build_table(
            lib, out=output, engine=None if by_threads else engine, progress=True, **settings
        )
    if method != "paper":
        _warn_of_dead_ends(table)
    _report(table, as_json=as_json)


def _warn_of_dead_ends(table: ml.TransitionTable) -> None:
    """Warn of clips and labels that a live character can only continue badly."""
    ends = table.dead_ends(progress=True)
    if ends.clips:
        counted = "1 clip ends" if len(ends.clips) == 1 else f"{len(ends.clips)} clips end"
        warn(
            f"{counted} dead: no transition from there to other frames passes the quality check "
            f"({_named(ends.clips)}). Live characters continue badly there; add longer clips of "
            "such motion."
        )
    if ends.labels:
        counted = "1 label" if len(ends.labels) == 1 else f"{len(ends.labels)} labels"
        warn(
            f"{counted} cannot be held ({_named(ends.labels)}): every piece is too short for a "
            f"live character to stay in ({table.length // 2 + 1} frames are needed, at which a "
            "transition can arrive), or no transition from its end into the label passes the "
            "quality check. Label longer pieces, or send characters there by `act` or `go`."
        )


def _named(names: tuple[str, ...]) -> str:
    """The first of some names."""
    return ", ".join(names[:NAMED]) + (", ..." if len(names) > NAMED else "")


@app.command()
def info(
    file: Annotated[str, typer.Argument(metavar="LIB.mlt", help="A table.")],
    collection: Annotated[
        str | None, typer.Option("--collection", help="Its collection, if it was moved.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Describe a table: its clips, clusters, recipes, labels and sizes."""
    table = ml.TransitionTable.open(file, collection=collection)
    _print_table(table, as_json=as_json)
    if not as_json:
        ids = table.collection.ids
        lengths = [table.collection.motion(clip).n_frames for clip in ids]
        clips = (f"{clip} ({n} frames)" for clip, n in zip(ids, lengths, strict=True))
        typer.echo(printable(f"clips  {', '.join(clips)}"))


app.command()(fit_masses)
app.command()(query)
app.command()(synthesize)
app.command()(verify)
app.command()(evaluate)
app.command()(export)
app.command()(page)


@contextmanager
def _own_advice() -> Iterator[None]:
    """Errors without advice on --body, which a table has not: its clips share one skeleton."""
    try:
        yield
    except ml.MotionLoomError as error:
        text = _table_words(str(error))
        if text == in_options(str(error)):
            raise
        raise ml.TableError(text) from error


def _table_words(text: str) -> str:
    """A text of the package in the words of this command."""
    return re.sub(
        r"Say which (?:they|joints they) are with --body FILE\.toml\.",
        "Rename these joints in the files, or leave the files out.",
        in_options(text),
    )


def _ways(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ml.ArrayError(f"--ways must be numbers such as 2,3,4, got {text!r}.") from None


def _extended(context: typer.Context) -> ml.TransitionTable:
    """The table with the folder's new clips."""
    values = context.params
    given = {
        name
        for name in values
        if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    if not Path(values["output"]).is_file():
        raise ml.ArrayError(
            f"--extend needs a table to add to, and there is no {values['output']}. Build it "
            "without --extend."
        )
    useless = [f"--{name}" for name in OF_A_SEARCH if name in given]
    if useless:
        raise ml.ArrayError(
            f"--extend searches nothing again, so {', '.join(useless)} would change nothing. Leave "
            "that out, or build the table again with --force."
        )
    return ml.add_clips(
        values["output"],
        values["folder"],
        collection=values["collection"],
        labels=values["labels"],
        source_fps=dict(Reading.of(source_fps=values["source_fps"]).source_fps) or None,
        **{name: values[name] for name in OF_READING if name in given},
    )


def _report(table: ml.TransitionTable, *, as_json: bool) -> None:
    """Print what a build made, and warn of clips that it could not use as they are."""
    lib = table.collection
    for clip, text in lib.report.warnings:
        warn(f"{clip}: {_table_words(text).removeprefix('warning: ')}")
    for clip, text in lib.report.notes:
        if "frame jumps" in text or "frames jump" in text:
            warn(f"{clip}: {text}")
    for file, why in lib.report.left_out:
        warn(f"left out: {file}: {_table_words(why).removeprefix(f'{file}, ')}")
    _print_table(table, as_json=as_json)


def _print_table(table: ml.TransitionTable, *, as_json: bool) -> None:
    facts, lib = table.info(), table.collection
    if as_json:
        print_json({**facts, "report": _report_json(lib), "clip_ids": list(lib.ids)})
        return
    seconds = facts["frames"] / facts["fps"]
    ways = ", ".join(f"{count} by {n}" for n, count in facts["best_by_ways"].items() if count)
    settings = facts["settings"]
    lines = [
        f"{facts['file']}  {facts['bytes'] / 1e6:.2f} MB",
        f"collection  {facts['collection']}  {facts['clips']} clips, {facts['frames']} frames at "
        f"{facts['fps']:g} fps ({seconds:.0f} s)",
        f"transitions of {facts['length_s']:g} s over {facts['clusters']} clusters, looked up "
        f"among {facts['representatives']} windows, {facts['recipes_per_entry']} recipes each",
        f"best entries  {ways} ways; median cost {facts['best_cost_median']:.2f} "
        f"({settings['score']})",
        f"labels  {', '.join(facts['labels']) or 'none'}",
    ]
    if facts["clips_added"]:
        lines.append(f"added since the search  {facts['clips_added']} of the clips")
    for line in lines:
        typer.echo(printable(line))
    note(f"try: motionloom table synthesize {table.file} {lib.ids[0]}:0 {lib.ids[-1]}:60 -o a.bvh")


def _report_json(lib: ml.Collection) -> dict[str, Any]:
    report = lib.report
    return {
        "retargeted": list(report.retargeted),
        "resampled": list(report.resampled),
        "warnings": [{"clip": clip, "text": text} for clip, text in report.warnings],
        "left_out": [{"file": file, "why": why} for file, why in report.left_out],
    }
