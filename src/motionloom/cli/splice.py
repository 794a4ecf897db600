"""motionloom splice: the upper body of one clip on the legs of another."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from motionloom.cli.clips import Body, Fps, Reading, SourceFps, Unit, Up, find_clips
from motionloom.cli.examples import Example, NoRetarget, load_examples, warn_of_findings
from motionloom.cli.output import AsJson, complain, print_json, printable, track
from motionloom.cli.results import Anyway, Finished, refuse_failed, write_clip
from motionloom.cli.splice_gate import hold_to_gate
from motionloom.cli.targets import DryRun, Force, check_target
from motionloom.errors import ArrayError, FormatError, MotionLoomError, SkeletonMismatchError

if TYPE_CHECKING:
    from motionloom.splicing.splice import Splice

__all__ = ["splice"]

Method = Literal["naive", "time", "time+space", "full"]
Where = Literal["torso", "chest", "arms", "left_arm", "right_arm", "head"]
WhenShort = Literal["crop", "loop", "hold"]


@dataclass(frozen=True, slots=True)
class _Wish:
    """What the user asked for, the same for every pair of clips."""

    method: Method
    where: Where
    when_short: WhenShort
    soft: bool
    keep_bend: bool
    retarget: bool
    upper_span_s: tuple[float, float] | None
    lower_span_s: tuple[float, float] | None


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """A splice with all that is told about it."""

    upper: Example
    lower: Example
    spliced: Splice
    finished: Finished
    begins_s: float
    """Second of the upper clip at which what was taken of it begins."""


def splice(
    upper: Annotated[
        str, typer.Option("--upper", "-u", help="The clip with the action, or a folder.")
    ],
    lower: Annotated[
        str, typer.Option("--lower", "-l", help="The clip with the locomotion, or a folder.")
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="File, - , or folder; the suffix picks the format."),
    ],
    where: Annotated[
        Where, typer.Option("--where", help="What is taken from the action.")
    ] = "torso",
    when_short: Annotated[
        WhenShort,
        typer.Option("--when-short", help="What becomes of legs that outlast the action."),
    ] = "crop",
    upper_span: Annotated[
        tuple[float, float] | None,
        typer.Option("--upper-span", metavar="FROM TO", help="Seconds of the action to take."),
    ] = None,
    lower_span: Annotated[
        tuple[float, float] | None,
        typer.Option("--lower-span", metavar="FROM TO", help="Seconds of the legs to take."),
    ] = None,
    soft: Annotated[
        bool, typer.Option("--soft", help="Let the spine go over joint by joint.")
    ] = False,
    keep_bend: Annotated[
        bool, typer.Option("--keep-bend", help="Keep deep bends of the action.")
    ] = False,
    method: Annotated[
        Method, typer.Option("--method", help="Fewer steps than full, to compare.")
    ] = "full",
    anyway: Anyway = False,
    no_retarget: NoRetarget = False,
    to: Annotated[
        str | None, typer.Option("--to", help="Format, for folders or -: bvh, glb ...")
    ] = None,
    fps: Fps = None,
    source_fps: SourceFps = None,
    unit: Unit = None,
    up: Up = None,
    body: Body = None,
    force: Force = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Put the upper-body action of one clip on the legs of another.

    The action is brought into step with the legs, its torso sways as theirs does, and it keeps the
    posture that it has in its own clip. Root and legs of the result are exactly those of --lower.

    With a folder for --lower the action is put on every clip of it, and --to says the format.
    """
    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    wish = _Wish(
        method, where, when_short, soft, keep_bend, not no_retarget, upper_span, lower_span
    )
    jobs = _jobs(upper, lower, output, to)
    reading.warn_unfit([path for pair, _ in jobs for path in pair])
    told: list[dict[str, Any]] = []
    shown: list[tuple[_Made, str]] = []
    errors: list[MotionLoomError] = []
    for pair, target in track(jobs, "splicing"):
        inputs = {"upper": pair[0], "lower": pair[1]}
        try:
            check_target(target, list(pair), force=force)
            if dry_run:
                told.append({**inputs, "output": target})
                continue
            made = _make(*pair, reading, wish)
            refuse_failed(made.finished, target, anyway=anyway)
            write_clip(made.finished.motion, target, to)
        except MotionLoomError as error:
            if len(jobs) == 1:
                raise
            told.append({**inputs, "output": target, "error": str(error)})
            errors.append(error)
            continue
        told.append({"output": target, **_json(made)})
        shown.append((made, target))
    if output == "-" and not dry_run:
        pass  # the clip itself is there
    elif as_json:
        print_json({"dry_run": dry_run, "splices": told})
    elif dry_run:
        for each in told:
            if "error" not in each:
                typer.echo(printable(f"would write {each['output']}"))
    else:
        for made, target in shown:
            _print(made, target)
    for made, _ in shown:
        warn_of_findings([made.upper, made.lower])
    for fault in errors:
        complain(fault)
    if errors:
        raise typer.Exit(2)


def _jobs(upper: str, lower: str, output: str, to: str | None) -> list[tuple[tuple[str, str], str]]:
    """Both inputs and the output of every splice."""
    folders = [path for path in (upper, lower) if path != "-" and Path(path).is_dir()]
    if not folders:
        return [((upper, lower), output)]
    if to is None:
        raise FormatError(
            "A folder needs to be told the format of its results.",
            path=folders[0],
            fix="Say --to bvh (or another).",
        )
    if output == "-" or Path(output).is_file():
        raise FormatError("Many results go into a folder.", path=output, fix="Name a folder.")
    suffix = "." + to.lower().removeprefix(".")
    return [
        ((action, legs), str(Path(output) / f"{Path(action).stem}_on_{Path(legs).stem}{suffix}"))
        for action in find_clips([upper])
        for legs in find_clips([lower])
        if action != legs
    ]


