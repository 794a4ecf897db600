"""motionloom splice: the upper body of one clip on the legs of another."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from motionloom.cli.clip_arguments import Body, Fps, Reading, SourceFps, Unit, Up
from motionloom.cli.example_clips import Example, NoRetarget, load_examples
from motionloom.cli.output import AsJson, printable
from motionloom.cli.output_paths import DryRun, Force
from motionloom.cli.pair_jobs import Writing, make_pairs, plan_pairs
from motionloom.cli.results import AllowFlawed, print_check, result_json, wrote_line
from motionloom.errors import ArrayError

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
    """A splice and the clips it was made of."""

    upper: Example
    lower: Example
    result: Splice
    begins_s: float
    """Second of the upper clip at which what was taken of it begins."""

    @property
    def examples(self) -> tuple[Example, Example]:
        """Both clips."""
        return self.upper, self.lower


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
    allow_flawed: AllowFlawed = False,
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
    writing = Writing(output, to, allow_flawed, force, dry_run, as_json)
    pairs = plan_pairs(upper, lower, writing, between="on")
    reading.warn_unfit([path for pair in pairs for path in (pair.one, pair.other)])
    make_pairs(
        pairs,
        lambda pair: _make(pair.one, pair.other, reading, wish),
        writing,
        doing="splicing",
        plural="splices",
        inputs=lambda pair: {"upper": pair.one, "lower": pair.other},
        tell=_json,
        show=_print,
    )


def _make(upper: str, lower: str, reading: Reading, wish: _Wish) -> _Made:
    import motionloom as ml

    examples, body = load_examples([lower, upper], reading)
    # The result stands where the legs stood: where the action's floor was does not matter.
    legs, action = (
        dataclasses.replace(each, notes=tuple(n for n in each.notes if "--ground" not in n))
        for each in examples
    )
    action = _taken(action, wish.upper_span_s, "--upper-span")
    legs = _taken(legs, wish.lower_span_s, "--lower-span")
    made = ml.splice(
        action.motion,
        legs.motion,
        method=wish.method,
        where=wish.where,
        when_short=wish.when_short,
        soft=wish.soft,
        keep_bend=wish.keep_bend,
        body=body,
        match=wish.retarget,
    )
    # Into the same format as the legs, in the same unit and axes.
    source = dataclasses.replace(legs.loaded.source, findings=(), skipped_frames=0)
    made = dataclasses.replace(made, motion=made.motion.replace(source=source))
    begins_s = 0.0 if wish.upper_span_s is None else wish.upper_span_s[0]
    return _Made(action, legs, made, begins_s)


def _taken(clip: Example, span_s: tuple[float, float] | None, option: str) -> Example:
    """The clip between two moments."""
    from motionloom._arrays import finite

    if span_s is None:
        return clip
    motion = clip.motion
    beyond_s = motion.duration_s + 1.0
    first, last = (
        round(min(max(finite(second, option), -1.0), beyond_s) * motion.fps) for second in span_s
    )
    if not 0 <= first < last < motion.n_frames:
        raise ArrayError(
            f"{option} must lie within {clip.path}, 0 to {motion.duration_s:.2f} s, and end after "
            f"it begins, got {span_s[0]:g} {span_s[1]:g}."
        )
    part = slice(first, last + 1)
    return dataclasses.replace(clip, motion=motion[part])


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
    for text in made.result.notes:
        said = text.replace("keep_bend=True", "--keep-bend").replace(
            "method='time'", "--method time"
        )
        typer.echo(printable(f"note   {said}"))
    print_check(made.result.verification)
    typer.echo(wrote_line(made.result.motion, target))


def _time_line(made: _Made) -> str:
    """Where the action begins, how fast it goes, and whether the legs outlast it."""
    slow, mean, fast = _paces(made.result)
    fps = made.result.motion.fps
    start = made.result.timewarp.frames[0] / fps + made.begins_s
    pace = (
        "at its own pace"
        if fast - slow < 1e-6
        else f"at {slow:.2f} to {fast:.2f} times its own pace, {mean:.2f} in the mean"
    )
    left = made.result.matched.motions[0].n_frames - made.result.motion.n_frames
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
    slow, mean, fast = _paces(made.result)
    matched = made.result.matched
    return {
        "upper": made.upper.json(matched.footplants[1], matched.notes[1]),
        "lower": made.lower.json(matched.footplants[0], matched.notes[0]),
        "begins_s": made.begins_s + float(made.result.timewarp.frames[0]) / made.result.motion.fps,
        "pace": {"slowest": slow, "mean": mean, "fastest": fast},
        "own_time": made.result.timewarp.kept_own_time,
        "notes": list(made.result.notes),
        **result_json(made.result),
    }
