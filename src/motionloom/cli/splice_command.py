"""motionloom splice: the upper body of one clip on the legs of another."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import (
    Body,
    Example,
    Fps,
    NoRetarget,
    Reading,
    SourceFps,
    Unit,
    Up,
    load_examples,
)
from motionloom.cli.jobs import PairWords, make_pairs, plan_pairs
from motionloom.cli.option_words import in_options
from motionloom.cli.output import AsJson, printable
from motionloom.cli.results import (
    AllowFlawed,
    CharacterFile,
    DryRun,
    Engine,
    Force,
    Layout,
    RootAt,
    Writing,
    joined_json,
    print_check,
    wearer_of,
    wrote_line,
)

Method = Literal["naive", "time", "time+space", "full"]
Where = Literal["torso", "chest", "arms", "left_arm", "right_arm", "head"]
WhenShort = Literal["crop", "loop", "hold"]
Repair = Literal["made", "all", "none"]
Span = tuple[float, float]
"""Seconds from and to."""
SAME_RATE = 1e-3
"""A playback rate that differs from 1 by less is the clip's own."""


@dataclass(frozen=True, slots=True, eq=False)
class _Spliced:
    """A splice and the clips it was made of."""

    upper: Example
    lower: Example
    result: ml.Splice
    begins_s: float
    """Second of the upper clip at which the part that is used begins."""

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
        Where, typer.Option("--where", help="The part of the body that the action moves.")
    ] = "torso",
    when_short: Annotated[
        WhenShort,
        typer.Option("--when-short", help="How to fill the result if the legs outlast the action."),
    ] = "crop",
    upper_span: Annotated[
        tuple[float, float] | None,
        typer.Option("--upper-span", metavar="FROM TO", help="Seconds of the action to take."),
    ] = None,
    lower_span: Annotated[
        tuple[float, float] | None,
        typer.Option("--lower-span", metavar="FROM TO", help="Seconds of the legs to take."),
    ] = None,
    align: Annotated[
        bool, typer.Option("--align", help="Put strokes of an action that stands on steps.")
    ] = False,
    soft: Annotated[bool, typer.Option("--soft", help="Blend the spine joint by joint.")] = False,
    keep_bend: Annotated[
        bool, typer.Option("--keep-bend", help="Keep deep bends of the action.")
    ] = False,
    method: Annotated[
        Method, typer.Option("--method", help="Simpler methods, for comparison.")
    ] = "full",
    repair: Annotated[
        Repair,
        typer.Option(
            "--repair",
            help="Where capture defects are repaired: in the action, in the legs too, or nowhere.",
        ),
    ] = "made",
    verbose: Annotated[
        bool, typer.Option("--verbose", help="List what notes only count: every glitch.")
    ] = False,
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
    character: CharacterFile = None,
    engine: Engine = None,
    root: RootAt = None,
    force: Force = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Put the upper-body action of one clip on the legs of another.

    The action is matched to the steps of the legs, its torso sways with them, and its posture
    stays. Root and legs of the result are exactly those of --lower.

    If --lower is a folder, the action is put on every clip of it, and --to picks the format.
    """
    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    options: dict[str, Any] = {
        "method": method,
        "where": where,
        "when_short": when_short,
        "align": align,
        "soft": soft,
        "keep_bend": keep_bend,
        "repair": None if repair == "none" else repair,
        "match": not no_retarget,
    }
    spans = upper_span, lower_span
    wearer, layout = wearer_of(character, reading), Layout(engine, root, body)
    writing = Writing(output, to, force, dry_run, as_json, allow_flawed, wearer, layout)
    pairs = plan_pairs(upper, lower, writing, between="on")
    reading.warn_unfit([path for pair in pairs for path in (pair.one, pair.other)])
    make_pairs(
        pairs,
        lambda pair: _make(pair.one, pair.other, reading, spans, **options),
        writing,
        words=PairWords("splicing", "splices", "Choose other clips or another --where,"),
        inputs=lambda pair: {"upper": pair.one, "lower": pair.other},
        describe=_json,
        show=lambda spliced, target: _print(spliced, target, verbose=verbose),
    )


def _make(
    upper: str,
    lower: str,
    reading: Reading,
    spans: tuple[Span | None, Span | None],
    **options: Any,
) -> _Spliced:
    """Splice two files; ``spans`` are the seconds to take of the action and of the legs."""
    examples, body = load_examples([lower, upper], reading)
    # The result stands on the floor of the legs: the floor of the action does not matter.
    legs, action = (
        dataclasses.replace(each, notes=tuple(n for n in each.notes if "--ground" not in n))
        for each in examples
    )
    action = _taken(action, spans[0], "--upper-span")
    legs = _taken(legs, spans[1], "--lower-span")
    spliced = ml.splice(action.motion, legs.motion, body=body, **options)
    return _Spliced(action, legs, spliced, 0.0 if spans[0] is None else spans[0][0])


def _taken(clip: Example, span_s: Span | None, option: str) -> Example:
    """The clip between two moments."""
    if span_s is None:
        return clip
    motion = clip.motion
    beyond_s = motion.duration_s + 1.0
    if not all(math.isfinite(second) for second in span_s):
        raise ml.ArrayError(f"{option} must be two finite numbers, got {span_s[0]} {span_s[1]}.")
    first, last = (round(min(max(second, -1.0), beyond_s) * motion.fps) for second in span_s)
    if not 0 <= first < last < motion.n_frames:
        raise ml.ArrayError(
            f"{option} must lie within {clip.path}, 0 to {motion.duration_s:.2f} s, and end after "
            f"it begins, got {span_s[0]:g} {span_s[1]:g}."
        )
    part = slice(first, last + 1)
    return dataclasses.replace(clip, motion=motion[part])


def _print(spliced: _Spliced, target: str, *, verbose: bool) -> None:
    wide = max(len(Path(each.path).name) for each in (spliced.upper, spliced.lower))
    for title, each in (("upper", spliced.upper), ("lower", spliced.lower)):
        loaded = each.loaded
        typer.echo(
            f"{title}  {printable(Path(each.path).name):{wide}}  {loaded.n_frames} frames at "
            f"{loaded.fps:g} fps, {loaded.duration_s:.2f} s, {loaded.skeleton.n_joints} joints"
        )
        for text in each.notes:
            typer.echo(f"       {'':{wide}}  {printable(text)}")
    typer.echo(f"time   {_time_line(spliced)}")
    for text in spliced.result.notes:
        typer.echo(printable(f"note   {in_options(text)}"))
    for text in spliced.result.details if verbose else ():
        typer.echo(printable(f"       {text}"))
    print_check(spliced.result.verification)
    typer.echo(wrote_line(spliced.result.motion, target))


def _time_line(spliced: _Spliced) -> str:
    """Where the action begins, its playback rate, and whether the legs outlast it."""
    slow, median, fast = _rates(spliced.result)
    result, fps = spliced.result, spliced.result.motion.fps
    start = result.timewarp.frames[0] / fps + spliced.begins_s
    rate = (
        "at the rate of its clip"
        if max(abs(slow - 1.0), abs(fast - 1.0)) < SAME_RATE
        else f"at {median:.2f} times the rate of its clip in the median, {slow:.2f} to {fast:.2f}"
    )
    held = len(result.timewarp.frames) - 1 - len(result.timewarp.rates)
    rate += f", and its last frame held for {held / fps:.2f} s" if held else ""
    left = spliced.result.matched.motions[0].n_frames - spliced.result.motion.n_frames
    cropped = (
        f"; {left / fps:.2f} s of the legs are not used: --when-short loop or hold uses them"
        if left > 0.1 * fps
        else ""
    )
    return f"the action from {start:.2f} s on, {rate}{cropped}"


def _rates(spliced: ml.Splice) -> tuple[float, float, float]:
    """Slowest, median and fastest playback rate of the action."""
    import numpy as np

    rates = spliced.timewarp.rates
    if not len(rates):
        return 1.0, 1.0, 1.0
    return float(rates.min()), float(np.median(rates)), float(rates.max())


def _json(spliced: _Spliced) -> dict[str, Any]:
    slow, median, fast = _rates(spliced.result)
    matched = spliced.result.matched
    return {
        "upper": spliced.upper.json(matched.footplants[1], matched.notes[1]),
        "lower": spliced.lower.json(matched.footplants[0], matched.notes[0]),
        "begins_s": spliced.begins_s
        + float(spliced.result.timewarp.frames[0]) / spliced.result.motion.fps,
        "playback_rate": {"slowest": slow, "median": median, "fastest": fast},
        "own_time": spliced.result.timewarp.kept_own_time,
        **joined_json(spliced.result),
        "details": list(spliced.result.details),
    }
