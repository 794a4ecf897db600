"""Where results go and how they are written: checked first, inputs never overwritten."""

from __future__ import annotations

import dataclasses
import io
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import Reading, body_of
from motionloom.cli.output import note, printable, warn

CharacterFile = Annotated[
    str | None,
    typer.Option(
        "--character",
        metavar="FILE",
        help="Put the result on the character of a GLB or FBX file, with its skin.",
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", "--overwrite", help="Replace outputs that exist (never inputs)."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be written, and stop.")]
Raw = Annotated[bool, typer.Option("--raw", help="Do not hold planted feet.")]
AllowFlawed = Annotated[
    bool,
    typer.Option(
        "--allow-flawed", "--anyway", help="Also write a result that fails its quality check."
    ),
]


@dataclass(frozen=True, slots=True, eq=False)
class Wearer:
    """The character that results are put on."""

    file: str
    character: ml.Character
    reading: Reading

    @property
    def path(self) -> Path:
        """The file without the name of a clip in it."""
        whole = Path(self.file)
        return whole if whole.exists() else Path(self.file.rpartition("#")[0])

    def put_on(self, motion: ml.Motion, output: str, to: str | None) -> ml.Motion:
        """The motion on the joints of the character."""
        if output != "-" and Path(output).exists() and Path(output).samefile(self.path):
            raise ml.FormatError(
                "The output is the character, and inputs are never overwritten.",
                path=output,
                fix="Choose another name.",
            )
        body = None if self.reading.body is None else body_of(motion, self.reading)
        carried = ml.retarget(motion, self.character, body=body)
        if carried is not motion:
            for finding in carried.source.findings:
                if finding.level == "warning":
                    warn(f"{output}, on {self.file}: {finding.where}: {finding.problem}")
        format_ = to or Path(output).suffix.removeprefix(".")
        if format_.lower() not in ("glb", "fbx"):
            note(f"{output}: the bones of {self.file}; only GLB and FBX hold its skin.")
        return carried


def wearer_of(file: str | None, reading: Reading | None = None) -> Wearer | None:
    """The character of the option ``--character``; None where it is not given."""
    if file is None:
        return None
    character = ml.load_character(file)
    for finding in character.findings:
        note(f"{file}, {finding.where}: {finding.problem}")
    return Wearer(file, character, Reading() if reading is None else reading)


class EngineName(StrEnum):
    """Engines that files are written for."""

    unreal = "unreal"
    unity = "unity"
    godot = "godot"


class Root(StrEnum):
    """Where travel and turn go."""

    hips = "hips"
    bone = "bone"
    in_place = "in-place"


Engine = Annotated[
    EngineName | None,
    typer.Option(
        "--engine", help="FBX or GLB with bone names, root bone, rest pose, unit and axes of it."
    ),
]
RootAt = Annotated[
    Root | None,
    typer.Option(
        "--root", help="Travel on the hips, on a root bone (usual with --engine), or removed."
    ),
]


@dataclass(frozen=True, slots=True)
class Layout:
    """How the skeleton of results is laid out."""

    engine: EngineName | None = None
    root: Root | None = None
    body: Path | None = None
    """File with the roles of joints."""

    @property
    def format(self) -> str | None:
        """Format for results without a suffix, None where nothing decides it."""
        return None if self.engine is None else ml.EngineExport(self.engine.value).formats[0]

    def check(self, output: str) -> None:
        """Refuse a file that the engine does not import, before anything is read."""
        if self.engine is None or output == "-":
            return
        export = ml.EngineExport(self.engine.value)
        suffixes = [f".{each}" for each in export.formats]
        if Path(output).suffix.lower() not in suffixes:
            raise ml.FormatError(
                f"A file for {export.title} must end in {' or '.join(suffixes)}.",
                path=output,
                fix=f"Name one that ends in {suffixes[0]}, or leave out --engine.",
            )

    def export(self, motion: ml.Motion) -> ml.EngineExport | None:
        """What :func:`motionloom.save` is given as its engine."""
        if self.engine is None:
            return None
        root = Root.bone if self.root is None else self.root
        body = None if self.body is None else ml.BodyMap.load(self.body, motion.skeleton)
        return ml.EngineExport(self.engine.value, root=root.value, body=body)

    def with_root(self, motion: ml.Motion) -> ml.Motion:
        """The motion with its travel where --root wants it; an engine's export moves it itself.

        Of a clip that has a root bone, ``bone`` uses it, and ``hips`` takes it out.
        """
        if self.engine is not None or self.root is None:
            return motion
        skeleton = motion.skeleton
        if self.body is not None:
            body = ml.BodyMap.load(self.body, skeleton)
        else:
            body = ml.BodyMap.guess(skeleton, motion=motion)
        if self.root is Root.in_place:
            return ml.in_place(motion, body=body)
        above = len(skeleton.chain(body.pelvis)) - 1 if body.pelvis else 0
        if self.root is Root.bone:
            move = ml.travel_on_root if above else ml.with_root_bone
            return move(motion, body=body)
        for _ in range(above):
            motion = ml.without_root_bone(motion)
        return motion

    def without_root(self) -> Layout:
        """The layout of a motion that :meth:`with_root` has had."""
        return self if self.engine is not None else NO_LAYOUT


