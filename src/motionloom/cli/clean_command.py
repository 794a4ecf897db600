"""motionloom clean: planted feet that do not slide."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import (
    Body,
    Fps,
    Reading,
    SourceFps,
    Unit,
    Up,
    body_of,
    clip_notes,
    find_clips,
    load_clip,
)
from motionloom.cli.jobs import Done, Jobs, interrupted_note, named_rates, plan_jobs, run_jobs
from motionloom.cli.option_words import in_options
from motionloom.cli.output import AsJson, complain, finding_warnings, print_json, printable, warn
from motionloom.cli.results import (
    AllowFlawed,
    CharacterFile,
    DryRun,
    Engine,
    Force,
    Layout,
    RootAt,
    Writing,
    refuse_collection,
    refuse_flawed,
    refuse_unwritable,
    result_json,
    wearer_of,
    write_clip,
)


def clean(
    source: Annotated[str, typer.Argument(metavar="IN", help="A clip, a folder, or -.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="File, - , or folder; the suffix picks the format."),
    ],
    to: Annotated[
        str | None,
        typer.Option("--to", help="Format, for a folder (that of each clip by default) or -."),
    ] = None,
    stretch: Annotated[
        bool, typer.Option("--stretch", help="Let legs change length instead of lowering the root.")
    ] = False,
    ground: Annotated[
        bool, typer.Option("--ground", help="Bring the floor to y = 0 as well.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FOLDER",
            help="Page, CSV and JSON of a folder; _report in the output by default.",
        ),
    ] = None,
    jobs: Jobs = None,
    allow_flawed: AllowFlawed = False,
    fps: Fps = None,
    source_fps: SourceFps = None,
    unit: Unit = None,
    up: Up = None,
    body: Body = None,
    character: CharacterFile = None,
    engine: Engine = None,
    root: RootAt = None,
    force: Force = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Hold planted feet in place.

    Prints how far they slid before and after, and where the worst contact is now. Bones keep their
    length without --stretch. A folder is cleaned by several processes, with a summary; a run that
    was stopped resumes.
    """
    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    wearer, layout = wearer_of(character, reading), Layout(engine, root, body)
    writing = Writing(output, to, force, dry_run, as_json, allow_flawed, wearer, layout)
    if not dry_run and source != "-" and Path(source).is_dir():
        if output == "-":
            raise ml.FormatError(
                "The results of a folder go into a folder.", path=output, fix="Name a folder."
            )
        if character is not None or engine is not None or root is not None:
            raise ml.ArrayError(
                "--character, --engine and --root take one clip here. Clean the folder without "
                "them, then use convert FOLDER OUT --to glb --character FILE, or convert FOLDER "
                "OUT --engine unreal."
            )
        reading.warn_unfit(find_clips([source]))
        _clean_folder(
            source, writing, reading, report=report, stretch=stretch, ground=ground, jobs=jobs
        )
        return
    planned = plan_jobs(source, writing, own_formats=True)
    reading.warn_unfit([path for path, _ in planned])

    def work(path: str, target: str) -> Done:
        motion = load_clip(path, reading)
        roles = body_of(motion, reading)
        cleanup = ml.clean_footskate(motion, body=roles, stretch=stretch)
        refuse_flawed(cleanup.verification, target, allowed=allow_flawed)
        cleaned = ml.ground(cleanup.motion, body=roles) if ground else cleanup.motion
        write_clip(cleaned, target, to, wearer=wearer, layout=layout)
        facts = {**cleanup.report.json(), **result_json(cleanup)}
        said = [f"{path}: {note}" for note in cleanup.report.notes]
        warnings = [*finding_warnings(path, motion), *said]
        return Done(cleanup.report.summary, facts, warnings, clip_notes(path, motion))

    run_jobs(planned, work, writing, label="cleaning", check=refuse_unwritable)


def _clean_folder(
    source: str, writing: Writing, reading: Reading, *, report: Path | None, **options: Any
) -> None:
    """Clean every clip of a folder and print a line for each."""
    for folder in (Path(writing.output), report):
        if folder is not None:
            refuse_collection(folder)
    with interrupted_note(Path(writing.output)):
        result = ml.clean_dataset(
            source,
            writing.output,
            to=writing.to,
            report=report,
            overwrite=writing.force,
            allow_flawed=writing.allow_flawed,
            fps=reading.fps,
            source_fps=named_rates(reading),
            unit=reading.unit,
            up=reading.up,
            body=reading.body,
            **options,
        )
    failed = [clip for clip in result.clips if clip.error]
    if writing.as_json:
        print_json({"dry_run": False, "clips": [_clip_json(clip) for clip in result.clips]})
    for clip in result.clips:
        if not clip.error and not writing.as_json:
            typer.echo(printable(f"wrote {clip.output}  {clip.detail['cleanup']}"))
    for clip in result.clips:
        for text in clip.detail.get("file_warnings", ()):
            warn(in_options(f"{clip.path}, {text}"))
    for clip in failed:
        complain(in_options(clip.error))
    if failed:
        raise typer.Exit(3 if all(clip.detail.get("flawed") for clip in failed) else 2)


def _clip_json(clip: ml.ClipReport) -> dict[str, Any]:
    if clip.error:
        return {"input": clip.path, "output": clip.output, "error": in_options(clip.error)}
    return {
        "input": clip.path,
        "output": clip.output,
        **clip.detail["cleanup_facts"],
        "frames": clip.frames,
        "fps": clip.fps,
        "span": [0, clip.frames - 1],
        "verification": clip.detail.get("verification"),
        "cleanup": clip.detail["cleanup_facts"],
        "before": dict(clip.before),
        "after": dict(clip.values),
    }
