"""Clips that are made into one: read, told, and brought onto one skeleton and rate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from motionloom.cli.clips import Reading, body_of, load_clip
from motionloom.cli.output import printable, warn

if TYPE_CHECKING:
    from motionloom.motion.body import BodyMap
    from motionloom.motion.contacts import Footplants
    from motionloom.motion.motion import Motion

__all__ = [
    "Example",
    "Ground",
    "NoRepair",
    "NoRetarget",
    "load_examples",
    "print_examples",
    "warn_of_findings",
]

NoRepair = Annotated[
    bool,
    typer.Option("--keep-knees", help="Leave knees that were captured bent backwards as they are."),
]
NoRetarget = Annotated[
    bool,
    typer.Option(
        "--no-retarget", help="Refuse clips on other skeletons instead of retargeting them."
    ),
]

Ground = Annotated[
    bool, typer.Option("--ground", help="Level the clips' floors and put them at y = 0 first.")
]
FLOORS_APART_M = 0.02
"""Floors of clips that differ by more make feet hover or sink in between, which is told."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A clip that goes into a result."""

    path: str
    motion: Motion
    """On the first clip's skeleton and at its rate."""
    footplants: Footplants
    notes: tuple[str, ...]
    """What was done to bring it there."""
    loaded: Motion
    """As it was read."""

    def json(self) -> dict[str, Any]:
        """What was detected and done, as values that JSON can hold."""
        return {
            "file": self.path,
            "frames": self.loaded.n_frames,
            "fps": self.loaded.fps,
            "joints": self.loaded.skeleton.n_joints,
            "plants": _count(self.footplants),
            "notes": list(self.notes),
        }


def load_examples(
    paths: list[str], reading: Reading, *, retarget: bool, ground: bool
) -> tuple[list[Example], BodyMap]:
    """The clips on the first one's skeleton and rate, and which joint of it is which.

    A clip on another skeleton is retargeted with its own plants; with ``retarget`` off it is left
    alone, and whoever joins them refuses.
    """
    import motionloom as ml
    from motionloom.blending.bring import bring_to

    examples: list[Example] = []
    first: Motion | None = None
    body: BodyMap | None = None
    for path in paths:
        loaded = load_clip(path, reading)
        motion, notes = loaded, []
        if ground:
            motion = ml.ground(motion, body=body_of(motion, reading))
            if motion is not loaded:
                notes.append("put on y = 0")
        if first is None:
            first, body = motion, body_of(loaded, reading)
        elif not ground and (apart := _floors_apart(motion, first)) > FLOORS_APART_M:
            notes.append(
                f"stands {100 * apart:.1f} cm from A's floor: --ground brings them together"
            )
        assert body is not None
        same_joints = motion.skeleton.same_joints(first.skeleton)
        brought = bring_to(
            motion,
            first,
            body=body if same_joints else ml.BodyMap.guess(motion.skeleton, motion=motion),
            first_body=body,
            first_name=Path(paths[0]).name,
            retargeted=retarget,
        )
        notes += brought.notes
        examples.append(Example(path, brought.motion, brought.footplants, tuple(notes), loaded))
    assert body is not None
    return examples, body


def print_examples(examples: list[Example]) -> None:
    """One line per clip: what was detected, and what was done to it."""
    wide = max(len(Path(each.path).name) for each in examples)
    for n, each in enumerate(examples):
        loaded = each.loaded
        name = printable(Path(each.path).name)
        typer.echo(
            f"{_letter(n)}  {name:{wide}}  {loaded.n_frames} frames at {loaded.fps:g} fps, "
            f"{loaded.duration_s:.2f} s, {loaded.skeleton.n_joints} joints, "
            f"{_count(each.footplants)} plants"
        )
        for text in each.notes:
            typer.echo(f"   {'':{wide}}  {printable(text)}")


def warn_of_findings(examples: list[Example]) -> None:
    """Faults of the files, on standard error."""
    for each in examples:
        for finding in each.loaded.source.findings:
            if finding.level != "note":
                warn(f"{each.path}, {finding.where}: {finding.problem} {finding.fix}")


def _floors_apart(a: Motion, b: Motion) -> float:
    """By how much the floors found in two clips differ, metres."""
    if a.source.floor is None or b.source.floor is None:
        return 0.0
    return abs(a.source.floor.height - b.source.floor.height)


def _letter(n: int) -> str:
    return chr(ord("A") + n) if n < 26 else str(n)


def _count(footplants: Footplants) -> int:
    return sum(len(spans) for spans in footplants.intervals().values())