NO_LAYOUT = Layout()


@dataclass(frozen=True, slots=True)
class Writing:
    """Options on the outputs of a command."""

    output: str
    to: str | None
    force: bool
    dry_run: bool
    as_json: bool
    allow_flawed: bool = False
    wearer: Wearer | None = None
    """The character that results are put on."""
    layout: Layout = NO_LAYOUT


def check_target(
    output: str,
    inputs: list[str],
    *,
    force: bool,
    to: str | None = None,
    pipe: bool = True,
) -> None:
    """Refuse an output that is an input, exists and may not be replaced, or is of no such format.

    Parameters
    ----------
    output
        The file to write; ``-`` is standard output.
    inputs
        Files and folders that the command reads. Of folders, clips are not replaced; no file is
        ever written into a collection, input or not.
    force
        Whether another file may be replaced.
    to
        The value of --to, if given; a file's suffix must agree with it.
    pipe
        Whether the command can write to standard output.
    """
    if output == "-":
        if not pipe:
            raise ml.FormatError(
                "This command writes a file, and cannot write to standard output.",
                path=output,
                fix="Name a file.",
            )
        return
    target = Path(output)
    if to is not None and target.suffix.lower() != suffix_of(to):
        raise ml.FormatError(
            f"The output must end in {suffix_of(to)} with --to {to}.",
            path=output,
            fix="Leave out --to: the suffix picks the format.",
        )
    for path in inputs:
        if path != "-" and target.exists() and (_is_of(path, target) or _is_clip_in(path, target)):
            raise ml.FormatError(
                "The output is the input, and inputs are never overwritten.",
                path=output,
                fix="Choose another name.",
            )
    refuse_collection(target)
    if target.is_dir():
        raise ml.FormatError(
            "The output must be a file, and is a folder.", path=output, fix="Add a file name."
        )
    if target.exists() and not force:
        raise ml.FormatError(
            "The output exists already.", path=output, fix="Choose another name, or use --force."
        )


def refuse_collection(target: Path) -> None:
    """Refuse a file or folder to write that lies in a collection."""
    place = Path(os.path.realpath(target))
    collection = next((each for each in (place, *place.parents) if _is_collection(each)), None)
    if collection is not None:
        raise ml.FormatError(
            f"The output lies in the collection {collection.name}, whose files must stay as they "
            "are.",
            path=str(target),
            fix="Choose another folder.",
        )


def _is_of(path: str, file: Path) -> bool:
    """Whether a path is that of a file, or names a clip of it or a part of one."""
    parts = [at for at, character in enumerate(path) if character in "#:"]
    for end in (len(path), *parts):
        with suppress(OSError):
            if file.samefile(path[:end]):
                return True
    return False


def _is_clip_in(folder: str, file: Path) -> bool:
    """Whether a file is one of the clips in a folder, or a skeleton of clips."""
    place = Path(folder)
    if not place.is_dir() or place.resolve() not in file.resolve().parents:
        return False
    clips = map(str, ml.find_clips(place))
    return file.suffix.lower() == ".asf" or any(_is_of(clip, file) for clip in clips)


def _is_collection(folder: Path) -> bool:
    """Whether a folder is a collection of clips, as ``table build`` makes."""
    try:
        with (folder / "catalogue.json").open("rb") as file:
            return b'"motionloom collection"' in file.read(200)
    except OSError:
        return False


def refuse_unwritable(output: str) -> None:
    """Refuse a suffix that no format of clips writes, before anything is read or made."""
    suffixes = [suffix for each in ml.supported_formats() for suffix in each.written]
    if output != "-" and Path(output).suffix.lower() not in suffixes:
        raise ml.FormatError(
            f"The suffix {Path(output).suffix!r} picks no format that can be written.",
            path=output,
            fix=f"Writable are: {', '.join(dict.fromkeys(suffixes))}.",
        )


