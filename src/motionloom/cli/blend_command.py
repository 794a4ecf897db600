"""motionloom blend: one motion between several."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from motionloom.cli.clip_arguments import Body, Fps, Reading, SourceFps, Unit, Up, find_clips
from motionloom.cli.example_clips import (
    Example,
    Ground,
    NoRetarget,
    letter,
    load_examples,
    print_examples,
    warn_of_findings,
)
from motionloom.cli.output import AsJson, print_json, printable
from motionloom.cli.output_paths import DryRun, Force, check_target
from motionloom.cli.results import (
    AllowFlawed,
    Raw,
    print_check,
    refuse_flawed,
    result_json,
    write_clip,
    wrote_line,
)
from motionloom.cli.weight_arguments import parse_weights, read_weights
from motionloom.errors import ArrayError

if TYPE_CHECKING:
    from motionloom._arrays import FloatArray
    from motionloom.blending.blend import Blend
    from motionloom.registration.curve import RegistrationCurve

__all__ = ["blend"]

Ends = Literal["open", "match"]


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
            help="One per clip, summing to 1 (equal if not said); or a table of them over time.",
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
        typer.Option("--duration", metavar="S", help="Go on so long, in cycles of the curve."),
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
    force: Force = False,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Blend clips into one motion between them.

    Their times and paths are brought together first, so steps stay in phase and paths do not
    collapse; planted feet are held after. Negative weights go beyond the clips.

    A CSV file has a row of weights per frame, or a time in seconds before them; weights in between
    are taken straight.
    """
    import motionloom as ml

    reading = Reading.of(fps=fps, source_fps=source_fps, unit=unit, up=up, body=body)
    paths = find_clips(clips)
    if len(paths) < 2:
        raise ArrayError(f"A blend takes two clips or more, got {len(paths)}.")
    check_target(output, paths, force=force, to=to)
    if dry_run:
        if as_json:
            print_json({"dry_run": True, "inputs": paths, "output": output})
        else:
            typer.echo(printable(f"would write {output}  from {len(paths)} clips"))
        return
    examples, roles = load_examples(paths, reading, ground=ground)
    motions = [each.motion for each in examples]
    wanted = _wanted(weights, len(motions), motions[0].fps)
    curve = ml.register(motions, ends=ends, body=roles, match=not no_retarget)
    made = ml.blend(curve, wanted, duration_s=duration, clean=not raw)
    refuse_flawed(made.verification, output, allowed=allow_flawed or _extrapolates(made))
    # Into the same format as the first clip, in the same unit and axes.
    source = dataclasses.replace(motions[0].source, findings=(), skipped_frames=0)
    result = made.motion.replace(source=source, name="blend")
    write_clip(result, output, to, sources=[examples[0].loaded])
    if output == "-":
        pass  # the clip itself is there
    elif as_json:
        print_json(_json(examples, made, output))
    else:
        _print(examples, made, output)
    warn_of_findings(examples)


def _wanted(text: str | None, n_clips: int, fps: float) -> Any:
    """What to pass as weights: a list, or a function of the time."""
    if text is None:
        return [1.0 / n_clips] * n_clips
    if text.lower().endswith(".csv") or Path(text).is_file():
        return read_weights(Path(text), n_clips, fps).at
    return parse_weights(text, n_clips)


def _extrapolates(made: Blend) -> bool:
    """Whether some weight is negative: such a blend is meant to go beyond its examples."""
    return float(made.weights.min()) < 0.0


def _notes_on(curve: RegistrationCurve, k: int) -> list[str]:
    """What was changed in one of the clips."""
    name = f"{letter(k)}: "
    return [note.removeprefix(name) for note in curve.notes if note.startswith(name)]


def _covered(curve: RegistrationCurve) -> FloatArray:
    """First and last frame of every clip on the curve. (2, K)."""
    import numpy as np

    return curve.frames(np.array(curve.u_range))


def _print(examples: list[Example], made: Blend, output: str) -> None:
    curve = made.curve
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
    matches = sum(len(found) for found in curve.matches.values())
    typer.echo(f"plants {matches} matched in all clips")
    mean = ", ".join(f"{w:.2f}" for w in made.weights.mean(axis=0))
    steady = bool((made.weights == made.weights[0]).all())
    typer.echo(f"blend  weights {mean}" + ("" if steady else " in the mean, changing"))
    if made.wide_joints:
        typer.echo(
            printable(
                "       rotations differ by more than a quarter turn at "
                + ", ".join(made.wide_joints)
                + ": look there"
            )
        )
    print_check(made.verification)
    if _extrapolates(made) and not made.verification.passed:
        typer.echo("       extrapolated, so meant to go beyond its clips")
    if made.cleanup is not None:
        typer.echo(f"feet   {made.cleanup.summary}")
    typer.echo(wrote_line(made.motion, output))


def _json(examples: list[Example], made: Blend, output: str) -> dict[str, Any]:
    curve = made.curve
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
            "matches": {kind: len(found) for kind, found in curve.matches.items()},
            "notes": list(curve.notes),
        },
        "mean_weights": made.weights.mean(axis=0).tolist(),
        "wide_joints": list(made.wide_joints),
        **result_json(made),
    }
