"""Where results go: outputs planned before anything is written, inputs never overwritten."""

from __future__ import annotations

from collections import Counter
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


def check_target(output: str, inputs: list[str], *, force: bool, to: str | None = None) -> None:
    """Refuse an output that is an input, exists and may not be replaced, or is of no such format.

    ``to`` is the value of --to, if given; a file's suffix must agree with it.
    """
    if output == "-":
        return
    target = Path(output)
    if to is not None and target.suffix.lower() != suffix_of(to):
        raise ml.FormatError(
            f"The output must end in {suffix_of(to)} with --to {to}.",
            path=output,
            fix="Leave out --to: the suffix picks the format.",
        )
    for path in inputs:
        origin = Path(path) if Path(path).exists() else Path(path.rpartition("#")[0] or path)
        if path != "-" and target.exists() and origin.exists() and target.samefile(origin):
            raise ml.FormatError(
                "The output is the input, and inputs are never overwritten.",
                path=output,
                fix="Choose another name.",
            )
    if target.is_dir():
        raise ml.FormatError(
            "The output must be a file, and is a folder.", path=output, fix="Add a file name."
        )
    if target.exists() and not force:
        raise ml.FormatError(
            "The output exists already.", path=output, fix="Choose another name, or use --force."
        )


def plan_files(
    source: str, clips: list[str] | None, target: str, to: str | None
) -> list[tuple[str, str]]:
    """Input and output of one clip, or of every clip of a folder: the same tree under another one.

    ``clips`` are those of a folder. Without ``to`` they keep their formats. Where two clips differ
    only in the suffix, their outputs keep it in the name.
    """
    if clips is None:
        return [(source, target)]
    if target == "-" or Path(target).is_file():
        raise ml.FormatError(
            "The results of a folder go into a folder.", path=target, fix="Name a folder."
        )
    names = [Path(clip).relative_to(source) for clip in clips]
    if to is None:
        return [(clip, str(Path(target) / name)) for clip, name in zip(clips, names, strict=True)]
    often = Counter(name.with_suffix("") for name in names)
    jobs = []
    for clip, name in zip(clips, names, strict=True):
        stem = name.with_suffix("")
        end = "" if often[stem] == 1 else f"_{name.suffix.removeprefix('.')}"
        jobs.append((clip, str(Path(target) / f"{stem}{end}{suffix_of(to)}")))
    return jobs


def suffix_of(to: str) -> str:
    """The suffix of a format named by --to: ``bvh``, or ``amass``, whose files are ``.npz``."""
    for each in ml.supported_formats():
        if each.name == to.lower() and each.can_write and not each.written:
            return each.suffixes[0]
    return "." + to.lower().removeprefix(".")


def refuse_no_format(folder: str) -> ml.FormatError:
    """The error where a folder has no format for its results."""
    return ml.FormatError(
        "The results of a folder need a format.", path=folder, fix="Add --to bvh (or another)."
    )
