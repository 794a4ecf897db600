"""motionloom transition: from one clip into another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import (
    Body,
    Example,
    Fps,
    Ground,
    NoRetarget,
    Reading,
    SourceFps,
    Unit,
    Up,
    load_examples,
    print_examples,
)
from motionloom.cli.jobs import PairWords, make_pairs, plan_pairs
from motionloom.cli.option_words import is_typed
from motionloom.cli.output import AsJson, printable, warn
from motionloom.cli.results import (
    AllowFlawed,
    CharacterFile,
    DryRun,
    Engine,
    Force,
    Layout,
    Raw,
    RootAt,
    Writing,
    joined_json,
    print_check,
    wearer_of,
    wrote_line,
)

Repair = Literal["made", "all", "none"]


@dataclass(frozen=True, slots=True, eq=False)
class _Joined:
    """A transition and the clips it was made of."""

    examples: list[Example]
    result: ml.Transition


def transition(
    context: typer.Context,
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
            help="Frames of A and B that meet in the middle; the best by default.",
        ),
    ] = None,
    length: Annotated[
        float, typer.Option("--length", metavar="S", help="Seconds of blending.")
    ] = 0.6,
    keep: Annotated[
        str,
        typer.Option(
            "--keep",
            metavar="SHARE",
            help="Least share of each clip to keep, as 0.3; 0.5,0.2 for A and B; 0 for any place; "
            "late for the end of A and the beginning of B.",
        ),
    ] = "0.3",
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
    clean_all: Annotated[
        bool, typer.Option("--clean-all", help="Hold planted feet in all of both clips, too.")
    ] = False,
    repair: Annotated[
        Repair,
        typer.Option(
            "--repair",
            help="Where glitches and knees bent backwards are repaired: where motion is made, in "
            "all of both clips, or nowhere.",
        ),
    ] = "made",
    allow_flawed: AllowFlawed = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="List what notes only count: every glitch.")
    ] = False,
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
    character: CharacterFile = None,
    engine: Engine = None,
    root: RootAt = None,
    force: Force = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Join two clips by a smooth transition.

    The transition is where the clips are most similar, or at --at. The result is A up to there, a
    blend with planted feet held, and B from there on. Beyond 0.3 s around the blend the frames are
    the clips' own. The blend is checked against the clips, joint by joint; if the best place fails,
    the next ones are tried. If all fail, nothing is written and the exit code is 3.

    If A or B is a folder, every clip of it is used, and --to picks the format.
    """
    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    if raw and clean_all:
        raise ml.ArrayError("--clean-all holds feet and --raw does not: leave out one of them.")
    typed = [f"--{name}" for name in ("keep", "moving") if is_typed(context, name)]
    if at is not None and typed:
        warn(f"--at names the place: {' and '.join(typed)}, by which one is found, has no effect.")
    options: dict[str, Any] = {
        "at": at,
        "length_s": length,
        "keep": _shares(keep),
        "moving": moving,
        "timewarp": not no_timewarp,
        "clean": "all" if clean_all else not raw,
        "match": not no_retarget,
        "repair": None if repair == "none" else repair,
    }
    wearer, layout = wearer_of(character, reading), Layout(engine, root, body)
    writing = Writing(output, to, force, dry_run, as_json, allow_flawed, wearer, layout)
    pairs = plan_pairs(a, b, writing, between="to")
    reading.warn_unfit([path for pair in pairs for path in (pair.one, pair.other)])
    make_pairs(
        pairs,
        lambda pair: _make([pair.one, pair.other], reading, ground=ground, **options),
        writing,
        words=PairWords(
            "joining", "transitions", "Choose other clips, another --at or another --length,"
        ),
        inputs=lambda pair: {"inputs": [pair.one, pair.other]},
        describe=_json,
        show=lambda joined, target: _print(joined, target, show, length, verbose),
    )


