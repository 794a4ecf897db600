"""motionloom sequence: any number of clips in a row."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, overload

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import (
    SAME_RATE,
    Body,
    Fps,
    Ground,
    NoRetarget,
    Reading,
    SourceFps,
    Unit,
    Up,
    body_of,
    clip_notes,
    find_clips,
    letter,
    load_clip,
)
from motionloom.cli.option_words import is_typed
from motionloom.cli.output import AsJson, finding_warnings, print_json, printable, remark, warn
from motionloom.cli.results import (
    AllowFlawed,
    CharacterFile,
    DryRun,
    Engine,
    Force,
    Layout,
    Raw,
    RootAt,
    check_target,
    joined_json,
    print_check,
    refuse_flawed,
    refuse_unwritable,
    wearer_of,
    write_clip,
    wrote_line,
)
from motionloom.cli.sequence_plan import Task, check_digests, read_plan, write_plan

OF_PLANS = {
    "keep": ("--keep", '"keep" of its joints'),
    "length": ("--length", '"length_s" of its joints'),
    "method": ("--method", '"method" of its joints'),
    "moving": ("--moving", '"moving" of its joints'),
    "loop": ("--loop", '"loop"'),
    "turn_to": ("--turn-to", '"turn_to_deg"'),
    "no_timewarp": ("--no-timewarp", '"timewarp"'),
    "raw": ("--raw", '"raw"'),
    "no_retarget": ("--no-retarget", '"retarget"'),
    "ground": ("--ground", '"ground"'),
    "fps": ("--fps", '"fps" in "reading"'),
    "source_fps": ("--source-fps", '"source_fps" in "reading"'),
    "unit": ("--source-unit", '"unit" in "reading"'),
    "up": ("--source-up", '"up" in "reading"'),
    "body": ("--body", '"body" in "reading"'),
}
"""Options that a plan decides, by the parameter of the command, and the fields that do it."""


def sequence(
    context: typer.Context,
    output: Annotated[
        str, typer.Option("--output", "-o", help="File or - ; the suffix picks the format.")
    ],
    clips: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CLIP...]", help="Clips in their order, or folders; or a plan."),
    ] = None,
    from_: Annotated[
        Path | None,
        typer.Option("--from", metavar="PLAN.json", help="Make what a plan says, without clips."),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="PLAN.json", help="Also write a plan, to edit and run."),
    ] = None,
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="SHARE[,...]|late",
            help="Least share of a clip that plays; a list has one value per joint.",
        ),
    ] = "0.3",
    length: Annotated[
        str, typer.Option("--length", metavar="S[,...]", help="Seconds of blending; or a list.")
    ] = "0.6",
    method: Annotated[
        str, typer.Option("--method", metavar="NAME[,...]", help="registration or cut; or a list.")
    ] = "registration",
    moving: Annotated[
        bool, typer.Option("--moving", help="Join only where both bodies travel.")
    ] = False,
    loop: Annotated[
        bool, typer.Option("--loop", help="Lead the last clip back to the first: a cycle.")
    ] = False,
    turn_to: Annotated[
        float | None,
        typer.Option(
            "--turn-to", metavar="DEG", help="Heading of the first frame: 0 is +Z, 90 is +X."
        ),
    ] = None,
    no_timewarp: Annotated[
        bool, typer.Option("--no-timewarp", help="Let clips run on frame by frame in blends.")
    ] = False,
    raw: Raw = False,
    allow_flawed: AllowFlawed = False,
    no_retarget: NoRetarget = False,
    ground: Ground = False,
    to: Annotated[str | None, typer.Option("--to", help="Format, for -: bvh, glb ...")] = None,
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
    """Join any number of clips in a row.

    The places of all joints are chosen together: every clip is left after it was entered, and
    enough of it plays. All clips come onto the skeleton and to the rate of the first. Parts of
    clips are walk.bvh:2s-5.5s (seconds) and walk.bvh:120-330 (first and last frame).

    A plan holds the clips, their checksums and every joint. It can be edited: "at" is the frame of
    both clips that meet, and a joint without it is placed anew. So is a joint beside a clip whose
    name, part or number of frames is no longer that of the plan, and a note reports it. Run a plan
    with --from PLAN.json: what it decides is edited there, and options for it are refused.

    One clip with --loop is closed as a cycle of its own, as motionloom.loop does.
    """
    source = _plan_among(clips or [], from_)
    if source is not None:
        _refuse_options(context, source)
        task = read_plan(source)
        reading = task.reading
    else:
        reading = Reading.of(
            fps=fps, source_fps=source_fps, unit=unit, up=up, body=body, fps_is_new=False
        )
        paths = find_clips(clips or [])
        count = len(paths) if loop else max(0, len(paths) - 1)
        chosen = {"keep": keep, "length": length, "method": method}
        given = {name: text for name, text in chosen.items() if is_typed(context, name)}
        task = Task(
            paths,
            _joints(count, given, moving),
            loop,
            turn_to,
            not no_timewarp,
            not no_retarget,
            ground,
            raw,
            reading,
        )
    reading.warn_unfit(task.paths)
    others = [str(each) for each in (source, reading.body, character) if each is not None]
    inputs = [*task.paths, *others]
    layout = Layout(engine, root, reading.body)
    if plan is not None:
        _refuse_one_file(plan, output)
        check_target(str(plan), inputs, force=force, pipe=False)
    check_target(output, inputs, force=force, to=to)
    layout.check(output)
    refuse_unwritable(output)
    if dry_run:
        if as_json:
            print_json({"dry_run": True, "inputs": task.paths, "output": output})
        else:
            typer.echo(printable(f"would write {output}  from {len(task.paths)} clips"))
        return
    wearer = wearer_of(character, reading)
    check_digests(task)
    files = _Clips(task)
    result = _make(task, files, shown=not as_json)
    if plan is not None:
        write_plan(plan, task, result)
    try:
        advice = "Choose other clips, another --length or --keep,"
        if task.plan is not None:
            advice = f'Edit "at", "length_s" or "keep" in {task.plan},'
        refuse_flawed(result.verification, output, allowed=allow_flawed, advice=advice)
    except ml.FlawedResultError:
        if output != "-" and not as_json:
            _print(files, result)
        raise
    made_of = result.provenance
    write_clip(result.motion, output, to, wearer=wearer, layout=layout, provenance=made_of)
    if output != "-":  # otherwise the clip itself goes to standard output
        _report(files, result, output, plan, as_json=as_json)
    files.warn_of_findings()


def _plan_among(clips: list[str], from_: Path | None) -> Path | None:
    """The plan to run: that of --from, or the only argument if it is one."""
    if from_ is None and len(clips) == 1 and clips[0].lower().endswith(".json"):
        return Path(clips[0])
    if from_ is not None and clips:
        raise ml.ArrayError("--from takes the clips of the plan: name no others.")
    if from_ is None and not clips:
        raise ml.ArrayError("A sequence takes one clip or more, or a plan with --from, got none.")
    return from_


def _refuse_options(context: typer.Context, plan: Path) -> None:
    """Refuse options that a plan decides: they would change nothing."""
    given = [OF_PLANS[name] for name in OF_PLANS if is_typed(context, name)]
    if given:
        options, fields = (", ".join(each) for each in zip(*given, strict=True))
        raise ml.FormatError(
            f"A plan decides what is made, so {options} must not be given with one.",
            path=plan,
            fix=f"Edit the plan: {fields}.",
        )


def _refuse_one_file(plan: Path, output: str) -> None:
    """Refuse a plan and an output that are one file, by whatever paths and links."""
    if output == "-":
        return
    out = Path(output)
    one = os.path.realpath(plan) == os.path.realpath(out)
    if one or (plan.exists() and out.exists() and plan.samefile(out)):
        raise ml.FormatError(
            f"The plan and the output {output} must be two files, and are one.",
            path=plan,
            fix="Give --plan another name.",
        )


def _make(task: Task, files: _Clips, *, shown: bool) -> ml.Sequence:
    body = None
    if task.reading.body is not None:
        body = ml.BodyMap.load(task.reading.body, files[0].skeleton)
    turn = task.turn_to_deg
    try:
        return ml.sequence(
            files,
            joints=task.joints,
            loop=task.loop,
            turn_to=None if turn is None else math.radians(turn),
            names=task.names,
            body=body,
            timewarp=task.timewarp,
            match=task.retarget,
            clean=not task.raw,
            progress=shown,
        )
    except (ml.ArrayError, ml.RegistrationError) as error:
        if task.plan is None:
            raise
        # Parameters in backticks would become options; in a plan they are fields.
        text = re.sub(r"`(\w+)(?:\[\d\])?`", r'"\1"', str(error))
        raise ml.FormatError(text, path=task.plan) from error


# --- Clips, read one after the other


class _Clips(Sequence[Any]):
    """Clips that are read when they are asked for and not kept."""

    def __init__(self, task: Task) -> None:
        self.paths, self._task = task.paths, task
        self.facts: dict[int, dict[str, Any]] = {}
        self._warnings: dict[str, None] = {}
        self._remarks: dict[str, None] = {}

    @property
    def notes(self) -> list[str]:
        """What of the plan no longer fits the clips."""
        return self._task.notes

    def __len__(self) -> int:
        return len(self.paths)

    @overload
    def __getitem__(self, number: int) -> ml.Motion: ...
    @overload
    def __getitem__(self, number: slice) -> list[ml.Motion]: ...
    def __getitem__(self, number: int | slice) -> ml.Motion | list[ml.Motion]:
        if isinstance(number, slice):
            return [self[each] for each in range(len(self))[number]]
        path = self.paths[number]
        loaded = load_clip(path, self._task.reading)
        if number == 0:
            self._check_rate(loaded.fps)
        self.facts[number] = {
            "file": path,
            "frames": loaded.n_frames,
            "fps": loaded.fps,
            "joints": loaded.skeleton.n_joints,
        }
        self._warnings.update(dict.fromkeys(finding_warnings(path, loaded)))
        self._remarks.update(dict.fromkeys(clip_notes(path, loaded)))
        if self._task.ground:
            return ml.ground(loaded, body=body_of(loaded, self._task.reading))
        return loaded

    def _check_rate(self, fps: float) -> None:
        """Refuse a plan whose places are frames at another rate than that of the result."""
        wanted, file = self._task.fps, self._task.plan
        if wanted is None or abs(fps - wanted) <= SAME_RATE * fps:
            return
        raise ml.FormatError(
            f'"fps" in the plan must be the rate of its first clip, {fps:g}, at which places are '
            f"counted, got {wanted:g}.",
            path=file,
            fix=f'Write {fps:g}. To resample all clips, set "fps" in "reading", and take out the '
            "other: places are then chosen anew.",
        )

    def warn_of_findings(self) -> None:
        """Print the faults of the files on standard error, and which have other clips."""
        for text in self._remarks:
            remark(text)
        for text in self._warnings:
            warn(text)


# --- Options of joints


def _joints(count: int, given: dict[str, str], moving: bool) -> list[dict[str, Any] | None]:
    """Options of every joint from values, or lists of values, on the command line."""
    joints: list[dict[str, Any] | None] = [{"moving": moving} for _ in range(count)]
    for option, text in given.items():
        for joint, value in zip(joints, _each(text, f"--{option}", count), strict=True):
            assert joint is not None
            if option == "method":
                joint["method"] = value
            elif option == "length":
                joint["length_s"] = _number(value, "--length")
            else:
                joint["keep"] = "late" if value == "late" else _number(value, "--keep")
    return joints


def _each(text: str, option: str, count: int) -> list[str]:
    """The value for every joint."""
    values = [part.strip() for part in text.split(",")]
    if len(values) == 1:
        return values * count
    if len(values) != count:
        raise ml.ArrayError(
            f"{option} must have one value, or one per joint ({count}), got {len(values)} in "
            f"{text!r}."
        )
    return values


def _number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ml.ArrayError(f"{option} must be a number such as 0.5, got {text!r}.") from None


# --- Reports


def _report(
    files: _Clips, result: ml.Sequence, output: str, plan: Path | None, *, as_json: bool
) -> None:
    """Print what was made and written."""
    if as_json:
        print_json(_json(files, result, output, plan))
        return
    _print(files, result)
    typer.echo(wrote_line(result.motion, output))
    if plan is not None:
        typer.echo(printable(f"plan   {plan}"))


def _print(files: _Clips, result: ml.Sequence) -> None:
    wide = max(len(name) for name in result.names)
    for number, name in enumerate(result.names):
        facts = files.facts[number]
        typer.echo(
            printable(
                f"{letter(number)}  {name:{wide}}  {facts['frames']} frames at {facts['fps']:g} "
                f"fps, {facts['joints']} joints; {100 * result.shares[number]:.0f} % of it play"
            )
        )
    for number, line in enumerate(result.report, start=1):
        typer.echo(printable(f"joint {number}  {line}"))
    for text in (*files.notes, *result.notes):
        if not text.startswith("failed check"):
            typer.echo(printable(f"note   {text}"))
    print_check(result.verification)
    if result.cleanup is not None:
        typer.echo(f"feet   {result.cleanup.summary}")


def _json(files: _Clips, result: ml.Sequence, output: str, plan: Path | None) -> dict[str, Any]:
    fps = result.motion.fps
    joints = [
        {
            **joint.options,
            "clips": list(joint.clips),
            "cost_m": joint.place.cost,
            "leaves": joint.leaves,
            "enters": joint.enters,
            "span": list(joint.span),
            "blend_s": (joint.span[1] - joint.span[0]) / fps,
            "verification": None if joint.verification is None else joint.verification.json(),
            "other_places": [[each.frame_a, each.frame_b] for each in joint.alternatives],
            "notes": list(joint.notes),
        }
        for joint in result.joints
    ]
    inputs = [
        {**files.facts[number], "alone": list(alone), "share": result.shares[number]}
        for number, alone in enumerate(result.alone)
    ]
    return {
        "inputs": inputs,
        "joints": joints,
        "loop": result.closure is not None,
        "output": output,
        "plan": None if plan is None else str(plan),
        **joined_json(result),
        "notes": [*files.notes, *result.notes],
    }