def _make(upper: str, lower: str, reading: Reading, wish: _Wish) -> _Made:
    import motionloom as ml

    examples, body = load_examples([lower, upper], reading, retarget=wish.retarget, ground=False)
    # The result stands where the legs stood: where the action's floor was does not matter.
    legs, action = (
        dataclasses.replace(each, notes=tuple(n for n in each.notes if "--ground" not in n))
        for each in examples
    )
    if not action.motion.skeleton.same_joints(legs.motion.skeleton):
        raise SkeletonMismatchError(
            f"{upper} has other joints than {lower}. Leave out --no-retarget, or retarget it first."
        )
    action = _taken(action, wish.upper_span_s, "--upper-span")
    legs = _taken(legs, wish.lower_span_s, "--lower-span")
    spliced = ml.splice(
        action.motion,
        legs.motion,
        method=wish.method,
        where=wish.where,
        when_short=wish.when_short,
        soft=wish.soft,
        keep_bend=wish.keep_bend,
        footplants=legs.footplants,
        body=body,
    )
    # Into the same format as the legs, in the same unit and axes.
    source = dataclasses.replace(legs.loaded.source, findings=(), skipped_frames=0)
    motion = spliced.motion.replace(source=source)
    finished = hold_to_gate(motion, spliced, [legs.motion, action.motion])
    begins_s = 0.0 if wish.upper_span_s is None else wish.upper_span_s[0]
    return _Made(action, legs, spliced, finished, begins_s)


def _taken(clip: Example, span_s: tuple[float, float] | None, option: str) -> Example:
    """The clip between two moments."""
    if span_s is None:
        return clip
    motion = clip.motion
    first, last = (round(second * motion.fps) for second in span_s)
    if not 0 <= first < last < motion.n_frames:
        raise ArrayError(
            f"{option} must lie within {clip.path}, 0 to {motion.duration_s:.2f} s, and end after "
            f"it begins, got {span_s[0]:g} {span_s[1]:g}."
        )
    part = slice(first, last + 1)
    return dataclasses.replace(clip, motion=motion[part], footplants=clip.footplants[part])


def _print(made: _Made, target: str) -> None:
    wide = max(len(Path(each.path).name) for each in (made.upper, made.lower))
    for title, each in (("upper", made.upper), ("lower", made.lower)):
        loaded = each.loaded
        typer.echo(
            f"{title}  {printable(Path(each.path).name):{wide}}  {loaded.n_frames} frames at "
            f"{loaded.fps:g} fps, {loaded.duration_s:.2f} s, {loaded.skeleton.n_joints} joints"
        )
        for text in each.notes:
            typer.echo(f"       {'':{wide}}  {printable(text)}")
    typer.echo(f"time   {_time_line(made)}")
    for text in made.spliced.notes:
        said = text.replace("keep_bend=True", "--keep-bend").replace(
            "method='time'", "--method time"
        )
        typer.echo(printable(f"note   {said}"))
    gate = made.finished.gate
    verdict = (
        typer.style("passed", fg=typer.colors.GREEN)
        if gate.passed
        else typer.style("FAILED", fg=typer.colors.RED)
    )
    typer.echo(
        f"gate   {verdict}: seen from the root, largest joint step {gate.step_ratio:.2f}, "
        f"joint turn {gate.turn_ratio:.2f} times the sources' largest"
    )
    motion = made.finished.motion
    typer.echo(
        printable(
            f"wrote  {target}  {motion.n_frames} frames at {motion.fps:g} fps, "
            f"{motion.duration_s:.2f} s"
        )
    )


def _time_line(made: _Made) -> str:
    """Where the action begins, how fast it goes, and whether the legs outlast it."""
    slow, mean, fast = _paces(made.spliced)
    fps = made.spliced.motion.fps
    start = made.spliced.timewarp.frames[0] / fps + made.begins_s
    pace = (
        "at its own pace"
        if fast - slow < 1e-6
        else f"at {slow:.2f} to {fast:.2f} times its own pace, {mean:.2f} in the mean"
    )
    left = made.lower.motion.n_frames - made.spliced.motion.n_frames
    cropped = (
        f"; {left / fps:.2f} s of the legs are left over: --when-short loop or hold uses them"
        if left > 0.1 * fps
        else ""
    )
    return f"the action from {start:.2f} s on, {pace}{cropped}"


def _paces(spliced: Splice) -> tuple[float, float, float]:
    """Slowest, mean and fastest pace of the action against its own."""
    import numpy as np

    paces = np.diff(spliced.timewarp.frames)
    return float(paces.min()), float(paces.mean()), float(paces.max())


def _json(made: _Made) -> dict[str, Any]:
    slow, mean, fast = _paces(made.spliced)
    return {
        "upper": made.upper.json(),
        "lower": made.lower.json(),
        "begins_s": made.begins_s
        + float(made.spliced.timewarp.frames[0]) / made.spliced.motion.fps,
        "pace": {"slowest": slow, "mean": mean, "fastest": fast},
        "own_time": made.spliced.timewarp.kept_own_time,
        "notes": list(made.spliced.notes),
        **made.finished.json(),
    }
