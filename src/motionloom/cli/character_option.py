"""--character: the result of a command on a character, with its skin."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import motionloom as ml
from motionloom.cli.clip_arguments import Reading, body_of
from motionloom.cli.output import note, warn

CharacterFile = Annotated[
    str | None,
    typer.Option(
        "--character",
        metavar="FILE",
        help="Put the result on the character of a GLB or FBX file, with its skin.",
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
