"""motionloom sequence: any number of clips in a row."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any, overload

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import (
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

PLAN_FORMAT = "motionloom sequence plan"
PLAN_VERSION = 1
EMBEDDED = "embedded:"
PLANNED = ("clips", "joints", "loop", "turn_to_deg", "timewarp", "retarget", "ground", "reading")
"""What a plan must hold."""


@dataclass(frozen=True, slots=True)
class _Task:
    """What is to be made: from the options, or from a plan."""

    paths: list[str]
    joints: list[dict[str, Any] | None]
    loop: bool
    turn_to_deg: float | None
    timewarp: bool
    retarget: bool
    ground: bool
    reading: Reading
    digests: list[str | None] = field(default_factory=list)
    """SHA-256 that the files must have, where a plan says it."""


def sequence(
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
    both clips that meet, and a joint without it is placed anew. Run it with --from PLAN.json.
    """
    reading = Reading.of(
        fps=fps, source_fps=source_fps, unit=unit, up=up, body=body, fps_is_new=False
    )
    source = _plan_among(clips or [], from_)
    if source is not None:
        task = _planned(source)
        reading = task.reading
    else:
        paths = find_clips(clips or [])
        count = len(paths) if loop else max(0, len(paths) - 1)
        joints = _joints(count, keep=keep, length=length, method=method, moving=moving)
        task = _Task(
            paths, joints, loop, turn_to, not no_timewarp, not no_retarget, ground, reading
        )
    reading.warn_unfit(task.paths)
    inputs = [*task.paths, *([] if source is None else [str(source)])]
    layout = Layout(engine, root, reading.body)
    check_target(output, inputs, force=force, to=to)
    layout.check(output)
    refuse_unwritable(output)
    if plan is not None:
        check_target(str(plan), [*task.paths, output], force=force, pipe=False)
    if dry_run:
        if as_json:
            print_json({"dry_run": True, "inputs": task.paths, "output": output})
        else:
            typer.echo(printable(f"would write {output}  from {len(task.paths)} clips"))
        return
    wearer = wearer_of(character, reading)
    files = _Clips(task)
    result = _make(task, files, clean=not raw, shown=not as_json)
    if plan is not None:
        _write_plan(plan, task, files, result)
    try:
        advice = "Choose other clips, another --length or --keep,"
        refuse_flawed(result.verification, output, allowed=allow_flawed, advice=advice)
    except ml.FlawedResultError:
        if output != "-" and not as_json:
            _print(files, result)
        raise
    made_of = result.provenance
    write_clip(result.motion, output, to, wearer=wearer, layout=layout, provenance=made_of)
    if output == "-":
        pass  # the clip itself goes there
    elif as_json:
        print_json(_json(files, result, output, plan))
    else:
        _print(files, result)
        typer.echo(wrote_line(result.motion, output))
        if plan is not None:
            typer.echo(printable(f"plan   {plan}"))
    files.warn_of_findings()


def _make(task: _Task, files: _Clips, *, clean: bool, shown: bool) -> ml.Sequence:
    body = None
    if task.reading.body is not None:
        body = ml.BodyMap.load(task.reading.body, files[0].skeleton)
    turn = task.turn_to_deg
    return ml.sequence(
        files,
        joints=task.joints,
        loop=task.loop,
        turn_to=None if turn is None else math.radians(turn),
        names=[Path(path).name for path in task.paths],
        body=body,
        timewarp=task.timewarp,
        match=task.retarget,
        clean=clean,
        progress=shown,
    )


# --- Clips, read one after the other


class _Clips(Sequence[Any]):
    """Clips that are read when they are asked for and not kept."""

    def __init__(self, task: _Task) -> None:
        self.paths, self._task = task.paths, task
        self.facts: dict[int, dict[str, Any]] = {}
        self._warnings: dict[str, None] = {}
        self._remarks: dict[str, None] = {}
        for path, digest in zip(task.paths, task.digests, strict=False):
            _check_digest(path, digest)

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

    def warn_of_findings(self) -> None:
        """Print the faults of the files on standard error, and which have other clips."""
        for text in self._remarks:
            remark(text)
        for text in self._warnings:
            warn(text)


def _digest(path: str) -> str | None:
    """SHA-256 of a clip's file; None for embedded clips and standard input."""
    file = _file_of(path)
    if file is None:
        return None
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _file_of(path: str) -> Path | None:
    """The file that a clip, or a part of one, is in."""
    path, _ = ml.split_range(path)
    if path == "-" or path.startswith(EMBEDDED):
        return None
    ends = [at for at, character in enumerate(path) if character == "#"]
    for end in (len(path), *ends):
        if Path(path[:end]).is_file():
            return Path(path[:end])
    return Path(path)


