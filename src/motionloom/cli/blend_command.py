"""motionloom blend: one motion between several."""

from __future__ import annotations

from pathlib import Path
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
    find_clips,
    letter,
    load_examples,
    named_number,
    named_values,
    print_examples,
    warn_of_findings,
)
from motionloom.cli.output import AsJson, print_json, printable
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

Ends = Literal["open", "match"]
KNOT_S = 0.27
"""Seconds between control points, as :func:`motionloom.register` has them by default."""
USUAL = {
    "ends": "open",
    "match": True,
    "cycles": False,
    "sync_contacts": False,
    "foot_speeds": 0.0,
    "knot_s": KNOT_S,
    "joint_weights": None,
    "constraints": None,
}
"""Options of a registration that the user did not change: then others are tried where they fail."""
FEET = ("left_heel", "left_toe", "right_heel", "right_toe")
"""Kinds of contacts of the feet among the constraints of a curve."""


def blend(
    clips: Annotated[
        list[str], typer.Argument(metavar="CLIP...", help="Two or more clips, or a folder of them.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="File or - ; the suffix picks the format.")
    ],
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            "-w",
            metavar="W,W...|FILE.csv",
            help="One per clip, with the sum 1 (equal by default); or a table of them over time.",
        ),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            metavar="NAME=VALUE",
            help="In place of weights: a measured property of the result; see above. Repeatable.",
        ),
    ] = None,
    ends: Annotated[
        Ends,
        typer.Option(
            "--ends", help="Find the part the clips share, or match first and last frames."
        ),
    ] = "open",
    duration: Annotated[
        float | None,
        typer.Option(
            "--duration", metavar="S", help="Length of the result, in cycles of the curve."
        ),
    ] = None,
    cycles: Annotated[
        bool, typer.Option("--cycles", help="Cut every clip to a gait cycle that can be repeated.")
    ] = False,
    sync_contacts: Annotated[
        bool, typer.Option("--sync-contacts", help="Draw times to contacts that all clips share.")
    ] = False,
    foot_speeds: Annotated[
        float,
        typer.Option(
            "--foot-speeds",
            metavar="M",
            help="How much the speeds of the feet count when poses are compared: 1 with "
            "--knot 0.15 brings steps of different takes closer together in time.",
        ),
    ] = 0.0,
    knot: Annotated[
        float, typer.Option("--knot", metavar="S", help="Seconds between control points.")
    ] = KNOT_S,
    joint_weights: Annotated[
        list[str] | None,
        typer.Option(
            "--joint-weights",
            metavar="JOINT=W",
            help="How much a joint counts when poses are compared (1 by default); repeatable.",
        ),
    ] = None,
    constraints: Annotated[
        Path | None,
        typer.Option(
            "--constraints",
            metavar="FILE.csv|FILE.json",
            help="Intervals over which something holds; see above.",
        ),
    ] = None,
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
    """Blend clips into one motion between them.

    Times and paths of the clips are registered first, so steps stay in phase and paths do not
    collapse; then planted feet are held. Negative weights extrapolate.

    A CSV file has a row of weights per frame, or a time in seconds before them; weights in between
    are interpolated. A first line of clip names says which column belongs to which clip.

    --parameter turn=0.3 chooses the weights whose blend turns by 0.3 radians; speed=1.2 is in
    metres per second, and right_wrist.height, .forward, .side and .direction say where a hand or
    foot (left_ankle ...) reaches, in metres and radians; right_wrist.speed is its largest speed.
    Positive turns and sides are to the left.

    --constraints is a CSV file with rows clip,name,start_s,end_s, or a JSON file such as
    {"walk": {"right_wrist": [[0.4, 1.2]]}}. Intervals of one name are matched between the clips;
    the names left_wrist and right_wrist also hold that hand in its place.
    """
    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    paths = find_clips(clips)
    if len(paths) < 2:
        raise ml.ArrayError(f"A blend takes two clips or more, got {len(paths)}.")
    reading.warn_unfit(paths)
    check_target(output, paths, force=force, to=to)
    layout = Layout(engine, root, body)
    layout.check(output)
    refuse_unwritable(output)
    if dry_run:
        if as_json:
            print_json({"dry_run": True, "inputs": paths, "output": output})
        else:
            typer.echo(printable(f"would write {output}  from {len(paths)} clips"))
        return
    wearer = wearer_of(character, reading)
    examples, roles = load_examples(paths, reading, ground=ground)
    motions = [each.motion for each in examples]
    values = _parameters(parameter)
    if values and weights is not None:
        raise ml.ArrayError("--parameter chooses the weights: leave out --weights.")
    wanted = _wanted(weights, paths, motions[0].fps)
    options: dict[str, Any] = {
        "ends": ends,
        "match": not no_retarget,
        "cycles": cycles,
        "sync_contacts": sync_contacts,
        "foot_speeds": foot_speeds,
        "knot_s": knot,
        "joint_weights": _joint_weights(joint_weights),
        "constraints": None if constraints is None else ml.read_constraints(constraints, paths),
    }
    if not values and options == USUAL:
        blended = ml.blend(motions, wanted, duration_s=duration, clean=not raw, body=roles)
    else:
        curve = ml.register(motions, body=roles, **options)
        if values:
            wanted = ml.parametrize(curve, list(values)).weights(clamp=False, **values).tolist()
        blended = ml.blend(curve, wanted, duration_s=duration, clean=not raw)
    refuse_flawed(
        blended.verification,
        output,
        allowed=allow_flawed or _extrapolates(blended),
        advice="Choose other clips or other --weights,",
    )
    made_of = blended.provenance
    write_clip(blended.motion, output, to, wearer=wearer, layout=layout, provenance=made_of)
    if output == "-":
        pass  # the clip itself goes there
    elif as_json:
        print_json(_json(examples, blended, output))
    else:
        _print(examples, blended, output)
    warn_of_findings(examples)


