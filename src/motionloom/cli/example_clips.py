"""Clips that one motion is made of: read, put on the ground, and listed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import Reading, body_of, clip_notes, load_clip
from motionloom.cli.output import finding_warnings, printable, remark, warn

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
"""Floors of clips that differ by more make feet hover or sink in between, so the command warns."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A clip that goes into a result."""

    path: str
    motion: ml.Motion
    notes: tuple[str, ...]
    """What was changed after reading it."""
    loaded: ml.Motion
    """As it was read."""

    def json(self, footplants: ml.Footplants, changed: Iterable[str] = ()) -> dict[str, Any]:
        """What was detected and changed, as values that JSON can hold."""
        return {
            "file": self.path,
            "frames": self.loaded.n_frames,
            "fps": self.loaded.fps,
            "joints": self.loaded.skeleton.n_joints,
            "plants": _count(footplants),
            "notes": [*self.notes, *changed],
        }


def load_examples(
    paths: list[str], reading: Reading, *, ground: bool = False
) -> tuple[list[Example], ml.BodyMap]:
    """The clips, and which joint of the first one's skeleton is which."""
    examples: list[Example] = []
    for path in paths:
        loaded = load_clip(path, reading)
        motion, notes = loaded, []
        if ground:
            motion = ml.ground(motion, body=body_of(motion, reading))
            if motion is not loaded:
                notes.append("put on y = 0")
        elif examples and (apart := _floors_apart(motion, examples[0].motion)) > FLOORS_APART_M:
            notes.append(f"stands {100 * apart:.1f} cm from A's floor: --ground puts both on y = 0")
        examples.append(Example(path, motion, tuple(notes), loaded))
    return examples, body_of(examples[0].loaded, reading)


def print_examples(examples: list[Example], footplants: Sequence[ml.Footplants]) -> None:
    """Print one line per clip: what was detected, and what was changed in it."""
    wide = max(len(Path(each.path).name) for each in examples)
    for n, (each, plants) in enumerate(zip(examples, footplants, strict=True)):
        loaded = each.loaded
        name = printable(Path(each.path).name)
        typer.echo(
            f"{letter(n)}  {name:{wide}}  {loaded.n_frames} frames at {loaded.fps:g} fps, "
            f"{loaded.duration_s:.2f} s, {loaded.skeleton.n_joints} joints, "
            f"{_count(plants)} plants"
        )
        for text in each.notes:
            typer.echo(f"   {'':{wide}}  {printable(text)}")


def warn_of_findings(examples: Iterable[Example]) -> None:
    """Print the faults of the files on standard error, once each, and which have other clips."""
    by_path = {each.path: each.loaded for each in examples}
    for path, loaded in by_path.items():
        for text in clip_notes(path, loaded):
            remark(text)
        for text in finding_warnings(path, loaded):
            warn(text)


def _floors_apart(a: ml.Motion, b: ml.Motion) -> float:
    """By how much the floors found in two clips differ, metres."""
    if a.source.floor is None or b.source.floor is None:
        return 0.0
    return abs(a.source.floor.height - b.source.floor.height)


def letter(n: int) -> str:
    """What the lines and notes call a clip."""
    return chr(ord("A") + n) if n < 26 else str(n + 1)


def _count(footplants: ml.Footplants) -> int:
    return sum(len(spans) for spans in footplants.intervals().values())