def _check_digest(path: str, wanted: str | None) -> None:
    """Refuse a file that is not the one that a plan was made of."""
    if wanted is None:
        return
    try:
        found = _digest(path)
    except OSError as error:
        raise ml.FormatError(
            f"The plan's clip cannot be read: {error.strerror}.",
            path=path,
            fix="Put it back, or change its name in the plan.",
        ) from None
    if found != wanted:
        raise ml.FormatError(
            "The file has changed since the plan was written: its places may fit no more "
            f"(SHA-256 {str(found)[:12]}..., the plan has {wanted[:12]}...).",
            path=path,
            fix='Make the plan again, or take "sha256" of this clip out of the plan.',
        )


# --- Options of joints


def _joints(
    count: int, *, keep: str, length: str, method: str, moving: bool
) -> list[dict[str, Any] | None]:
    """Options of every joint from values, or lists of values, on the command line."""
    keeps = _each(keep, "--keep", count)
    lengths, methods = _each(length, "--length", count), _each(method, "--method", count)
    return [
        {
            "keep": "late" if share == "late" else _number(share, "--keep"),
            "length_s": _number(seconds, "--length"),
            "method": name,
            "moving": moving,
        }
        for share, seconds, name in zip(keeps, lengths, methods, strict=True)
    ]


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


# --- Plans


def _plan_among(clips: list[str], from_: Path | None) -> Path | None:
    """The plan to run: that of --from, or the only argument if it is one."""
    if from_ is None and len(clips) == 1 and clips[0].lower().endswith(".json"):
        return Path(clips[0])
    if from_ is not None and clips:
        raise ml.ArrayError("--from takes the clips of the plan: name no others.")
    if from_ is None and not clips:
        raise ml.ArrayError("A sequence takes one clip or more, or a plan with --from, got none.")
    return from_


def _planned(file: Path) -> _Task:
    """What a plan says. Its paths are relative to its folder."""
    try:
        values = json.loads(file.read_bytes())
        if values["format"] != PLAN_FORMAT or values["version"] != PLAN_VERSION:
            raise ValueError(f"it is no {PLAN_FORMAT} of version {PLAN_VERSION}")
        missing = [name for name in PLANNED if name not in values]
        if missing:
            raise ValueError(f"it has no {', '.join(missing)}")
        clips = [dict(each) for each in values["clips"]]
        paths = [_from_plan(str(each["clip"]), file) for each in clips]
        read = dict(values["reading"])
        read["source_fps"] = tuple((str(name), float(rate)) for name, rate in read["source_fps"])
        read["body"] = None if read["body"] is None else Path(_from_plan(read["body"], file))
        turn = values["turn_to_deg"]
        return _Task(
            paths,
            list(values["joints"]),
            values["loop"],
            None if turn is None else float(turn),
            values["timewarp"],
            values["retarget"],
            values["ground"],
            Reading(**read),
            [each.get("sha256") for each in clips],
        )
    except (ValueError, TypeError, KeyError) as error:
        raise ml.FormatError(
            f"The plan cannot be used: {error}.",
            path=file,
            fix="Write one with motionloom sequence CLIP... -o OUT --plan PLAN.json.",
        ) from None


def _write_plan(file: Path, task: _Task, files: _Clips, result: ml.Sequence) -> None:
    made = result.plan
    reading = asdict(task.reading)
    reading["body"] = None if reading["body"] is None else _in_plan(str(reading["body"]), file)
    clips = [
        {"clip": _in_plan(path, file), "sha256": _digest(path), "frames": each["frames"]}
        for path, each in zip(files.paths, made["clips"], strict=True)
    ]
    values = {
        "format": PLAN_FORMAT,
        "version": PLAN_VERSION,
        "clips": clips,
        "fps": made["fps"],
        "joints": made["joints"],
        "loop": task.loop,
        "turn_to_deg": task.turn_to_deg,
        "timewarp": task.timewarp,
        "retarget": task.retarget,
        "ground": task.ground,
        "reading": reading,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(values, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _in_plan(path: str, file: Path) -> str:
    """A path as a plan holds it: relative to the plan's folder."""
    if path.startswith(EMBEDDED):
        return path
    if path == "-":
        raise ml.ArrayError("A plan cannot hold standard input: name files.")
    try:
        return os.path.relpath(path, file.parent)
    except ValueError:  # on another drive
        return str(Path(path).resolve())


def _from_plan(path: str, file: Path) -> str:
    return path if path.startswith(EMBEDDED) else os.path.normpath(file.parent / path)


# --- Reports


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
    for text in result.notes:
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
    }
