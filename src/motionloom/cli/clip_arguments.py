"""Clips on the command line: which files are meant, how they are read, and which frames of them."""

from __future__ import annotations

import fnmatch
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import motionloom as ml
from motionloom.cli.option_words import in_options
from motionloom.cli.output import finding_warnings, printable, remark, warn

SourceFps = Annotated[
    list[str] | None,
    typer.Option(
        "--source-fps",
        metavar="[PATTERN=]RATE",
        help="True frame rate of the files, or of those whose name fits a pattern; repeatable.",
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(
        "--source-unit", help="True unit of the files: m cm mm in cmu dm ft, or metres per unit."
    ),
]
Up = Annotated[
    str | None, typer.Option("--source-up", help="True up axis of the files: x y z, -y ...")
]
Body = Annotated[
    Path | None,
    typer.Option("--body", metavar="FILE.toml", help="Which joint is which, if guesses fail."),
]
SAME_RATE = 1e-3
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
Frames = Annotated[
    str | None, typer.Option("--frames", metavar="A:B", help="Only these frames, B left out.")
]


def fps_of(value: str | float) -> float:
    """The rate in an option ``--fps``, which takes no patterns."""
    try:
        return float(value)
    except ValueError:
        pattern, equals, rate = str(value).rpartition("=")
        advice = f" Give the true rate of some files by --source-fps '{pattern}={rate}'."
        raise typer.BadParameter(
            f"must be a rate, such as 30, got {value!r}.{advice if equals else ''}"
        ) from None


Fps = Annotated[
    float | None,
    typer.Option(
        "--fps",
        metavar="RATE",
        parser=fps_of,
        help="Frame rate of the result; clips are resampled.",
    ),
]


@dataclass(frozen=True, slots=True)
class Reading:
    """Options on the files to read; they win over anything detected in them."""

    fps: float | None = None
    """Rate to resample every clip to."""
    source_fps: tuple[tuple[str, float], ...] = ()
    """Patterns of file names, and the true rate of files that fit."""
    unit: str | None = None
    up: str | None = None
    body: Path | None = None
    robot: Path | None = None
    """MuJoCo model of files that hold joint positions."""

    @classmethod
    def of(
        cls,
        *,
        fps: float | None = None,
        source_fps: list[str] | None = None,
        unit: str | None = None,
        up: str | None = None,
        body: Path | None = None,
        fps_is_new: bool = True,
    ) -> Reading:
        """From the options as typed; ``fps_is_new`` where --fps meant another thing in 0.1."""
        if fps is not None and fps_is_new and not source_fps:
            warn("--fps now resamples the clips; the true rate of files is given by --source-fps.")
        rates = named_values(map(_pattern_and_rate, source_fps or ()), "--source-fps")
        return cls(fps, tuple(rates.items()), unit, up, body)

    def warn_unfit(self, paths: list[str]) -> None:
        """Warn of patterns that fit none of the files: a typing error leaves a wrong rate."""
        for pattern, rate in self.source_fps:
            if not any(_fits(path, pattern) for path in paths):
                warn(f"--source-fps '{pattern}={rate:g}' fits none of the files.")

    def source_fps_of(self, path: str) -> float | None:
        """The rate given for a file by the last pattern that fits its name."""
        fitting = [rate for pattern, rate in self.source_fps if _fits(path, pattern)]
        return fitting[-1] if fitting else None


def _fits(path: str, pattern: str) -> bool:
    """Whether a file's name, with or without suffix or folder, fits a pattern."""
    path, _ = ml.split_range(path)
    name = Path(path.rpartition("#")[0] or path)
    return any(fnmatch.fnmatchcase(part, pattern) for part in (name.name, name.stem, str(name)))


def _pattern_and_rate(text: str) -> tuple[str, float]:
    pattern, _, text_of_rate = text.rpartition("=")
    try:
        rate = float(text_of_rate)
    except ValueError:
        raise ml.ArrayError(
            f"--source-fps must be 'PATTERN=RATE', such as '143_*=60', or a rate, got {text!r}."
        ) from None
    if not 0.0 < rate < float("inf"):
        raise ml.ArrayError(f"--source-fps must be a rate above 0, got {text!r}.")
    return pattern or "*", rate


def find_clips(paths: list[str]) -> list[str]:
    """The clips meant: each path itself, or every clip in and below a folder, sorted."""
    files: list[str] = []
    for path in paths:
        if path == "-" or not Path(path).is_dir():
            files.append(path)
            continue
        clips = ml.find_clips(path)
        if not clips:
            raise ml.FormatError(
                "The folder must hold a clip that can be read, and has none.",
                path=path,
                fix="Name the files, or another folder.",
            )
        warn_skipped(path, clips)
        files += (clip for file in clips for clip in ml.clips_in_file(file))
    return files


def warn_skipped(folder: str, clips: list[Path]) -> None:
    """Warn of files in a folder that are no clips, nor skeletons of clips."""
    used = {".asf"} if any(clip.suffix.lower() == ".amc" for clip in clips) else set()
    others = sorted(
        file.name
        for file in set(Path(folder).rglob("*")) - set(clips)
        if file.is_file() and not file.name.startswith(".") and file.suffix.lower() not in used
    )
    if others:
        warn(f"skipped in {folder}, not clips: {_few(others)}")


def _few(names: list[str], most: int = 5) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def load_clip(path: str, reading: Reading) -> ml.Motion:
    """The clip in a file (``-`` is standard input), read with the user's options.

    ``walk.bvh:2s-5.5s`` is a part of a clip. ``embedded:walk`` is an embedded clip, so that
    commands can repeat what the studio does.
    """
    path, part = ml.split_range(path)
    motion = _whole_clip(path, reading)
    return _at_rate(motion if part is None else part.cut(motion), reading)


def _whole_clip(path: str, reading: Reading) -> ml.Motion:
    """The clip in a file, or an embedded one, at its own rate."""
    if path.startswith("embedded:"):
        return ml.synthetic.clip(path.removeprefix("embedded:")).motion
    fps = reading.source_fps_of(path)
    with warnings.catch_warnings():
        # The findings hold the same warnings, and the command prints those.
        warnings.simplefilter("ignore", ml.MotionLoomWarning)
        model = reading.robot if Path(path).suffix.lower() in (".csv", ".npz") else None
        motion = ml.load(path, fps=fps, unit=reading.unit, up=reading.up, skeleton=model)
        if reading.body is not None:
            body = ml.BodyMap.load(reading.body, motion.skeleton)
            if path != "-":
                motion = ml.load(path, fps=fps, unit=reading.unit, up=reading.up, body=body)
    return motion


def clip_notes(path: str, motion: ml.Motion) -> list[str]:
    """A line on the other clips of a file that was named without one of its clips."""
    path, _ = ml.split_range(path)
    if path.endswith(f"#{motion.source.clip}"):
        return []
    return [
        f"{path}: {each.problem} {in_options(each.fix)}"
        for each in motion.source.findings
        if each.where == "clips"
    ]


def _at_rate(motion: ml.Motion, reading: Reading) -> ml.Motion:
    """The clip resampled to --fps."""
    if reading.fps is None or abs(motion.fps - reading.fps) <= SAME_RATE * motion.fps:
        return motion
    return ml.resample(motion, fps=reading.fps)


def body_of(motion: ml.Motion, reading: Reading) -> ml.BodyMap:
    """Which joint is which: from the user's file, else guessed."""
    if reading.body is not None:
        return ml.BodyMap.load(reading.body, motion.skeleton)
    return ml.BodyMap.guess(motion.skeleton, motion=motion)


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


def frames_of(text: str | None) -> slice:
    """Frames ``A:B`` as a slice; both ends may be left out."""
    if text is None:
        return slice(None)
    parts = re.fullmatch(r"(-?\d{1,18})?:(-?\d{1,18})?", text.strip())
    if not parts:
        raise ml.ArrayError(f"--frames must be A:B, such as 10:120, got {text!r}.")
    first, last = (None if part is None else int(part) for part in parts.groups())
    return slice(first, last)


def place_of(text: str) -> tuple[str, int]:
    """Clip id and frame in ``CLIP:FRAME``."""
    clip, _, frame = text.rpartition(":")
    if not clip or not re.fullmatch(r"-?\d{1,18}", frame):
        raise ml.ArrayError(f"A place must be CLIP:FRAME, such as 143_01:30, got {text!r}.")
    return clip, int(frame)


def place_text(clip: str, frame: int) -> str:
    """What :func:`place_of` reads."""
    return f"{clip}:{frame}"


def named_values(pairs: Iterable[tuple[str, float]], option: str) -> dict[str, float]:
    """The value of each name; an error where a name is given twice, also with the same value."""
    values: dict[str, float] = {}
    for name, value in pairs:
        if name in values:
            raise ml.ArrayError(
                f"{option} must give each name one value, got {name!r} twice: {values[name]:g} "
                f"and {value:g}. Leave one of them out."
            )
        values[name] = value
    return values


def named_number(text: str, option: str, kind: str, example: str) -> tuple[str, float]:
    """A name and a number from a text such as LeftHand=0."""
    name, _, number = text.rpartition("=")
    try:
        if name:
            return name, float(number)
    except ValueError:
        pass
    raise ml.ArrayError(f"{option} must be a {kind} and a number, such as {example}, got {text!r}.")