def suffix_of(to: str) -> str:
    """The suffix of a format named by --to: ``bvh``, or ``amass``, whose files are ``.npz``."""
    for each in ml.supported_formats():
        if each.name == to.lower() and each.can_write and not each.written:
            return each.suffixes[0]
    return "." + to.lower().removeprefix(".")


def refuse_no_format(folder: str, example: str = "bvh") -> ml.FormatError:
    """The error where a folder has no format for its results, with an example of one."""
    return ml.FormatError(
        "The results of a folder need a format.",
        path=folder,
        fix=f"Add --to {example} (or another).",
    )


class Result(Protocol):
    """What every operation returns."""

    @property
    def motion(self) -> ml.Motion:
        """The result."""

    @property
    def span(self) -> tuple[int, int]:
        """First and last new frame."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know of it."""

    @property
    def verification(self) -> ml.Verification:
        """Its quality check."""

    @property
    def cleanup(self) -> ml.CleanupReport | None:
        """What holding its feet changed."""


class Joined(Result, Protocol):
    """What is made of several clips."""

    @property
    def provenance(self) -> ml.Provenance:
        """Where every frame comes from."""


def result_json(result: Result) -> dict[str, Any]:
    """What every result has, under the same keys in every command, as values for JSON."""
    cleanup = None if result.cleanup is None else result.cleanup.json()
    return {
        "frames": result.motion.n_frames,
        "fps": result.motion.fps,
        "span": list(result.span),
        "notes": list(result.notes),
        "verification": result.verification.json(),
        "cleanup": cleanup,
    }


def joined_json(joined: Joined) -> dict[str, Any]:
    """What every result made of clips has, as values for JSON."""
    return {**result_json(joined), "provenance": joined.provenance.json()}


def refuse_flawed(
    verification: ml.Verification, output: str, *, allowed: bool, advice: str = ""
) -> None:
    """Refuse to write a result that fails its quality check, unless the user allows it.

    ``advice`` says what else to try, and ends in a comma.
    """
    if verification.passed or allowed:
        return
    how = f"{advice} or write it" if advice else "Write it"
    raise ml.FlawedResultError(
        f"{output} was not written: the result fails its quality check "
        f"({verification.describe()}). {how} with --allow-flawed."
    )


def write_clip(
    motion: ml.Motion,
    output: str,
    to: str | None,
    *,
    unit: str | None = None,
    up: str | None = None,
    wearer: Wearer | None = None,
    layout: Layout = NO_LAYOUT,
    provenance: ml.Provenance | None = None,
) -> None:
    """Write a clip whole or not at all; ``-`` is standard output, which needs a format.

    ``wearer`` is the character to put it on, ``layout`` how its root and bones are laid out.
    ``provenance`` goes into the formats that hold it.
    """
    to = _format(output, to, layout)
    options: dict[str, Any] = {"unit": unit, "up": up, "provenance": provenance}
    if wearer is not None:
        motion = wearer.put_on(motion, output, to)
        options["character"] = wearer.character
        layout = dataclasses.replace(layout, body=None)  # its roles are those of the clip's joints
    motion = layout.with_root(motion)
    options["engine"] = layout.export(motion)
    if output != "-":
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        ml.save(motion, output, format=to, **options)
        return
    if to is None:
        raise ml.FormatError(
            "Standard output has no suffix to pick a format by.", fix="Add --to bvh (or another)."
        )
    buffer = io.BytesIO()  # whole or not at all, also into a pipe
    ml.save(motion, buffer, format=to, **options)
    sys.stdout.buffer.write(buffer.getvalue())
    sys.stdout.buffer.flush()


def _format(output: str, to: str | None, layout: Layout) -> str | None:
    """Format of a result: the layout's where neither --to nor a suffix says one."""
    return layout.format if to is None and output == "-" else to


def wrote_line(motion: ml.Motion, target: str) -> str:
    """What was written, in one line."""
    return printable(
        f"wrote  {target}  {motion.n_frames} frames at {motion.fps:g} fps, "
        f"{motion.duration_s:.2f} s"
    )


def print_check(verification: ml.Verification, *, most: int = 8) -> None:
    """Print the verdict of the quality check, then a line per failed check."""
    if verification.passed:
        typer.echo(f"check  {typer.style('passed', fg=typer.colors.GREEN)}")
        return
    typer.echo(f"check  {typer.style('FAILED', fg=typer.colors.RED)}")
    failed = [str(each) for each in (*verification.unsound, *verification.failed)]
    for text in failed[:most]:
        typer.echo(f"       {printable(text)}")
    if len(failed) > most:
        typer.echo(f"       and {len(failed) - most} more")
