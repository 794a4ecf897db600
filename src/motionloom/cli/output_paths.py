"""Where results go: outputs planned before anything is written, inputs never overwritten."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import motionloom as ml
from motionloom.cli.character_option import Wearer
from motionloom.cli.engine_option import NO_LAYOUT, Layout

Force = Annotated[
    bool,
    typer.Option("--force", "--overwrite", help="Replace outputs that exist (never inputs)."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be written, and stop.")]


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
