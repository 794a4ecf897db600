"""motionloom transition: from one clip into another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionloom.cli.clips import Body, Fps, Reading, SourceFps, Unit, Up, find_clips
from motionloom.cli.examples import (
    Example,
    Ground,
    NoRetarget,
    load_examples,
    print_examples,
    warn_of_findings,
)
from motionloom.cli.output import AsJson, complain, print_json, printable, track
from motionloom.cli.results import (
    Anyway,
    Finished,
    Raw,
    feet_line,
    finish,
    gate_line,
    refuse_failed,
    write_clip,
)
from motionloom.cli.targets import DryRun, Force, check_target
from motionloom.errors import FormatError, MotionLoomError

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
    anyway: bool
    retarget: bool
    ground: bool
    to: str | None


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """A transition with all that is told about it."""

    examples: list[Example]
    joined: Transition
    finished: Finished
    place: Candidate
    others: tuple[Candidate, ...]
    """Places that were not taken, best first."""
    passed_over: int
    """How many better places were left for this one, because of the gate."""
    seam_ratio: float
    """Largest joint step into and out of the blend against the sources' largest."""


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
    anyway: Anyway = False,
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
    a blend, and B from there on, with planted feet held. It must move no faster than its clips do;
    where the best place fails that, the next ones are tried, and nothing is written if all fail.

    With a folder for A or B every clip of it is taken, and --to says the format.
    """
    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    wish = _Wish(at, length, moving, not no_timewarp, raw, anyway, not no_retarget, ground, to)
    jobs = _jobs(a, b, output, to)
    told: list[dict[str, Any]] = []
    shown: list[tuple[_Made, str]] = []
    errors: list[MotionLoomError] = []
    for pair, target in track(jobs, "joining"):
        try:
            check_target(target, list(pair), force=force)
            if dry_run:
                told.append({"inputs": list(pair), "output": target})
                continue
            made = _make(list(pair), reading, wish)
            refuse_failed(made.finished, target, anyway=anyway)
            write_clip(made.finished.motion, target, to)
        except MotionLoomError as error:
            if len(jobs) == 1:
                raise
            told.append({"inputs": list(pair), "output": target, "error": str(error)})
            errors.append(error)
            continue
        told.append({"output": target, **_json(made)})
        shown.append((made, target))
    if output == "-" and not dry_run:
        pass  # the clip itself is there
    elif as_json:
        print_json({"dry_run": dry_run, "transitions": told})
    elif dry_run:
        for each in told:
            if "error" not in each:
                typer.echo(printable(f"would write {each['output']}"))
    else:
        for made, target in shown:
            _print(made, target, show, length)
    for made, _ in shown:
        warn_of_findings(made.examples)
    for fault in errors:
        complain(fault)
    if errors:
        raise typer.Exit(2)


def _jobs(a: str, b: str, output: str, to: str | None) -> list[tuple[tuple[str, str], str]]:
    """Both inputs and the output of every transition."""
    folders = [path for path in (a, b) if path != "-" and Path(path).is_dir()]
    if not folders:
        return [((a, b), output)]
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
        ((one, other), str(Path(output) / f"{Path(one).stem}_to_{Path(other).stem}{suffix}"))
        for one in find_clips([a])
        for other in find_clips([b])
        if one != other
    ]


def _make(paths: list[str], reading: Reading, wish: _Wish) -> _Made:
    """The transition at the best place whose result passes the gate."""
    import motionloom as ml

    examples, body = load_examples(paths, reading, retarget=wish.retarget, ground=wish.ground)
    a, b = (each.motion for each in examples)

    def join(at: tuple[int, int] | None) -> tuple[Transition, Finished]:
        joined = ml.transition(
            a,
            b,
            at=at,
            length_s=wish.length_s,
            moving=wish.moving,
            timewarp=wish.timewarp,
            footplants=(examples[0].footplants, examples[1].footplants),
            body=body,
        )
        return joined, finish(joined.motion, joined.footplants, [a, b], body=body, raw=wish.raw)

    joined, finished = join(wish.at)
    places, taken = joined.candidates, 0
    if wish.at is None and not wish.anyway:
        for n, place in enumerate(places[1:], start=1):
            if finished.gate.passed:
                break
            again = join((place.frame_a, place.frame_b))
            if again[1].gate.passed or (again[1].acceptable and not finished.acceptable):
                (joined, finished), taken = again, n
    others = tuple(place for n, place in enumerate(places) if n != taken)
    seams = [finished.motion[max(0, at - 1) : at + 2] for at in joined.span]
    ratio = max(ml.verify(seam, sources=[a, b]).step_ratio for seam in seams)
    return _Made(examples, joined, finished, places[taken], others, taken, ratio)


def _print(made: _Made, target: str, show: int, wanted_s: float) -> None:
    a, b = (each.motion for each in made.examples)
    first, last = made.joined.span
    print_examples(made.examples)
    place = made.place
    typer.echo(
        f"place  frame {place.frame_a} of A ({place.frame_a / a.fps:.2f} s) meets frame "
        f"{place.frame_b} of B ({place.frame_b / b.fps:.2f} s): {_costs(place)}"
    )
    if made.passed_over:
        typer.echo(f"       {made.passed_over} better places did not pass the gate")
    for other in made.others[:show]:
        typer.echo(f"   or  --at {other.frame_a} {other.frame_b}: {_costs(other)}")
    length_s = (last - first) / a.fps
    short = f"; {wanted_s:g} s were asked for, the clips have no more there"
    typer.echo(
        f"blend  frames {first} to {last}, {length_s:.2f} s"
        + (short if length_s < wanted_s - 1.5 / a.fps else "")
    )
    typer.echo(f"gate   {gate_line(made.finished)}; at the seams {made.seam_ratio:.2f}")
    if made.finished.feet is not None:
        typer.echo(f"feet   {feet_line(made.finished.feet)}")
    motion = made.finished.motion
    typer.echo(
        printable(
            f"wrote  {target}  {motion.n_frames} frames at {motion.fps:g} fps, "
            f"{motion.duration_s:.2f} s"
        )
    )


def _costs(place: Candidate) -> str:
    moving = "both moving" if place.both_moving else "not both moving"
    return (
        f"cost {100 * place.cost:.1f} cm = pose {100 * place.pose:.1f} + "
        f"feet {100 * place.feet:.1f}, {moving}"
    )


def _json(made: _Made) -> dict[str, Any]:
    return {
        "inputs": [each.json() for each in made.examples],
        "place": _place_json(made.place),
        "other_places": [_place_json(place) for place in made.others],
        "better_places_that_failed": made.passed_over,
        "span": list(made.joined.span),
        "length_s": (made.joined.span[1] - made.joined.span[0]) / made.joined.motion.fps,
        "seam_ratio": made.seam_ratio,
        **made.finished.json(),
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
