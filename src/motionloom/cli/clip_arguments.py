"""Clips on the command line: which files are meant, and how they are read."""

from __future__ import annotations

import fnmatch
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from motionloom.cli.output import warn
from motionloom.errors import ArrayError, FormatError

if TYPE_CHECKING:
    from motionloom.body.body_map import BodyMap
    from motionloom.motion.motion import Motion

__all__ = [
    "Body",
    "Fps",
    "Reading",
    "SourceFps",
    "Unit",
    "Up",
    "body_of",
    "find_clips",
    "load_clip",
]

Fps = Annotated[
    float | None,
    typer.Option("--fps", metavar="RATE", help="Frames per second the clips were captured at."),
]
SourceFps = Annotated[
    list[str] | None,
    typer.Option(
        "--source-fps",
        metavar="'PATTERN=RATE'",
        help="True rate of the files whose name fits a pattern, where headers lie; repeatable.",
    ),
]
Unit = Annotated[
    str | None,
    typer.Option("--unit", help="Unit of the files: m cm mm in cmu dm ft, or metres per unit."),
]
Up = Annotated[str | None, typer.Option("--up", help="Up axis of the files: x y z, -y ...")]
Body = Annotated[
    Path | None,
    typer.Option("--body", metavar="FILE.toml", help="Which joint is which, where guesses fail."),
]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the user says about the files, over what is detected in them."""

    fps: float | None = None
    source_fps: tuple[tuple[str, float], ...] = ()
    unit: str | None = None
    up: str | None = None
    body: Path | None = None

    @classmethod
    def of(
        cls,
        *,
        fps: float | None = None,
        source_fps: list[str] | None = None,
        unit: str | None = None,
        up: str | None = None,
        body: Path | None = None,
    ) -> Reading:
        """From the options as typed."""
        return cls(fps, tuple(_pattern_and_rate(text) for text in source_fps or ()), unit, up, body)

    def warn_unfit(self, paths: list[str]) -> None:
        """Say which patterns fit none of the files: a slip there would leave a wrong rate."""
        for pattern, rate in self.source_fps:
            if not any(_fits(path, pattern) for path in paths):
                warn(f"--source-fps '{pattern}={rate:g}' fits none of the files.")

    def fps_for(self, path: str) -> float | None:
        """The rate said for a file: by the last pattern that fits its name, else for all."""
        fitting = [rate for pattern, rate in self.source_fps if _fits(path, pattern)]
        return fitting[-1] if fitting else self.fps


def _fits(path: str, pattern: str) -> bool:
    """Whether a file's name, with or without suffix or folder, fits a pattern."""
    name = Path(path.rpartition("#")[0] or path)
    return any(fnmatch.fnmatchcase(said, pattern) for said in (name.name, name.stem, str(name)))


def _pattern_and_rate(text: str) -> tuple[str, float]:
    pattern, _, rate = text.rpartition("=")
    try:
        return pattern or "*", float(rate)
    except ValueError:
        raise ArrayError(
            f"--source-fps must be 'PATTERN=RATE', such as '143_*=60', got {text!r}."
        ) from None


def find_clips(paths: list[str]) -> list[str]:
    """The files meant: each path itself, or every clip in and below a folder, sorted."""
    from motionloom.intake.clip_suffixes import is_clip

    found: list[str] = []
    for path in paths:
        if path != "-" and Path(path).is_dir():
            inside, others = [], []
            for file in sorted(Path(path).rglob("*"), key=str):
                if is_clip(file):
                    inside.append(str(file))
                elif file.is_file() and not file.name.startswith("."):
                    others.append(file.name)
            if inside and others:
                warn(f"skipped in {path}, not clips: {_few(others)}")
            if not inside:
                raise FormatError(
                    "No clip that can be read is in this folder.",
                    path=path,
                    fix="Name the files, or another folder.",
                )
            found += inside
        else:
            found.append(path)
    return found


def _few(names: list[str], most: int = 5) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def load_clip(path: str, reading: Reading) -> Motion:
    """The clip in a file (``-`` is standard input), read as the user says.

    ``embedded:walk`` is an embedded clip, so that what the studio makes of them can be made here.
    """
    import motionloom as ml
    from motionloom.findings import MotionLoomWarning

    if path.startswith("embedded:"):
        return ml.synthetic.clip(path.removeprefix("embedded:")).motion
    fps = reading.fps_for(path)
    with warnings.catch_warnings():
        # What would be warned about is in the findings, which the command prints in its own way.
        warnings.simplefilter("ignore", MotionLoomWarning)
        motion = ml.load(path, fps=fps, unit=reading.unit, up=reading.up)
        if reading.body is not None:
            body = ml.BodyMap.load(reading.body, motion.skeleton)
            if path != "-":
                motion = ml.load(path, fps=fps, unit=reading.unit, up=reading.up, body=body)
    return motion


def body_of(motion: Motion, reading: Reading) -> BodyMap:
    """Which joint is which: as the user's file says, else guessed."""
    import motionloom as ml

    if reading.body is not None:
        return ml.BodyMap.load(reading.body, motion.skeleton)
    return ml.BodyMap.guess(motion.skeleton, motion=motion)
