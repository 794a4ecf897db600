"""A motion that was made: refused where it fails its quality check, written, described."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from motionloom.cli.output import printable
from motionloom.errors import FlawedResultError, FormatError

if TYPE_CHECKING:
    from motionloom.cleanup.cleanup_report import CleanupReport
    from motionloom.features.checks.verification import Verification
    from motionloom.motion.motion import Motion

__all__ = [
    "AllowFlawed",
    "Raw",
    "check_lines",
    "cleanup_json",
    "print_check",
    "refuse_flawed",
    "result_json",
    "write_clip",
    "wrote_line",
]

Raw = Annotated[bool, typer.Option("--raw", help="Leave the feet as they come out.")]
AllowFlawed = Annotated[
    bool,
    typer.Option(
        "--allow-flawed", "--anyway", help="Write a result that fails its quality check, too."
    ),
]


class Made(Protocol):
    """What every operation returns."""

    @property
    def motion(self) -> Motion:
        """The result."""

    @property
    def verification(self) -> Verification:
        """Its quality check."""

    @property
    def cleanup(self) -> CleanupReport | None:
        """What holding its feet changed."""


def result_json(made: Made) -> dict[str, Any]:
    """Quality check and feet of a result as values that JSON can hold."""
    return {
        "frames": made.motion.n_frames,
        "fps": made.motion.fps,
        "verification": made.verification.json(),
        "feet": None if made.cleanup is None else cleanup_json(made.cleanup),
    }


def refuse_flawed(verification: Verification, output: str, *, allowed: bool) -> None:
    """Refuse to write a result that fails its quality check, unless the user allows it."""
    if verification.passed or allowed:
        return
    raise FlawedResultError(
        f"{output} was not written: the result fails its quality check "
        f"({verification.describe()}). Choose other clips, another place or a longer blend, or "
        "write it with --allow-flawed."
    )


def write_clip(
    motion: Motion, output: str, to: str | None, *, sources: Iterable[Motion] = ()
) -> None:
    """Write a clip whole or not at all; ``-`` is standard output, which needs a format.

    Its root bones lie still or travel as they do in that of its ``sources`` whose file it names.
    """
    import motionloom as ml
    from motionloom.body.root_motion import travel_on_pelvis

    for like in sources:
        same = like.skeleton.same_joints(motion.skeleton)
        if same and like.source.path == motion.source.path:
            motion = travel_on_pelvis(motion, like=like)
            break
    if output != "-":
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        ml.save(motion, output)
        return
    if to is None:
        raise FormatError(
            "Standard output has no suffix to pick a format by.", fix="Say --to bvh (or another)."
        )
    import io

    buffer = io.BytesIO()
    ml.save(motion, buffer, format=to)
    sys.stdout.buffer.write(buffer.getvalue())
    sys.stdout.buffer.flush()


def wrote_line(motion: Motion, target: str) -> str:
    """What was written, in one line."""
    return printable(
        f"wrote  {target}  {motion.n_frames} frames at {motion.fps:g} fps, "
        f"{motion.duration_s:.2f} s"
    )


def check_lines(verification: Verification, *, most: int = 8) -> list[str]:
    """The verdict of the quality check, then a line per failed check."""
    if verification.passed:
        return [typer.style("passed", fg=typer.colors.GREEN)]
    lines = [typer.style("FAILED", fg=typer.colors.RED)]
    failed = [str(each) for each in (*verification.unsound, *verification.failed)]
    lines += [printable(text) for text in failed[:most]]
    if len(failed) > most:
        lines.append(f"and {len(failed) - most} more")
    return lines


def print_check(verification: Verification) -> None:
    """Print the verdict of the quality check."""
    first, *rest = check_lines(verification)
    typer.echo(f"check  {first}")
    for text in rest:
        typer.echo(f"       {text}")


def cleanup_json(report: CleanupReport) -> dict[str, Any]:
    """What clean-up did, as values that JSON can hold."""
    frame, kind = report.worst_after if report.worst_after is not None else (None, None)
    return {
        "slide_before_cm": 100 * report.slide_before,
        "slide_after_cm": 100 * report.slide_after,
        "plants": len(report.plants),
        "plants_let_go": len(report.let_go),
        "held_part": report.held_part,
        "contact_speed_before": report.contact_speed_before,
        "contact_speed_after": report.contact_speed_after,
        "worst_frame": frame,
        "worst_point": kind,
        "joint_change_mean_cm": 100 * report.joint_change_mean,
        "joint_change_max_cm": 100 * report.joint_change_max,
        "unreached_frames": report.unreached_frames,
    }
