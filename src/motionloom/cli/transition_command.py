"""motionloom transition: from one clip into another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionloom.cli.clip_arguments import Body, Fps, Reading, SourceFps, Unit, Up
from motionloom.cli.example_clips import (
    Example,
    Ground,
    NoRepair,
    NoRetarget,
    load_examples,
    print_examples,
)
from motionloom.cli.output import AsJson, printable
from motionloom.cli.output_paths import DryRun, Force
from motionloom.cli.pair_jobs import Writing, make_pairs, plan_pairs
from motionloom.cli.results import (
    AllowFlawed,
    Raw,
    print_check,
    result_json,
    wrote_line,
)

if TYPE_CHECKING:
    from motionloom.blending.candidates import Candidate
    from motionloom.blending.transition import Transition

__all__ = ["transition"]


@dataclass(frozen=True, slots=True)
class _Wish:
    """What the user asked for, the same for every pair of clips."""

    at: tuple[int, int] | None
    length_s: float
    moving: bool
    timewarp: bool
    raw: bool
    allow_flawed: bool
    retarget: bool
    ground: bool
    repair: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """A transition and the clips it was made of."""

    examples: list[Example]
    result: Transition


def transition(
    a: Annotated[str, typer.Argument(metavar="A", help="The clip to begin with, or a folder.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The clip to end with, or a folder.")],
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="File, - , or folder; the suffix picks the format."),
    ],
    at: Annotated[
        tuple[int, int] | None,
        typer.Option(
            "--at",
            metavar="FA FB",
            help="Frames of A and B that meet in the middle; found if not said.",
        ),
    ] = None,
    length: Annotated[
        float, typer.Option("--length", metavar="S", help="Seconds of blending.")
    ] = 0.6,
    moving: Annotated[
        bool, typer.Option("--moving", help="Look only where both bodies travel.")
    ] = False,
    no_timewarp: Annotated[
        bool, typer.Option("--no-timewarp", help="Let both clips run on frame by frame.")
    ] = False,
    show: Annotated[
        int, typer.Option("--show", metavar="N", min=0, help="Other places to list.")
    ] = 3,
    raw: Raw = False,
    allow_flawed: AllowFlawed = False,
    no_repair: NoRepair = False,
    no_retarget: NoRetarget = False,
    ground: Ground = False,
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
    """Go from one clip into another without a seam.

    The place where the two are most alike is found, or said with --at. The result is A up to there,
    a blend, and B from there on, with planted feet held. Every joint is checked against itself in
    the clips; where the best place fails, the next ones are tried. If all fail, nothing is written
    and the exit code is 3.

    With a folder for A or B every clip of it is taken, and --to says the format.
    """
    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    wish = _Wish(
        at, length, moving, not no_timewarp, raw, allow_flawed, not no_retarget, ground,
        not no_repair,
    )  # fmt: skip
    writing = Writing(output, to, allow_flawed, force, dry_run, as_json)
    make_pairs(
        plan_pairs(a, b, writing, between="to"),
        lambda pair: _make([pair.one, pair.other], reading, wish),
        writing,
        doing="joining",
        plural="transitions",
        inputs=lambda pair: {"inputs": [pair.one, pair.other]},
        tell=_json,
        show=lambda made, target: _print(made, target, show, length),
    )


def _make(paths: list[str], reading: Reading, wish: _Wish) -> _Made:
    """The transition at the best place whose result passes the quality check."""
    import motionloom as ml

    examples, body = load_examples(paths, reading, ground=wish.ground)
    a, b = (each.motion for each in examples)
    result = ml.transition(
        a,
        b,
        at=wish.at,
        length_s=wish.length_s,
        moving=wish.moving,
        timewarp=wish.timewarp,
        body=body,
        repair_knees=wish.repair,
        match=wish.retarget,
        clean=not wish.raw,
        check=not wish.allow_flawed,
    )
    return _Made(examples, result)


def _print(made: _Made, target: str, show: int, wanted_s: float) -> None:
    result = made.result
    a, b = result.matched.motions
    first, last = result.span
    print_examples(made.examples, result.matched.footplants)
    place, *others = result.candidates
    typer.echo(
        f"place  frame {place.frame_a} of A ({place.frame_a / a.fps:.2f} s) meets frame "
        f"{place.frame_b} of B ({place.frame_b / b.fps:.2f} s): {_costs(place)}"
    )
    if result.passed_over:
        typer.echo(f"       {result.passed_over} better places fail the quality check")
    for other in others[:show]:
        typer.echo(f"   or  --at {other.frame_a} {other.frame_b}: {_costs(other)}")
    length_s = (last - first) / a.fps
    short = f"; {wanted_s:g} s were asked for, the clips have no more there"
    typer.echo(
        f"blend  frames {first} to {last}, {length_s:.2f} s"
        + (short if length_s < wanted_s - 1.5 / a.fps else "")
    )
    for text in made.result.notes:
        if not text.startswith("failed check"):
            typer.echo(printable(f"note   {text}"))
    print_check(result.verification)
    if result.cleanup is not None:
        typer.echo(f"feet   {result.cleanup.summary}")
    typer.echo(wrote_line(result.motion, target))


def _costs(place: Candidate) -> str:
    moving = "both moving" if place.both_moving else "not both moving"
    return (
        f"cost {100 * place.cost:.1f} cm = pose {100 * place.pose:.1f} + "
        f"feet {100 * place.feet:.1f}, {moving}"
    )


def _json(made: _Made) -> dict[str, Any]:
    result = made.result
    place, *others = result.candidates
    matched = result.matched
    return {
        "inputs": [
            each.json(matched.footplants[k], matched.notes[k])
            for k, each in enumerate(made.examples)
        ],
        "place": _place_json(place),
        "other_places": [_place_json(other) for other in others],
        "better_places_that_failed": result.passed_over,
        "span": list(result.span),
        "length_s": (result.span[1] - result.span[0]) / result.motion.fps,
        "notes": list(result.notes),
        **result_json(result),
    }


def _place_json(place: Candidate) -> dict[str, Any]:
    return {
        "frame_a": place.frame_a,
        "frame_b": place.frame_b,
        "cost_m": place.cost,
        "pose_m": place.pose,
        "feet_m": place.feet,
        "both_moving": place.both_moving,
    }