def _shares(text: str) -> float | tuple[float, float] | Literal["late"]:
    """--keep as the function takes it."""
    if text == "late":
        return "late"
    try:
        shares = [float(part) for part in text.split(",")]
        if len(shares) > 2:
            raise ValueError
    except ValueError:
        raise ml.MotionLoomError(
            f"--keep must be a share from 0 to 1, two of them as 0.5,0.2, or late, got {text!r}."
        ) from None
    return shares[0] if len(shares) == 1 else (shares[0], shares[1])


def _make(paths: list[str], reading: Reading, *, ground: bool, **options: Any) -> _Joined:
    examples, body = load_examples(paths, reading, ground=ground)
    a, b = (each.motion for each in examples)
    return _Joined(examples, ml.transition(a, b, body=body, **options))


def _print(joined: _Joined, target: str, show: int, wanted_s: float, verbose: bool) -> None:
    result = joined.result
    a, b = result.matched.motions
    first, last = result.span
    print_examples(joined.examples, result.matched.footplants)
    place, *others = result.candidates
    typer.echo(
        f"place  frame {place.frame_a} of A ({place.frame_a / a.fps:.2f} s) meets frame "
        f"{place.frame_b} of B ({place.frame_b / b.fps:.2f} s): {_costs(place)}"
    )
    if any(abs(each.loaded.fps - a.fps) > 1e-3 * a.fps for each in joined.examples):
        typer.echo(f"       frames of both clips are counted at {a.fps:g} fps, the rate of A")
    if result.passed_over:
        typer.echo(f"       {result.passed_over} better places fail the quality check")
    for other in others[:show]:
        typer.echo(f"   or  --at {other.frame_a} {other.frame_b}: {_costs(other)}")
    length_s = (last - first) / a.fps
    short = f"; not {wanted_s:g} s: the clips have no more frames there"
    typer.echo(
        f"blend  frames {first} to {last}, {length_s:.2f} s"
        + (short if length_s < wanted_s - 1.5 / a.fps else "")
    )
    typer.echo(printable(f"       {result.kept}"))
    for text in result.notes:
        if not text.startswith("failed check"):
            typer.echo(printable(f"note   {text}"))
    for text in result.details if verbose else ():
        typer.echo(printable(f"       {text}"))
    print_check(result.verification)
    if result.cleanup is not None:
        typer.echo(f"feet   {result.cleanup.summary}")
    typer.echo(wrote_line(result.motion, target))


def _costs(place: ml.Candidate) -> str:
    moving = "both moving" if place.both_moving else "not both moving"
    return (
        f"cost {100 * place.cost:.1f} cm = pose {100 * place.pose:.1f} + "
        f"feet {100 * place.feet:.1f} + travel {100 * place.travel:.1f}, {moving}"
    )


def _json(joined: _Joined) -> dict[str, Any]:
    result = joined.result
    place, *others = result.candidates
    matched = result.matched
    return {
        "inputs": [
            each.json(matched.footplants[k], matched.notes[k])
            for k, each in enumerate(joined.examples)
        ],
        "place": _place_json(place),
        "other_places": [_place_json(other) for other in others],
        "better_places_that_failed": result.passed_over,
        "length_s": (result.span[1] - result.span[0]) / result.motion.fps,
        "kept": {
            "seconds": list(result.kept.seconds),
            "shares": list(result.kept.shares),
            "left_out_s": list(result.kept.left_out_s),
            "text": str(result.kept),
        },
        "placement": {
            "turn": float(result.placement.theta),
            "x": float(result.placement.x0),
            "z": float(result.placement.z0),
        },
        "details": list(result.details),
        **joined_json(result),
    }


def _place_json(place: ml.Candidate) -> dict[str, Any]:
    return {
        "frame_a": place.frame_a,
        "frame_b": place.frame_b,
        "cost_m": place.cost,
        "pose_m": place.pose,
        "feet_m": place.feet,
        "travel_m": place.travel,
        "both_moving": place.both_moving,
    }