def _wanted(text: str | None, paths: list[str], fps: float) -> list[float] | ml.WeightTable:
    """Weights of the clips, or a table of them over time."""
    if text is None:
        return [1.0 / len(paths)] * len(paths)
    if text.lower().endswith(".csv") or Path(text).is_file():
        return ml.read_weights(text, paths, fps=fps)
    try:
        weights = [float(part) for part in text.split(",")]
    except ValueError:
        raise ml.ArrayError(f"--weights must be numbers such as 0.5,0.5, got {text!r}.") from None
    if len(weights) != len(paths):
        raise ml.ArrayError(
            f"--weights must have one value per clip ({len(paths)}), got {len(weights)} in "
            f"{text!r}."
        )
    return weights


def _joint_weights(texts: list[str] | None) -> dict[str, float] | None:
    """Weights of joints by name, from texts such as LeftHand=0."""
    if not texts:
        return None
    option = "--joint-weights"
    pairs = (named_number(text, option, "joint", "'LeftHand=0'") for text in texts)
    return named_values(pairs, option)


def _parameters(texts: list[str] | None) -> dict[str, float]:
    """Values that the blend should have by name, from texts such as turn=0.3."""
    option = "--parameter"
    pairs = (named_number(text, option, "measured property", "'turn=0.3'") for text in texts or ())
    return named_values(pairs, option)


def _extrapolates(blended: ml.Blend) -> bool:
    """Whether some weight is negative: such a blend goes beyond its examples on purpose."""
    return float(blended.provenance.body.weight.min()) < 0.0


def _notes_on(curve: ml.RegistrationCurve, k: int) -> list[str]:
    """What was changed in one of the clips."""
    name = f"{letter(k)}: "
    return [note.removeprefix(name) for note in curve.notes if note.startswith(name)]


def _covered(curve: ml.RegistrationCurve) -> Any:
    """First and last frame of every clip on the curve. (2, K)."""
    import numpy as np

    return curve.frames(np.array(curve.u_range))


def _print(examples: list[Example], blended: ml.Blend, output: str) -> None:
    curve = blended.curve
    print_examples(examples, curve.footplants)
    fps = curve.motions[0].fps
    apart = ", ".join(
        f"{100 * cost:.1f}" for k, cost in enumerate(curve.costs) if k != curve.reference
    )
    typer.echo(
        f"curve  {curve.u_range[1] / fps:.2f} s in common; clips lie {apart} cm rms from "
        f"{printable(Path(examples[curve.reference].path).name)}"
    )
    covered = _covered(curve)
    spans = ", ".join(f"{low:.0f} to {high:.0f}" for low, high in zip(*covered, strict=True))
    typer.echo(f"       frames {spans}")
    for text in curve.notes:
        typer.echo(printable(f"       {text}"))
    held = {kind: len(each) for kind, each in curve.matches.items()}
    plants = sum(held.pop(kind) for kind in FEET)
    typer.echo(f"plants {plants} matched in all clips")
    for name, count in held.items():
        typer.echo(printable(f"holds  {name}: {count} matched in all clips"))
    weights = blended.provenance.body.weight
    mean = ", ".join(f"{w:.2f}" for w in weights.mean(axis=0))
    steady = bool((weights == weights[0]).all())
    typer.echo(f"blend  weights {mean}" + ("" if steady else " on average, changing"))
    if blended.wide_joints:
        typer.echo(
            printable(
                "       rotations differ by more than a quarter turn at "
                + ", ".join(blended.wide_joints)
                + ": look there"
            )
        )
    for text in blended.notes[len(curve.notes) :]:
        if not text.startswith("failed check"):
            typer.echo(printable(f"note   {text}"))
    print_check(blended.verification)
    if _extrapolates(blended) and not blended.verification.passed:
        typer.echo("       extrapolated, so meant to go beyond its clips")
    if blended.cleanup is not None:
        typer.echo(f"feet   {blended.cleanup.summary}")
    for hold in blended.hands:
        typer.echo(
            f"hand   {hold.role} held in frames {hold.first} to {hold.last}: fastest "
            f"{100 * hold.speed_before:.1f} cm/s before, {100 * hold.speed_after:.1f} after"
        )
    typer.echo(wrote_line(blended.motion, output))


def _json(examples: list[Example], blended: ml.Blend, output: str) -> dict[str, Any]:
    curve = blended.curve
    covered = _covered(curve)
    return {
        "dry_run": False,
        "output": output,
        "inputs": [
            each.json(curve.footplants[k], _notes_on(curve, k)) for k, each in enumerate(examples)
        ],
        "curve": {
            "average_frames": curve.u_range[1],
            "reference": curve.reference,
            "costs_m": list(curve.costs),
            "first_frames": covered[0].tolist(),
            "last_frames": covered[1].tolist(),
            "matches": {kind: len(each) for kind, each in curve.matches.items()},
            "notes": list(curve.notes),
        },
        "constraints": {
            name: [list(span) for span in each] for name, each in blended.constraints.items()
        },
        "hands": [
            {
                "role": hold.role,
                "frames": [hold.first, hold.last],
                "speed_before": hold.speed_before,
                "speed_after": hold.speed_after,
                "missed_m": hold.missed_m,
            }
            for hold in blended.hands
        ],
        "mean_weights": blended.provenance.body.weight.mean(axis=0).tolist(),
        "wide_joints": list(blended.wide_joints),
        **joined_json(blended),
    }
