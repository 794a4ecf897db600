"""The open table: its goals, its file of verdicts, and its facts for the page."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from motionloom.studio.messages.table_messages import TableClip, TableFacts
from motionloom.studio.results.equivalents import command_line
from motionloom.tables.table import TransitionTable

DIGEST_BYTES = 4


@dataclass(frozen=True, slots=True, eq=False)
class OpenTable:
    """The open table."""

    id: str
    table: TransitionTable
    clips: tuple[TableClip, ...]
    digest: str
    """Of everything that its transitions depend on."""
    extended: bool
    """Whether clips were added after it was built."""

    @property
    def goals(self) -> list[str]:
        """Where a live character can go: labels, or without labels all clips long enough.

        Labels that end before their clip has a whole window cannot be reached, and are left out.
        """
        labels, length = self.table.collection.labels, self.table.length
        if labels:
            return sorted({each.label for each in labels if each.last >= length - 1})
        return [clip.id for clip in self.clips if clip.frames >= length]

    def library_clip(self, clip: str) -> str:
        """The library's id of a clip; the table's id where the library does not list it."""
        return next((each.clip for each in self.clips if each.id == clip), None) or clip

    @property
    def verdicts(self) -> Path:
        """The file of verdicts on its transitions; its name has the table's digest.

        A table that is rebuilt with other settings makes other motions: verdicts on the old
        table do not apply to it.
        """
        return self.table.file.with_suffix(f".{self.digest}.verdicts.csv")

    def _build_command(self, info: dict[str, Any]) -> str:
        """The command line that builds the same table from its collection.

        It writes into the current folder. Empty where the table was extended or has masses of
        its own: no single command builds such a table.
        """
        if self.extended or "masses" in info["settings"]:
            return ""
        settings = info["settings"]
        paper = ["--method", "paper", "--edition", str(settings.get("edition", 2007))]
        families = settings.get("families", [])
        weights = "search" if len(families) > 1 else settings["family"]
        return command_line(
            "table", "build", str(self.table.collection.path.resolve()), "-o", self.table.file.name,
            "--length", f"{info['length_s']:g}", "--clusters", str(settings["clusters"]),
            "--ways", ",".join(str(n) for n in settings["ways"]), "--seed", str(settings["seed"]),
            "--lookup", str(settings["lookup"]), "--score", settings["score"],
            "--weights", weights, *(paper if families else []),
        )  # fmt: skip

    def facts(self) -> TableFacts:
        """For the page."""
        info = self.table.info()
        return TableFacts(
            id=self.id,
            clips=list(self.clips),
            fps=info["fps"],
            frames=info["frames"],
            length=info["length_frames"],
            length_s=info["length_s"],
            clusters=info["clusters"],
            representatives=info["representatives"],
            score=info["settings"]["score"],
            labels=info["labels"],
            goals=self.goals,
            bytes=info["bytes"],
            build=self._build_command(info),
            evaluate=command_line(
                "table", "evaluate", str(self.table.file), "--verdicts", str(self.verdicts)
            ),
        )


def table_digest(table: TransitionTable) -> str:
    """Digest of everything that the transitions of a table depend on."""
    settings = [table.collection.digest, table.length, table.settings]
    digest = hashlib.blake2b(msgspec.json.encode(settings), digest_size=DIGEST_BYTES)
    for name, array in sorted(table.arrays.items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
