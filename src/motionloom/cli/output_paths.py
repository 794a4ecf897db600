"""Where results go: outputs planned before anything is written, inputs never overwritten."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from motionloom.errors import FormatError

__all__ = ["DryRun", "Force", "check_target", "plan_folder"]

Force = Annotated[bool, typer.Option("--force", help="Replace outputs that exist (never inputs).")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be written, and stop.")]


def check_target(output: str, inputs: list[str], *, force: bool, to: str | None = None) -> None:
    """Refuse an output that is an input, exists and may not be replaced, or is of no such format.

    ``to`` is the format that the user named, if any; a file's suffix must agree with it.
    """
    if output == "-":
        return
    target = Path(output)
    if to is not None and target.suffix.lower() != _suffix(to):
        raise FormatError(
            f"The output must end in {_suffix(to)}, as --to {to} says.",
            path=output,
            fix="Leave out --to: the name decides.",
        )
    for path in inputs:
        origin = Path(path) if Path(path).exists() else Path(path.rpartition("#")[0] or path)
        if path != "-" and target.exists() and origin.exists() and target.samefile(origin):
            raise FormatError(
                "The output is the input, and inputs are never overwritten.",
                path=output,
                fix="Choose another name.",
            )
    if target.is_dir():
        raise FormatError(
            "The output is a folder, and a file is wanted.", path=output, fix="Add a file name."
        )
    if target.exists() and not force:
        raise FormatError(
            "The output exists already.", path=output, fix="Choose another name, or say --force."
        )


def plan_folder(
    folder: str, clips: list[str], target: str, to: str | None
) -> list[tuple[str, str]]:
    """Input and output of every clip of a folder: the same tree under another one.

    Where two clips differ in nothing but the suffix, their outputs keep it.
    """
    if to is None:
        raise FormatError(
            "A folder needs to be told the format of its results.",
            path=folder,
            fix="Say --to bvh (or another).",
        )
    if target == "-" or Path(target).is_file():
        raise FormatError("A folder is converted into a folder.", path=target, fix="Name a folder.")
    stems = [str(Path(clip).relative_to(folder).with_suffix("")) for clip in clips]
    often = Counter(stems)
    jobs = []
    for clip, stem in zip(clips, stems, strict=True):
        name = stem if often[stem] == 1 else f"{stem}_{Path(clip).suffix.removeprefix('.')}"
        jobs.append((clip, str(Path(target) / (name + _suffix(to)))))
    return jobs


def _suffix(to: str) -> str:
    return "." + to.lower().removeprefix(".")
