"""A motion that was made: feet cleaned, held against its sources, written, told."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionloom.errors import FormatError, RegistrationError

if TYPE_CHECKING:
    from motionloom.cleanup.report import CleanupReport
    from motionloom.features.verify import Verification
    from motionloom.motion.body import BodyMap
    from motionloom.motion.contacts import Footplants
    from motionloom.motion.motion import Motion

__all__ = [
    "Anyway",
    "Finished",
    "Raw",
    "cleanup_json",
    "feet_line",
    "finish",
    "gate_line",
    "refuse_failed",
    "write_clip",
]

_SPEEDS = ("joint step", "joint turn", "root speed")
"""What the gate holds against the sources; its other findings mean a broken motion."""

Raw = Annotated[bool, typer.Option("--raw", help="Leave the feet as they come out.")]
Anyway = Annotated[
    bool, typer.Option("--anyway", help="Write a result that does not pass the gate, too.")
]


@dataclass(frozen=True, slots=True, eq=False)
class Finished:
    """A result ready to be written."""

    motion: Motion
    footplants: Footplants
    feet: CleanupReport | None
    """What clean-up did; None where it was left out."""
    gate: Verification
    """Of the result, against its sources."""
    before: Verification
    """The same before clean-up."""

    @property
    def acceptable(self) -> bool:
        """Whether it may be written: sound, and within its sources but for what clean-up adds.

        Holding a foot takes a little speed of the body; that is told, and no reason to refuse.
        """
        sound = all(finding.where in _SPEEDS for finding in self.gate.findings)
        return self.gate.passed or (self.before.passed and sound)

    def json(self) -> dict[str, Any]:
        """Gate and feet as values that JSON can hold."""
        return {
            "frames": self.motion.n_frames,
            "fps": self.motion.fps,
            "gate": {
                "passed": self.gate.passed,
                "step_ratio": self.gate.step_ratio,
                "turn_ratio": self.gate.turn_ratio,
                "root_speed_ratio": self.gate.root_speed_ratio,
                "findings": [f"{f.where}: {f.problem}" for f in self.gate.findings],
                "passed_before_cleanup": self.before.passed,
            },
            "feet": None if self.feet is None else cleanup_json(self.feet),
        }


def finish(
    motion: Motion,
    footplants: Footplants,
    sources: Sequence[Motion],
    *,
    body: BodyMap,
    raw: bool,
) -> Finished:
    """The motion with its feet cleaned (not if ``raw``), and what the gate says about it."""
    import motionloom as ml

    before = ml.verify(motion, sources=sources)
    if raw:
        return Finished(motion, footplants, None, before, before)
    cleanup = ml.clean_footskate(motion, footplants, body=body)
    gate = ml.verify(cleanup.motion, sources=sources)
    return Finished(cleanup.motion, cleanup.footplants, cleanup.report, gate, before)


def refuse_failed(finished: Finished, output: str, *, anyway: bool) -> None:
    """Refuse to write what does not pass the gate, unless the user says so."""
    if finished.acceptable or anyway:
        return
    finding = (finished.before.findings or finished.gate.findings)[0]
    raise RegistrationError(
        f"{output} was not written, for the result does not pass the gate ({finding.where}): "
        f"{finding.problem} {finding.fix} Or write it all the same with --anyway."
    )


def write_clip(motion: Motion, output: str, to: str | None) -> None:
    """Write a clip whole or not at all; ``-`` is standard output, which needs a format."""
    import motionloom as ml

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


def gate_line(finished: Finished) -> str:
    """The gate's figures in one line."""
    gate = finished.gate
    if gate.passed:
        verdict = typer.style("passed", fg=typer.colors.GREEN)
    elif finished.acceptable:
        verdict = typer.style("passed before clean-up, not after it", fg=typer.colors.YELLOW)
    else:
        verdict = typer.style("FAILED", fg=typer.colors.RED)
    return (
        f"{verdict}: largest joint step {gate.step_ratio:.2f}, joint turn {gate.turn_ratio:.2f}, "
        f"root speed {gate.root_speed_ratio:.2f} times the sources' largest"
    )


def feet_line(report: CleanupReport) -> str:
    """How far planted feet slid before and after, in one line."""
    if not report.plants:
        return "no plants: nothing to hold"
    worst = ""
    if report.worst_after is not None:
        frame, kind = report.worst_after
        worst = (
            f"; fastest now {100 * report.contact_speed_after:.1f} cm/s at frame {frame} "
            f"({kind.replace('_', ' ')})"
        )
    held = len(report.plants) - len(report.let_go)
    return (
        f"slide {100 * report.slide_before:.1f} -> {100 * report.slide_after:.2f} cm, "
        f"{held} of {len(report.plants)} plants held{worst}"
    )


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
